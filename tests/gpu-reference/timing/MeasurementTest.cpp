// The document of a measurement is what its reader takes; times come from the
// kernels they name. The figures here are the test's own.
#include "gpu-reference/timing/Measurement.h"

#include "gpu-reference/MadeUpWeights.h"
#include "gpu-reference/latency/Measurements.h"
#include "machine/numerics.h"
#include "models/Zoo.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <filesystem>

namespace orrery::gpu {
namespace {

Measurement example() {
  Measurement m;
  m.device = {"NVIDIA H200", "9.0", "13.0", "13.0", int64_t(140) << 30};
  m.about = {{"driver", "580.95"}, {"date", "2026-11-29"}, {"bits", "equal"}};
  m.copy = {500, 490, 520, 2'000'000'000};
  m.gemv.push_back(
      {{4096, 4096, StoredFormat::Q8_0, 1}, {5, 4, 6, 16'000'000}});
  DecodeCase step{*models::loadShape("llama-2-7b"), StoredFormat::Q4_0,
                  models::KvFormat::F16, 128};
  m.decode.push_back({step, {2000, 1900, 2100, 3'900'000'000}});
  step.batch = 8;
  m.decode.push_back({step, {2500, 2400, 2600, 4'300'000'000}});
  return m;
}

TEST(Measurement, IsWhatItsReaderTakes) {
  auto steps = latency::parseMeasurements(toJson(example()), "test");
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 2u);
  EXPECT_EQ(steps->back().batch, 8);
  EXPECT_EQ(steps->back().medianUs, 2500);
  EXPECT_EQ(steps->back().context, 128);
  const latency::MeasuredStep &step = steps->front();
  EXPECT_EQ(step.memoryBytes, int64_t(140) << 30);
  auto gpu = latency::loadGpu("h200");
  ASSERT_TRUE(gpu);
  EXPECT_TRUE(step.isOn(*gpu));
  EXPECT_EQ(step.driver, "580.95");
  EXPECT_EQ(step.date, "2026-11-29");
  EXPECT_EQ(step.model, "llama-2-7b");
  EXPECT_EQ(step.weights, latency::WeightKind::Q4_0);
  EXPECT_EQ(step.kv, latency::KvKind::F16);
  EXPECT_EQ(step.context, 128);
  EXPECT_EQ(step.batch, 1);
  EXPECT_EQ(step.medianUs, 2000);
  EXPECT_EQ(step.p10Us, 1900);
  EXPECT_EQ(step.p90Us, 2100);
  EXPECT_EQ(step.bytes, 3'900'000'000);
  EXPECT_DOUBLE_EQ(step.copyBytesPerUs, 4e6);
}

TEST(Measurement, PartsOfTheCopysBandwidth) {
  const Measurement m = example();
  EXPECT_DOUBLE_EQ(m.copyBytesPerSecond(), 4e12);
  EXPECT_DOUBLE_EQ(m.partOfCopy(m.gemv[0].times), 0.8);
  auto json = nlohmann::json::parse(toJson(m));
  EXPECT_DOUBLE_EQ(json["gemv"][0]["part_of_copy_bandwidth"], 0.8);
  EXPECT_NE(toText(m).find("80.0 % of the copy"), std::string::npos)
      << toText(m);
  EXPECT_NE(toText(m).find("kv f16, context 128, batch 8 "), std::string::npos)
      << toText(m);
}

TEST(KernelTimes, OfTheEmulation) {
  const TimingOptions options{1, 4, 100'000};
  for (auto weights :
       {StoredFormat::Q8_0, StoredFormat::Q4_0, StoredFormat::F16}) {
    auto times = emulated::timeGemv({65, 72, weights, 3}, options);
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_GT(times->medianUs, 0);
    EXPECT_LE(times->p10Us, times->medianUs);
    EXPECT_LE(times->medianUs, times->p90Us);
    // Codes, scales and activations, with padding, but no second copy.
    const double element = weights == StoredFormat::Q8_0   ? 34.0 / 32
                           : weights == StoredFormat::Q4_0 ? 18.0 / 32
                                                           : 2.0;
    EXPECT_GT(times->bytes, int64_t(65 * 72 * element));
    EXPECT_LT(times->bytes, int64_t(65 * 128 * element) + 3 * 128 * 4);
  }
  // What was not warmed up is not counted either; nothing is no time.
  EXPECT_TRUE(emulated::timeCopy(1 << 16, {0, 1, 0}));
  auto none = emulated::timeCopy(1 << 16, {0, 0, 0});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "expected at least 1 repeat, found 0");
  auto copy = emulated::timeCopy(1 << 16, options);
  ASSERT_TRUE(copy) << copy.error().message;
  EXPECT_EQ(copy->bytes, 2 << 16);
  EXPECT_GT(copy->medianUs, 0);
}

TEST(MadeUpWeights, KeepTheSizeOfWhatTheyAreGiven) {
  for (auto format : {models::WeightFormat::Q8_0, models::WeightFormat::Q4_0}) {
    const models::QuantizedMatrix matrix =
        MadeUpMatrix(40, 1000, 7).quantized(format);
    double sum = 0;
    for (int64_t row = 0; row < matrix.rows; ++row) {
      for (float x : matrix.dequantizedRow(row)) {
        sum += double(x) * x;
      }
    }
    EXPECT_NEAR(sum / 40, 1, 0.1); // a row's length
  }
}

TEST(MadeUpWeights, StepsAreFinite) {
  auto config = models::loadShape("stories260k");
  ASSERT_TRUE(config) << config.error().message;
  for (auto weights :
       {StoredFormat::Q8_0, StoredFormat::Q4_0, StoredFormat::F16}) {
    ReferenceOptions options;
    options.weights = weights;
    options.context = 40;
    options.chunk = 1;
    options.batch = 9; // more than GEMV takes
    auto reference =
        Reference::open(MadeUpWeights(*config), options, Backend::Emulated);
    ASSERT_TRUE(reference) << reference.error().message;
    for (uint32_t position : {0u, 1u}) {
      auto step = (*reference)->run(std::vector<int32_t>{5}, position);
      EXPECT_TRUE(step) << step.error().message;
    }
    for (int64_t batch : {1, 3, 9}) {
      auto times = (*reference)->time(39, 1, 2, batch);
      ASSERT_TRUE(times) << times.error().message;
      EXPECT_GT(times->bytes, 200'000);
    }
  }
}

// On a machine without a GPU the script ends with 77 and leaves no file; with
// one it is not for this test.
TEST(MeasureScript, WritesNothingWithoutADevice) {
  if (findDevice()) {
    GTEST_SKIP() << "there is a device";
  }
  const auto file =
      std::filesystem::temp_directory_path() / "orrery-measure-test.json";
  std::filesystem::remove(file);
  const std::string script =
      std::string(ORRERY_SOURCE_DIR) + "/gpu-reference/measure";
  const int status =
      std::system((script + " " + file.string() + " 2>/dev/null").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 77);
  EXPECT_FALSE(std::filesystem::exists(file));
  // The program behind it as well.
  const std::string program =
      std::string(ORRERY_BIN_DIR) + "/orrery-gpu-measure";
  const int direct = std::system(
      (program + " " + file.string() + " driver=1 date=2026-01-01 2>/dev/null")
          .c_str());
  EXPECT_EQ(WEXITSTATUS(direct), 77);
  EXPECT_FALSE(std::filesystem::exists(file));
}

} // namespace
} // namespace orrery::gpu
