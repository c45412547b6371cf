// Files of gpu-reference/measure: read, matched to GPUs, refused.
#include "gpu-reference/latency/Measurements.h"

#include "tests/machine/TemporaryFolder.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

namespace orrery::gpu::latency {
namespace {

using Json = nlohmann::json;

/// Made up, for the reader alone.
Json file() {
  return Json::parse(R"({"device": "NVIDIA H200", "driver": "580", "date":
    "2026-01-01", "memory_bytes": 150754820096, "copy_bandwidth_bytes_per_s": 4e12, "kernels": [1, 2],
    "decode": [{"model": "llama-2-7b", "weights": "q8_0", "kv": "q8",
    "context": 4096, "batch": 1, "median_us": 3000.5, "p10_us": 2999,
    "p90_us": 3100, "bytes": 8000000000}]})");
}

TEST(Measurements, AreRead) {
  auto steps = parseMeasurements(file().dump(), "f.json");
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 1u);
  const MeasuredStep &step = steps->front();
  EXPECT_EQ(step.file, "f.json");
  EXPECT_EQ(step.device, "NVIDIA H200");
  EXPECT_DOUBLE_EQ(step.copyBytesPerUs, 4e6);
  EXPECT_EQ(step.weights, WeightKind::Q8_0);
  EXPECT_EQ(step.kv, KvKind::Q8);
  EXPECT_EQ(step.context, 4096);
  EXPECT_EQ(step.gpus, 1);
  EXPECT_DOUBLE_EQ(step.medianUs, 3000.5);
  EXPECT_EQ(step.bytes, 8000000000);
}

TEST(Measurements, DeviceNames) {
  MeasuredStep step;
  constexpr double kGiB = 1 << 30;
  struct Device {
    const char *name, *gpu;
    double bytes; ///< as nvidia-smi shows them
    bool same;
  };
  for (const Device &d :
       {Device{"NVIDIA H200", "h200", 140.4 * kGiB, true},
        {"NVIDIA A100-SXM4-80GB", "a100", 80 * kGiB, true},
        {"NVIDIA H100 80GB HBM3", "h100", 79.6 * kGiB, true},
        {"NVIDIA B200", "b200", 179.1 * kGiB, true},
        {"NVIDIA GH200 480GB", "h200", 140.4 * kGiB, false},
        {"NVIDIA H200", "h100", 140.4 * kGiB, false},
        {"NVIDIA GB200", "b200", 179.1 * kGiB, false},
        // Other memory, with another bandwidth.
        {"NVIDIA H100 PCIe", "h100", 79.6 * kGiB, false},
        {"NVIDIA A100 80GB PCIe", "a100", 80 * kGiB, false},
        {"NVIDIA A100-PCIE-40GB", "a100", 39.6 * kGiB, false},
        {"NVIDIA A100-SXM4-40GB", "a100", 39.6 * kGiB, false},
        {"NVIDIA H100 NVL", "h100", 93.6 * kGiB, false},
        {"NVIDIA H200 NVL", "h200", 140.4 * kGiB, false},
        {"NVIDIA A100-SXM4-80GB MIG 7g.80gb", "a100", 79.3 * kGiB, false},
        {"NVIDIA H100", "h100", 94 * kGiB, false}}) {
    step.device = d.name;
    step.memoryBytes = int64_t(d.bytes);
    auto gpu = loadGpu(d.gpu);
    ASSERT_TRUE(gpu) << d.gpu;
    EXPECT_EQ(step.isOn(*gpu), d.same) << d.name << " " << d.gpu;
  }
}

TEST(Measurements, BadFilesAreOneLine) {
  auto expectPart = [](const std::function<void(Json &)> &change,
                       const char *part) {
    Json json = file();
    change(json);
    auto steps = parseMeasurements(json.dump(), "f.json");
    ASSERT_FALSE(steps) << part;
    const std::string &line = steps.error().message;
    EXPECT_TRUE(line.starts_with("f.json: ")) << line;
    EXPECT_NE(line.find(part), std::string::npos) << line;
  };
  expectPart([](Json &j) { j.erase("driver"); },
             "driver: expected a value, found nothing");
  expectPart([](Json &j) { j.erase("memory_bytes"); },
             "memory_bytes: expected a value, found nothing");
  expectPart([](Json &j) { j["device"] = ""; }, "device: expected a text");
  expectPart([](Json &j) { j["decode"] = 1; },
             "decode: expected an array, found 1");
  expectPart([](Json &j) { j["decode"][0]["us"] = 1; }, "found \"us\"");
  expectPart([](Json &j) { j["decode"][0]["kv"] = "q5"; },
             "decode[0].kv: expected one of f16, q8, q4, fp8, found q5");
  expectPart([](Json &j) { j["decode"][0]["median_us"] = 0; },
             "decode[0].median_us: expected a number from");
  expectPart([](Json &j) { j["decode"][0]["p90_us"] = 100; },
             "decode[0].p90_us: expected a number from 3000.5");
  expectPart([](Json &j) { j["decode"][0]["context"] = 1.5; },
             "decode[0].context: expected a whole number, found 1.5");
  EXPECT_FALSE(parseMeasurements("", "f.json"));
  EXPECT_FALSE(parseMeasurements("[]", "f.json"));
}

// Whatever is kept can be read.
TEST(Measurements, KeptOnes) {
  auto kept = keptMeasurements();
  ASSERT_TRUE(kept) << kept.error().message;
}

using MeasuredFolder = orrery::testing::TemporaryFolder;

TEST_F(MeasuredFolder, IsReadByName) {
  const std::string name = folder.string();
  std::ofstream(name + "/b.json") << file().dump();
  std::ofstream(name + "/a.json") << file().dump();
  std::ofstream(name + "/notes.txt") << "no JSON";
  auto steps = readMeasurements(name);
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 2u);
  EXPECT_EQ(steps->front().file, name + "/a.json");
  std::ofstream(name + "/c.json") << "{";
  auto bad = readMeasurements(name);
  ASSERT_FALSE(bad);
  EXPECT_TRUE(bad.error().message.starts_with(name + "/c.json: "));
  std::filesystem::remove_all(name);
  EXPECT_FALSE(readMeasurements(name));
}

} // namespace
} // namespace orrery::gpu::latency
