// The GPU reference, emulated, on the shipped model and on trained ones: the
// interpreter's bits over a prompt in chunks and tokens behind it.
#include "compiler/import/ImportModel.h"
#include "models/Weights.h"
#include "runtime/ReferenceCheck.h"
#include "tests/gpu-reference/ReferenceModel.h"
#include "tests/models/SharedData.h"

#include <nlohmann/json.hpp>

namespace orrery::gpu {
namespace {

struct Case {
  const char *file;   ///< below shared/data, or below the source if shipped
  const char *golden; ///< whose ids are read; null: a prompt
  StoredFormat weights;
  models::KvFormat kv;
  bool shipped = false;
};

void PrintTo(const Case &c, std::ostream *out) {
  *out << c.file << " weights " << int(c.weights) << " kv " << int(c.kv);
}

std::vector<int32_t> idsOf(const Case &c, const models::WeightFile &file) {
  if (c.golden == nullptr) {
    return file.tokenizer()->encode("Once upon a time, there was a little");
  }
  const std::string path =
      models::sharedFile(std::string("golden/") + c.golden + ".json");
  return nlohmann::json::parse(models::readText(path))["ids"]
      .get<std::vector<int32_t>>();
}

class RealModels : public testing::TestWithParam<Case> {
protected:
  void compare(Backend backend);
};

void RealModels::compare(Backend backend) {
  const Case &c = GetParam();
  if (!c.shipped) {
    SKIP_WITHOUT_SHARED(c.file);
  }
  const std::string path = c.shipped
                               ? std::string(ORRERY_SOURCE_DIR) + "/" + c.file
                               : models::sharedFile(c.file);
  auto file = models::WeightFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  std::vector<int32_t> ids = idsOf(c, *file);
  constexpr size_t kPrompt = 40, kMost = 80;
  ids.resize(std::min(ids.size(), kMost));

  ReferenceOptions options;
  options.weights = c.weights;
  options.kv = c.kv;
  options.context = 96;
  for (const auto &[name, format] : compiler::storedFormats(file->gguf())) {
    options.tensorFormats[name] = format == llm::WeightFormat::Q4_0
                                      ? StoredFormat::Q4_0
                                      : StoredFormat::Q8_0;
  }
  const size_t prompt = std::min(kPrompt, ids.size() - 3);
  std::vector<size_t> sizes = stepSizes(prompt, {size_t(options.chunk)});
  sizes.resize(sizes.size() + ids.size() - prompt, 1);

  auto reference = openReference(*file, options, backend);
  ASSERT_TRUE(reference);
  EXPECT_TRUE(read(*reference, ids, sizes) ==
              Golden(*file, options).read(ids, sizes));
}

TEST_P(RealModels, SameBits) { compare(Backend::Emulated); }

TEST_P(RealModels, OnADevice) {
  if (auto device = findDevice(); !device) {
    GTEST_SKIP() << device.error().message;
  }
  compare(Backend::Device);
}

/// Greedy ids behind `prompt`, `count` of them, by `run(ids, position)`, which
/// returns the last token's choice.
template <class Run>
std::vector<int32_t> greedyText(std::vector<int32_t> prompt, size_t count,
                                Run run) {
  std::vector<int32_t> ids;
  uint32_t position = 0;
  while (ids.size() < count) {
    ids.push_back(run(prompt, position));
    position += uint32_t(prompt.size());
    prompt = {ids.back()};
  }
  return ids;
}

// The whole loop, with nothing of the interpreter's in it.
TEST(Decode, GreedyTextOfTheShippedModel) {
  auto file = models::WeightFile::open(std::string(ORRERY_SOURCE_DIR) +
                                       "/models/tiny/orrery-tiny-Q8_0.gguf");
  ASSERT_TRUE(file) << file.error().message;
  const auto prompt = file->tokenizer()->encode("One day");
  ReferenceOptions options;
  options.context = 96;
  auto reference = openReference(*file, options);
  ASSERT_TRUE(reference);
  Golden golden(*file, options);
  const auto ours =
      greedyText(prompt, 40, [&](const auto &ids, uint32_t position) {
        auto step = reference->run(ids, position);
        EXPECT_TRUE(step) << step.error().message;
        return step ? step->greedy.back() : 0;
      });
  const auto theirs =
      greedyText(prompt, 40, [&](const auto &ids, uint32_t position) {
        auto step = golden.run(ids, position);
        EXPECT_TRUE(step) << step.error().message;
        return step ? step->next.back() : 0;
      });
  EXPECT_EQ(ours, theirs);
}

constexpr const char *kTiny = "models/tiny/orrery-tiny-Q8_0.gguf";

INSTANTIATE_TEST_SUITE_P(
    Models, RealModels,
    testing::Values(
        Case{kTiny, nullptr, StoredFormat::Q8_0, models::KvFormat::Q8, true},
        Case{kTiny, nullptr, StoredFormat::Q8_0, models::KvFormat::F16, true},
        Case{kTiny, nullptr, StoredFormat::Q8_0, models::KvFormat::Q4, true},
        Case{"stories260K/stories260K-F32.gguf", "stories260K",
             StoredFormat::Q8_0, models::KvFormat::Q8},
        Case{"stories260K/stories260K-F16.gguf", "stories260K",
             StoredFormat::F16, models::KvFormat::F16},
        Case{"tinystories-656K/tinystories-656K-Q8_0.gguf", "tinystories-656K",
             StoredFormat::Q8_0, models::KvFormat::F16},
        Case{"tinystories-656K/tinystories-656K-Q4_0.gguf", "tinystories-656K",
             StoredFormat::Q8_0, models::KvFormat::Q8},
        Case{"tinystories-656K/tinystories-656K-BF16.gguf", "tinystories-656K",
             StoredFormat::F16, models::KvFormat::Q4}));

} // namespace
} // namespace orrery::gpu
