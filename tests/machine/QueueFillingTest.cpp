#include "machine/QueueFilling.h"

#include "machine/InstructionText.h"
#include "tests/machine/RandomProgram.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

// Of lpu-small: eight chunks a queue, two vectors a chunk, 8 instructions of
// the shortest kind; 6 ticks from a chunk's last vector into the buffer.
TEST(QueueFilling, AllOfShortTextsAndTheFirstOfLongOnes) {
  Machine machine = *loadMachine("lpu-small");
  Program p{};
  EXPECT_EQ(queueFilling(p, machine).chunks, 0);
  EXPECT_EQ(queueFilling(p, machine).ticks, 0);
  p.instructions.assign(1, {5, 0, SendOp()});
  EXPECT_EQ(queueFilling(p, machine).chunks, 1);
  EXPECT_EQ(queueFilling(p, machine).ticks, 1 + 6);
  p.instructions.assign(17, {5, 0, SendOp()}); // 3 chunks
  p.instructions.insert(p.instructions.begin(), {1, 0, ReceiveOp()});
  EXPECT_EQ(queueFilling(p, machine).chunks, 4);
  EXPECT_EQ(queueFilling(p, machine).ticks, 3 * 2 + 1 + 6);
  machine.queueBytes = 2 * machine.fetchBytes();
  EXPECT_EQ(queueFilling(p, machine).chunks, 3);
  machine.timing.fetch = 100;
  EXPECT_EQ(queueFilling(p, machine).ticks, 2 * 2 + 1 + 100);
}

// With buffers of any size; what they take more of is filled, never less.
TEST(QueueFilling, IsHeldChunksOfRandomPrograms) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Machine machine = *loadMachine("lpu-small");
    Program p = testing::RandomProgram(seed, machine).make(60);
    int64_t all = chunkCount(queueTexts(p, machine)), before = 0;
    for (int64_t held : {1, 2, 5, 1000}) {
      machine.queueBytes = held * machine.fetchBytes();
      int64_t chunks = queueFilling(p, machine).chunks;
      EXPECT_GE(chunks, before);
      EXPECT_LE(chunks, all);
      before = chunks;
    }
    EXPECT_EQ(before, all);
  }
}

} // namespace
} // namespace orrery
