// The model beside what it was not made of: published rates of whole models.
#include "gpu-reference/latency/HeldOut.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace orrery::gpu::latency {
namespace {

bool held(const HeldOutRow &row) { return row.heldOut(); }

TEST(HeldOut, MedianErrorIsAtMostTenPercent) {
  auto rows = heldOutRows(), usual = heldOutRows(true);
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_GE(std::ranges::count_if(*rows, held), 60);
  EXPECT_LE(medianError(*rows, held), 0.10);
  // Nor does it hang on how engines are laid out, or on leaving rows out.
  EXPECT_LE(medianError(*usual, held), 0.10);
  EXPECT_LE(medianError(*rows, [](const HeldOutRow &) { return true; }), 0.11);
  // gpt-fast and A100 by themselves.
  EXPECT_LE(medianError(*rows,
                        [](const HeldOutRow &row) {
                          return row.heldOut() &&
                                 row.published.system == "a100";
                        }),
            0.10);
}

TEST(HeldOut, RowsApartAreFewAndSayWhy) {
  auto rows = heldOutRows();
  ASSERT_TRUE(rows);
  EXPECT_LE(rows->size() - size_t(std::ranges::count_if(*rows, held)), 6u);
  for (const HeldOutRow &row : *rows) {
    if (row.published.system == "a100" && row.published.chips > 8) {
      EXPECT_NE(row.published.apart.find("InfiniBand"), std::string::npos);
    }
    EXPECT_TRUE(std::isfinite(row.error())) << row.published.id;
  }
  EXPECT_EQ(medianError(*rows, [](const HeldOutRow &) { return false; }), -1);
}

TEST(HeldOut, TextHasEveryRow) {
  auto rows = heldOutRows(), usual = heldOutRows(true);
  ASSERT_TRUE(rows && usual);
  std::string text = heldOutText(*rows, *usual);
  for (const HeldOutRow &row : *rows) {
    EXPECT_NE(text.find(row.published.id + " "), std::string::npos)
        << row.published.id;
    EXPECT_NE(text.find(row.published.apart), std::string::npos);
  }
}

// The calibration gives back the kernels it is from.
TEST(HeldOut, FitsGiveBackTheirSamples) {
  for (const std::string &name : gpuNames()) {
    auto gpu = loadGpu(name);
    ASSERT_TRUE(gpu);
    for (int64_t batch : {1, 64, 256}) {
      EXPECT_GE(sampleError(*gpu, batch), 0) << name << " " << batch;
      EXPECT_LE(sampleError(*gpu, batch), 0.125) << name << " " << batch;
    }
  }
}

/// README.md has what `orrery-gpu-model` prints, so that it cannot go stale.
TEST(HeldOut, ReadmeHasTheTable) {
  std::ifstream file(std::string(ORRERY_SOURCE_DIR) +
                     "/gpu-reference/latency/README.md");
  std::string readme{std::istreambuf_iterator<char>(file), {}};
  auto rows = heldOutRows(), usual = heldOutRows(true);
  auto samples = sampleText();
  ASSERT_TRUE(rows && usual && samples);
  std::istringstream text(*samples + heldOutText(*rows, *usual));
  for (std::string line; std::getline(text, line);) {
    EXPECT_NE(readme.find(line.empty() ? line : "    " + line + "\n"),
              std::string::npos)
        << line;
  }
}

} // namespace
} // namespace orrery::gpu::latency
