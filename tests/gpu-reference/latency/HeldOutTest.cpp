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
  auto rows = heldOutRows(), usual = heldOutRows({.layouts = false});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_TRUE(usual) << usual.error().message;
  EXPECT_GE(std::ranges::count_if(*rows, held), 60);
  EXPECT_LE(medianError(*rows, held), 0.10);
  // With all engines laid out alike too, and no worse than a point with the
  // rows that are reported apart.
  EXPECT_LE(medianError(*usual, held), 0.10);
  EXPECT_LE(medianError(*rows, [](const HeldOutRow &) { return true; }), 0.11);
  // A100 by itself.
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

// Each term that came after a look at the errors can be left out alone, and
// does what it says.
TEST(HeldOut, TermsThatCameLater) {
  auto rows = heldOutRows(), layouts = heldOutRows({.layouts = false}),
       first = heldOutRows({.firstToken = false}),
       bytes = heldOutRows({.vectorBytes = false});
  ASSERT_TRUE(rows && layouts && first && bytes);
  size_t otherLayouts = 0;
  for (size_t i = 0; i < rows->size(); ++i) {
    const HeldOutRow &row = (*rows)[i];
    otherLayouts += (*layouts)[i].modelUs != row.modelUs;
    EXPECT_LT((*bytes)[i].modelUs, row.modelUs) << row.published.id;
    EXPECT_EQ((*first)[i].modelUs, row.modelUs) << row.published.id;
    const bool run = row.published.engine == "LMDeploy";
    EXPECT_EQ((*first)[i].published.usPerStep != row.published.usPerStep, run)
        << row.published.id;
  }
  EXPECT_GT(otherLayouts, 0u);
}

TEST(HeldOut, TextHasEveryRow) {
  auto rows = heldOutRows();
  auto text = heldOutText();
  ASSERT_TRUE(rows && text);
  for (const HeldOutRow &row : *rows) {
    EXPECT_NE(text->find(row.published.id + " "), std::string::npos)
        << row.published.id;
    EXPECT_NE(text->find(row.published.apart), std::string::npos);
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
  auto samples = sampleText(), models = heldOutText();
  ASSERT_TRUE(samples && models);
  std::istringstream text(*samples + *models);
  for (std::string line; std::getline(text, line);) {
    EXPECT_NE(readme.find(line.empty() ? line : "    " + line + "\n"),
              std::string::npos)
        << line;
  }
}

} // namespace
} // namespace orrery::gpu::latency
