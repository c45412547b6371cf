#include "runtime/RowFile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace orrery::runtime {
namespace {

// In any order, between rows that are still added.
TEST(RowFile, GivesBackWhatWasAdded) {
  std::mt19937 random(3);
  std::vector<std::vector<float>> rows;
  auto file = RowFile::create(7);
  ASSERT_TRUE(file) << file.error().message;
  for (int step = 0; step < 200; ++step) {
    if (rows.empty() || random() % 3 == 0) {
      std::vector<float> added;
      for (uint32_t count = 1 + random() % 4; count > 0; --count) {
        std::vector<float> row(7);
        std::ranges::generate(row, [&] { return float(random()); });
        added.insert(added.end(), row.begin(), row.end());
        rows.push_back(std::move(row));
      }
      const Status ok = file->append(added);
      ASSERT_TRUE(ok) << ok.error().message;
    }
    ASSERT_EQ(file->rows(), rows.size());
    const size_t at = random() % rows.size();
    auto row = file->read(at);
    ASSERT_TRUE(row) << row.error().message;
    ASSERT_TRUE(std::ranges::equal(*row, rows[at])) << at;
  }
}

} // namespace
} // namespace orrery::runtime
