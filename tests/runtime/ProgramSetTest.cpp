// Programs of one set: one map of what lasts, and which refusals a shorter
// chunk may cure.
#include "runtime/ProgramSet.h"

#include "tests/runtime/TinySession.h"

#include <cmath>

namespace orrery::runtime {
namespace {

Program programOf(std::vector<SramRegion> regions, uint32_t tokens) {
  Program program;
  program.tokens = tokens;
  program.bucket = 64;
  program.regions = std::move(regions);
  return program;
}

SramRegion region(const char *name, RegionKind kind, uint32_t base) {
  return {name, kind, 4, 2, 0, base, 10};
}

TEST(ProgramSet, TemporariesAndTextAreAProgramsOwn) {
  auto w = region("w", RegionKind::Weight, 0);
  auto kv = region("kv", RegionKind::Kv, 20);
  auto t = region("t", RegionKind::Temporary, 40);
  auto text = region("text", RegionKind::Instructions, 60);
  EXPECT_TRUE(
      shareWhatLasts(programOf({w, t, kv}, 1), programOf({w, kv, text}, 8)));
}

TEST(ProgramSet, AMovedRegionNamesBothPrograms) {
  for (RegionKind kind :
       {RegionKind::Weight, RegionKind::Table, RegionKind::Kv}) {
    Status ok = shareWhatLasts(programOf({region("r", kind, 0)}, 1),
                               programOf({region("r", kind, 1)}, 8));
    ASSERT_FALSE(ok);
    EXPECT_EQ(ok.error().message,
              "the program for 8 tokens up to position 64 has r in slice 4 + "
              "2, bank 0, addresses 1 + 10, where the program for 1 tokens up "
              "to position 64 has r in slice 4 + 2, bank 0, addresses 0 + 10");
  }
}

TEST(ProgramSet, AMissingOrAnAddedRegionIsRefused) {
  Program one = programOf({region("r", RegionKind::Table, 0)}, 1);
  Program none = programOf({}, 8);
  EXPECT_NE(shareWhatLasts(one, none).error().message.find("lacks r in"),
            std::string::npos);
  EXPECT_NE(shareWhatLasts(none, one).error().message.find("has nothing"),
            std::string::npos);
}

SystemProgram systemOf(std::vector<Program> parts,
                       std::vector<ChipProgram> chips) {
  SystemProgram out;
  out.parts = std::move(parts);
  out.chips = std::move(chips);
  return out;
}

TEST(ProgramSet, EachPartIsHeldAgainstItsOwn) {
  Program a = programOf({region("a", RegionKind::Weight, 0)}, 1);
  Program b = programOf({region("b", RegionKind::Weight, 5)}, 1);
  EXPECT_TRUE(shareWhatLasts(systemOf({a, b}, {}), systemOf({a, b}, {})));
  EXPECT_TRUE(shareWhatLasts(systemOf({a, b}, {}), systemOf({b, a}, {}))
                  .error()
                  .message.starts_with("part 0: the program for 1 tokens"));
  Program text = programOf({region("text", RegionKind::Instructions, 5)}, 8);
  EXPECT_TRUE(standApart(systemOf({a, b}, {}), systemOf({text, a}, {}))
                  .error()
                  .message.starts_with("part 0: SRAM is too full"));
  EXPECT_NE(standApart(systemOf({a, b}, {}), systemOf({a}, {}))
                .error()
                .message.find("has 1 parts, where"),
            std::string::npos);
}

TEST(ProgramSet, ChipsKeepTheirStageAndRank) {
  std::vector<ChipProgram> chips = {{0, 0, 0, 0, 0, {}}, {1, 1, 1, 0, 90, {}}};
  Program part = programOf({}, 1);
  SystemProgram first = systemOf({part, part}, chips);
  chips[1].start = 100; // another program, another start
  EXPECT_TRUE(runAlike(first, systemOf({part, part}, chips)));
  chips[1].rank = 1;
  EXPECT_EQ(runAlike(first, systemOf({part, part}, chips)).error().message,
            "the program for 1 tokens up to position 64 has chip 1 as rank 1 "
            "of stage 1 with part 1, where the program for 1 tokens up to "
            "position 64 has chip 1 as rank 0 of stage 1 with part 1");
  chips.pop_back();
  EXPECT_NE(runAlike(first, systemOf({part, part}, chips))
                .error()
                .message.find("runs on 1 chips"),
            std::string::npos);
}

TEST(ProgramSet, ProgramsOfASessionShareWhatLasts) {
  auto session = openTiny(tinyOptions());
  auto one = session->program(1, 64), chunk = session->program(8, 512);
  ASSERT_TRUE(one && chunk);
  EXPECT_TRUE(shareWhatLasts(**one, **chunk));
}

// The last bit, which no six decimals show.
TEST(ProgramSet, ModelsThatDifferInOneBitDoNotMix) {
  models::ModelConfig config = tinyModel().config(), eps = config,
                      theta = config;
  eps.normEps = std::nextafter(config.normEps, 1.0f);
  theta.ropeTheta = std::nextafter(config.ropeTheta, 1e9);
  EXPECT_EQ(modelHash(config, {}), modelHash(config, {}));
  EXPECT_NE(modelHash(config, {}), modelHash(eps, {}));
  EXPECT_NE(modelHash(config, {}), modelHash(theta, {}));
}

} // namespace
} // namespace orrery::runtime
