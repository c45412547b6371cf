#include "gpu-reference/PageTables.h"

#include "tests/gpu-reference/kernels/PagedCache.h"

#include <optional>

namespace orrery::gpu::ORRERY_GPU {
namespace {

using models::KvPages;

class PageTablesOf : public testing::Test {
protected:
  PageTablesOf()
      : pages(*KvPages::create({1, 1, 8, models::KvFormat::Q8, 32}, 12)) {
    for (KvPages::Sequence &s : open) {
      s = pages.open();
    }
  }
  // A test that is skipped for want of a device does not come here.
  void SetUp() override { tables = must(PageTables::allocate(3, 4)); }
  /// What a kernel reads.
  std::vector<int32_t> onDevice() const {
    std::vector<int32_t> entries(12);
    check(cudaStatus(cudaMemcpy(entries.data(), tables->data(), tables->bytes(),
                                cudaMemcpyDeviceToHost),
                     "cudaMemcpy"));
    return entries;
  }
  /// That row `row` on the device begins with the sequence's table.
  void expectRow(size_t row, KvPages::Sequence sequence) const {
    const auto table = pages.table(sequence);
    const auto entries = onDevice();
    for (size_t i = 0; i < std::min<size_t>(table.size(), 4); ++i) {
      EXPECT_EQ(entries[row * 4 + i], table[i]) << "row " << row << ", " << i;
    }
  }

  KvPages pages;
  KvPages::Sequence open[3];
  std::optional<PageTables> tables;
};

// Of whatever sequences a step has, in its order, as they grow and change.
TEST_F(PageTablesOf, ShowsTheStepsSequences) {
  std::mt19937 random(1);
  for (int step = 0; step < 60; ++step) {
    const KvPages::Sequence changed = open[random() % 3];
    if (random() % 3 == 0) {
      pages.truncate(changed, int64_t(random() % 128));
    } else {
      check(pages.reserve(changed, int64_t(random() % 128)));
    }
    std::shuffle(std::begin(open), std::end(open), random);
    const size_t rows = 1 + random() % 3;
    check(tables->show(pages, std::span(open).first(rows)));
    for (size_t row = 0; row < rows; ++row) {
      expectRow(row, open[row]);
    }
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
}

// A sequence may have been given more pages than a row has entries.
TEST_F(PageTablesOf, KeepsToItsRows) {
  check(pages.reserve(open[1], 32 * 2));
  check(pages.reserve(open[2], 32 * 7)); // behind the last row is nothing
  check(tables->show(pages, open));
  expectRow(1, open[1]);
  expectRow(2, open[2]);
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
