#include "runtime/timing/Refusal.h"

#include "compiler/Compile.h"
#include "models/Zoo.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <unistd.h>

namespace orrery::runtime {
namespace {

/// A preset with something changed, as a file for the time of a test.
class ChangedMachine {
public:
  template <class Change> ChangedMachine(const char *preset, Change change) {
    Machine machine = *loadMachine(preset);
    change(machine);
    path = testing::TempDir() + "orrery-refusal-" + std::to_string(getpid()) +
           ".json";
    std::ofstream(path) << formatMachine(machine);
  }
  ~ChangedMachine() { std::remove(path.c_str()); }
  std::string path;
};

CompileRequest requestOn(const std::string &machine, SplitOptions split = {}) {
  CompileRequest request;
  request.machine = machine;
  request.split = split;
  request.import.context = request.import.bucket = 128;
  return request;
}

/// Compiled, so the words are those of the passes.
void expectRefused(const char *shape, const CompileRequest &request,
                   Limit limit) {
  auto context = makeContext();
  auto step = compileStep(*context, *models::loadShape(shape), request);
  ASSERT_FALSE(step) << limitName(limit);
  auto found = limitOf(step.error());
  ASSERT_TRUE(found) << step.error().message;
  EXPECT_STREQ(limitName(*found), limitName(limit)) << step.error().message;
}

TEST(Refusal, OfAChip) {
  expectRefused("smollm2-135m", requestOn("lpu-small"), Limit::Chip);
  // Of several chips the partition says it, in words of its own.
  ChangedMachine machine("lpu-small-node",
                         [](Machine &m) { m.sram.vectorsPerBank = 64; });
  expectRefused("stories260k", requestOn(machine.path, {2, 1}), Limit::Chip);
}

TEST(Refusal, OfTheBankForTiles) {
  // Weights that the weight slices cannot hold lie there too.
  expectRefused("tinyllama-1.1b", requestOn("lpu-v1-node", {1, 2}),
                Limit::TileBank);
}

TEST(Refusal, OfText) {
  ChangedMachine machine("lpu-small",
                         [](Machine &m) { m.sram.vectorsPerBank = 300; });
  CompileRequest request = requestOn(machine.path);
  request.textBases = {1 << 20};
  expectRefused("stories260k", request, Limit::Text);
}

TEST(Refusal, OfALinksBuffer) {
  ChangedMachine machine("lpu-small-node",
                         [](Machine &m) { m.link.bufferVectors = 8; });
  CompileRequest request = requestOn(machine.path, {1, 2});
  request.import.tokens = 16;
  expectRefused("stories260k", request, Limit::LinkBuffer);
}

TEST(Refusal, OfAQueuesBuffer) {
  ChangedMachine machine("lpu-small", [](Machine &m) {
    m.queueBytes = int32_t(2 * m.fetchBytes());
    m.timing.fetch = 1000;
  });
  expectRefused("stories260k", requestOn(machine.path), Limit::QueueBuffer);
}

TEST(Refusal, OfCables) {
  expectRefused("stories260k", requestOn("lpu-small-ring", {3, 1}),
                Limit::Cables);
}

TEST(Refusal, OfTheSplitThatWasAskedFor) {
  expectRefused("stories260k", requestOn("lpu-small-node", {9, 1}),
                Limit::Split);
  expectRefused("tinystories-656k", requestOn("lpu-small-node", {1, 8}),
                Limit::Split);
}

TEST(Refusal, OfAUnit) {
  expectRefused(
      "tinyllama-1.1b",
      requestOn(
          ChangedMachine("lpu-v1-node", [](Machine &m) { m.lanes = 32; }).path,
          {2, 1}),
      Limit::Unit);
  CompileRequest request = requestOn("lpu-small");
  request.import.kvFormat = llm::KvFormat::Q4;
  expectRefused("stories260k", request, Limit::Unit);
}

// FitsTest and the tests above see these come out of compilations, all but the
// data slices, which no small shape fills before their bank for tiles.
TEST(Refusal, IsToldByItsWords) {
  struct Case {
    const char *message;
    Limit limit;
  };
  for (const Case &c : {
           Case{"no room on lpu-small for kv.4.k.0 (212992 B: 416 of the 4096 "
                "vectors of a bank in each of 8 slices): weights need 604160 B",
                Limit::Place},
           Case{"m does not fit lpu-v1-node: tp=1, pp=6 takes 9 B a chip in "
                "stage 0 (...), a chip has 8 B, 1 B too many for the one bank "
                "of data slices for tiles (KV cache: 9 B of 8 B)",
                Limit::TileBank},
           Case{"m does not fit lpu-v1-node: tp=1, pp=6 takes 9 B a chip in "
                "stage 0 (...), a chip has 8 B, 1 B too many for the data "
                "slices (KV cache, tables, temporaries: 9 B of 8 B)",
                Limit::DataSlices},
           Case{"m does not fit lpu-v1-node: tp=1, pp=6 takes 9 B a chip in "
                "stage 0 (...), a chip has 8 B, 1 B too many",
                Limit::Chip},
           Case{"does not fit lpu-small: weights 2 B + KV cache 0 B at 64 "
                "positions = 2 B, the chip has 1 B, 1 B too many; would need 2",
                Limit::Chip},
           Case{"no room for the program's text: it takes 9 B", Limit::Text},
           Case{"layer 0 attention: 'llm.attention' op needs 1040 activation "
                "vectors, a plane holds 1024",
                Limit::PlaneBuffer},
           Case{"m on lpu-small-node, tp=2: attention over 16448 positions "
                "needs 1028, a plane has 1024",
                Limit::PlaneBuffer},
           Case{"what a stage passes on needs 9 vectors at once, the buffer of "
                "a link of lpu-small has 8",
                Limit::LinkBuffer},
           Case{"no schedule: icu would run dry at tick 7: its buffer of 64 B "
                "has no room for the next 16 B",
                Limit::QueueBuffer},
           Case{"m on n, tp=1: a head of 128 needs 128, a vector of the chip "
                "has 64",
                Limit::Unit},
           Case{"KV format q4: chips hold KV caches in f16 or q8", Limit::Unit},
           Case{"n: no 3 chips are linked each to each or in a ring",
                Limit::Cables},
           Case{"n: tp=2, pp=3: there is no chain of 3 groups of 2 chips "
                "linked each to each",
                Limit::Cables},
           Case{"tp=9: expected at most the 8 chips of n", Limit::Split},
       }) {
    auto limit = limitOf({c.message});
    ASSERT_TRUE(limit) << c.message;
    EXPECT_EQ(*limit, c.limit) << c.message;
    EXPECT_STRNE(limitName(*limit), "");
  }
}

TEST(Refusal, OnlyALackOfRoomIsTriedAgainWithFewerTokens) {
  EXPECT_TRUE(isLackOfRoom({"no room on lpu-small for x (64 B: ..."}));
  EXPECT_TRUE(isLackOfRoom({"'llm.linear' op needs 9 activation vectors, a "
                            "plane holds 8"}));
  EXPECT_TRUE(isLackOfRoom({"no room for the program's text: it takes 9 B"}));
  EXPECT_TRUE(
      isLackOfRoom({"vxm would run dry at tick 9: its buffer of 64 B"}));
  EXPECT_FALSE(isLackOfRoom({"tp=9: expected at most the 8 chips of n"}));
  EXPECT_FALSE(isLackOfRoom({"'llm.rope' op operand #0 must be rows"}));
}

TEST(Refusal, OtherErrorsAreNone) {
  for (const char *message :
       {"'llm.rope' op operand #0 must be rows", "schedule does not verify: x",
        "import failed", "encoding failed", "placement failed",
        "m: no layers: only a decoder as the importer writes it can be split",
        "chip.json: expected a JSON object",
        "gang 7 would wait for a link's send or receive that comes after it"}) {
    EXPECT_FALSE(limitOf({message})) << message;
  }
}

} // namespace
} // namespace orrery::runtime
