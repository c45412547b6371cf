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

// More than any device has is an error, not the end of host memory.
TEST_F(PageTablesOf, TooManyEntries) {
  auto made = PageTables::allocate(65535, int64_t(1) << 30);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("bytes for the KV page tables"),
            std::string::npos)
      << made.error().message;
}

#ifndef __CUDACC__ // a device has no call that fails so and goes on
// What a failed copy left there is not known: the next one brings all of it.
TEST_F(PageTablesOf, AFailedCopyIsMadeUpFor) {
  check(pages.reserve(open[0], 32 * 4));
  check(pages.reserve(open[1], 32 * 2));
  const auto rows = std::span(open).first(2);
  check(tables->show(pages, rows));
  pages.truncate(open[1], 0);
  check(pages.reserve(open[2], 32)); // takes what open[1] had
  check(pages.reserve(open[1], 32 * 2));
  cudaStream_t stream = nullptr;
  check(cudaStatus(cudaStreamCreate(&stream), "cudaStreamCreate"));
  check(cudaStatus(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
                   "capture"));
  EXPECT_FALSE(tables->show(pages, rows));
  (void)cudaGetLastError();
  check(cudaStatus(cudaStreamDestroy(stream), "cudaStreamDestroy"));
  // Another writes over all of it, so that only a whole copy is right.
  check(cudaStatus(
      cudaMemset(const_cast<int32_t *>(tables->data()), 0x55, tables->bytes()),
      "cudaMemset"));
  check(tables->show(pages, rows));
  expectRow(0, open[0]);
  expectRow(1, open[1]);
}
#endif

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
