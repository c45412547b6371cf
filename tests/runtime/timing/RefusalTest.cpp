#include "runtime/timing/Refusal.h"

#include <gtest/gtest.h>

namespace orrery::runtime {
namespace {

// What passes say, in their own words.
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
