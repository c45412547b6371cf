// Which weights are to spill: as many as do not fit, one every so many, and of
// matrices of which one is a small part.
#include "compiler/allocate/SpreadSpill.h"

#include "gtest/gtest.h"

namespace orrery::allocate {
namespace {

class SpreadSpill : public testing::Test {
protected:
  /// `count` regions of a matrix on one side.
  void add(const char *name, int32_t count, uint32_t length, int32_t side = 0) {
    for (int32_t k = 0; k < count; ++k) {
      Request r{};
      r.name = name;
      r.width = uint32_t(layout.groupWidth);
      r.length = length;
      r.dies = kForever;
      r.side = side;
      r.weights = true;
      r.spillWidth = uint32_t(layout.kvWidth);
      r.spillLength = 2 * length;
      requests.push_back(r);
    }
  }
  bool run() { return spreadSpill(machine, layout, requests); }
  /// Marked ones of a matrix, by number.
  std::vector<size_t> marked(const std::string &name) const {
    std::vector<size_t> out;
    size_t number = 0;
    for (const Request &r : requests) {
      if (r.name == name) {
        if (r.spills) {
          out.push_back(number);
        }
        ++number;
      }
    }
    return out;
  }

  const Machine machine = *loadMachine("lpu-small");
  const ChipLayout layout{machine};
  /// Addresses of a side's weight slices.
  const uint32_t room = uint32_t(machine.sram.banks) *
                        uint32_t(machine.sram.vectorsPerBank) *
                        uint32_t(layout.groups);
  std::vector<Request> requests;
};

TEST_F(SpreadSpill, NothingWhileAllFits) {
  add("up", 8, room / 8);
  EXPECT_FALSE(run());
  EXPECT_TRUE(marked("up").empty());
}

TEST_F(SpreadSpill, AsManyAsDoNotFitOneEverySoMany) {
  add("up", 10, room / 8); // two too many
  EXPECT_TRUE(run());
  EXPECT_EQ(marked("up"), (std::vector<size_t>{2, 7}));
}

TEST_F(SpreadSpill, EachSideForItself) {
  add("up", 10, room / 8, 0);
  add("gate", 10, room / 16, 1);
  EXPECT_TRUE(run());
  EXPECT_EQ(marked("up").size(), 2u);
  EXPECT_TRUE(marked("gate").empty());
}

TEST_F(SpreadSpill, NotThoseThatAreAGreatPartOfTheirMatrix) {
  add("down", 2, room / 4);
  add("up", 8, room / 8); // four too many
  EXPECT_TRUE(run());
  EXPECT_TRUE(marked("down").empty());
  EXPECT_EQ(marked("up").size(), 4u);
}

// Then they spill in order, when nothing else is left.
TEST_F(SpreadSpill, NoneWhereOnlySuchAreThere) {
  add("down", 3, room / 2);
  EXPECT_FALSE(run());
  EXPECT_TRUE(marked("down").empty());
}

// What is marked goes to the data slices first, what is not to its group.
TEST_F(SpreadSpill, AllocationFollowsIt) {
  add("up", 10, room / 8);
  ASSERT_TRUE(run());
  for (Request &r : requests) {
    r.spillLength = room / 8;
  }
  Allocator allocator(machine, layout);
  ASSERT_EQ(allocator.place(requests), std::nullopt);
  for (size_t k = 0; k < requests.size(); ++k) {
    EXPECT_EQ(allocator.places[k].width,
              requests[k].spills ? requests[k].spillWidth : requests[k].width);
  }
}

} // namespace
} // namespace orrery::allocate
