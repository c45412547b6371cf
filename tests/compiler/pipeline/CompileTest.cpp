// What is tried when a split lacks room that was estimated to fit.
#include "compiler/Compile.h"

#include "models/Zoo.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace orrery {
namespace {

/// lpu-small-node with shallower banks, as a file for the time of a test.
class ShallowNode {
public:
  explicit ShallowNode(int32_t depth) {
    Machine machine = *loadMachine("lpu-small-node");
    machine.sram.vectorsPerBank = depth;
    path = testing::TempDir() + "orrery-shallow-" + std::to_string(getpid()) +
           ".json";
    std::ofstream(path) << formatMachine(machine);
  }
  ~ShallowNode() { std::remove(path.c_str()); }
  std::string path;
};

Expected<CompiledStep> compileOn(const ShallowNode &node,
                                 std::optional<bool> cut) {
  auto context = makeContext();
  CompileRequest request;
  request.machine = node.path;
  request.import.context = request.import.bucket = 64;
  request.split = {2, 4, {}, cut};
  auto step =
      compileStep(*context, *models::loadShape("tinystories-656k"), request);
  if (step) {
    step->step = {}; // it is of this context
  }
  return step;
}

// Whole feed-forward networks fit by estimate, and then not: they are cut, over
// as many stages as were asked for.
TEST(Compile, CutsWhatLacksRoomWhole) {
  int rescued = 0;
  for (int32_t depth = 40; depth <= 52; ++depth) {
    ShallowNode node(depth);
    auto whole = compileOn(node, false);
    auto free = compileOn(node, std::nullopt);
    if (whole) {
      ASSERT_TRUE(free) << free.error().message;
      EXPECT_EQ(free->split, whole->split);
      EXPECT_EQ(free->split.cut, false);
      continue;
    }
    bool placed = whole.error().message.starts_with("no room ");
    if (free && placed) {
      EXPECT_EQ(free->split, (SplitOptions{2, 4, {}, true}));
      auto again = compileOn(node, free->split.cut);
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->system, free->system) << "asked for, it is the same";
      ++rescued;
    } else if (!free && placed) {
      EXPECT_EQ(free.error().message, whole.error().message)
          << "the first refusal is told";
    }
  }
  EXPECT_GT(rescued, 0);
}

} // namespace
} // namespace orrery
