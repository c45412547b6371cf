// The fuzzer's seeds with each byte changed in turn: a fixed, quick stand-in
// for tests/fuzz/GgufFuzzer.cpp that runs with every test run.
#include "models/Weights.h"
#include "tests/models/SharedData.h"

#include <gtest/gtest.h>

using namespace orrery;
using namespace orrery::models;

namespace {

constexpr size_t kMaxSeedBytes = 4096;

std::vector<std::filesystem::path> seeds() {
  std::vector<std::filesystem::path> paths;
  auto folder = std::filesystem::path(ORRERY_SOURCE_DIR) / "tests/fuzz";
  for (const auto &entry :
       std::filesystem::directory_iterator(folder / "gguf-corpus")) {
    paths.push_back(entry.path());
  }
  return paths;
}

TEST(GgufMutation, SeedsAreAccepted) {
  for (const std::filesystem::path &path : seeds()) {
    Expected<GgufFile> file = GgufFile::open(path.string());
    EXPECT_TRUE(file) << file.error().message;
  }
  EXPECT_EQ(seeds().size(), 6u);
}

TEST(GgufMutation, ChangedBytesAreRefusedOrReadInside) {
  for (const std::filesystem::path &path : seeds()) {
    std::vector<std::byte> bytes = readBytes(path.string());
    if (bytes.size() > kMaxSeedBytes) {
      continue;
    }
    for (size_t position = 0; position < bytes.size(); ++position) {
      std::byte original = bytes[position];
      for (std::byte change :
           {std::byte{0x01}, std::byte{0x80}, std::byte{0xFF}}) {
        bytes[position] = original ^ change;
        Expected<WeightFile> file = WeightFile::parse(bytes);
        if (!file) {
          ASSERT_FALSE(file.error().message.empty());
          continue;
        }
        for (const TensorShape &shape : expectedTensors(file->config())) {
          ASSERT_TRUE(file->vector(shape.name)) << path << " " << position;
        }
      }
      bytes[position] = original;
    }
  }
}

} // namespace
