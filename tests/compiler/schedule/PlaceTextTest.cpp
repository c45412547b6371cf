// Room for instructions: above all regions, all of it, and nobody else's.
#include "compiler/schedule/PlaceText.h"

#include "gtest/gtest.h"

#include <set>

namespace orrery::schedule {
namespace {

class PlaceText : public ::testing::Test {
protected:
  static SramRegion region(uint16_t slice, uint16_t width, uint8_t bank,
                           uint32_t length) {
    return {"r", RegionKind::Weight, slice, width, bank, 0, length};
  }
  std::vector<ChunkPlace> roomIn(const Program &program, int64_t taken,
                                 int64_t chunks) const {
    auto room = textRoom(program, machine, taken, chunks);
    EXPECT_TRUE(room) << room.error().message;
    return room ? *room : std::vector<ChunkPlace>();
  }
  /// Vectors of places: {slice, bank, address}; each once.
  std::set<std::tuple<int, int, uint32_t>>
  vectorsOf(const std::vector<ChunkPlace> &places) const {
    std::set<std::tuple<int, int, uint32_t>> all;
    for (const ChunkPlace &p : places) {
      for (uint32_t v = 0; v < uint32_t(machine.fetchVectors); ++v) {
        EXPECT_TRUE(all.insert({p.slice, p.bank, p.address + v}).second)
            << placeName(p);
      }
    }
    return all;
  }
  const Machine machine = *loadMachine("lpu-small");
};

TEST_F(PlaceText, AChunkOfEachBankInTurn) {
  Program program{};
  program.regions.push_back(region(0, 16, 0, 101));
  auto places = roomIn(program, 0, 200);
  ASSERT_EQ(places.size(), 200u);
  EXPECT_EQ(places[0], (ChunkPlace{0, 0, 101})); // the free end of slice 0
  EXPECT_EQ(places[1], (ChunkPlace{0, 1, 0}));
  EXPECT_EQ(places[2], (ChunkPlace{1, 0, 101}));
  vectorsOf(places);
  // 32 weight slices and 24 data slices, of two banks each.
  EXPECT_EQ(places[63], (ChunkPlace{55, 1, 0}));
  EXPECT_EQ(places[64], (ChunkPlace{16, 0, 4094})); // the top of slice 16
  EXPECT_EQ(places[112], (ChunkPlace{0, 0, 103}));
}

// Programs of a set share weights and KV: the second's text starts where the
// first's ends.
TEST_F(PlaceText, ProgramsOfASetStandSideBySide) {
  Program program{};
  program.regions.push_back(region(0, 16, 0, 4000));
  auto both = vectorsOf(roomIn(program, 0, 130'000 + 7));
  auto first = vectorsOf(roomIn(program, 0, 7));
  auto second = vectorsOf(roomIn(program, 7 * machine.fetchVectors, 130'000));
  EXPECT_EQ(first.size() + second.size(), both.size());
  first.merge(second);
  EXPECT_EQ(first, both);
}

// What is below the top quarters of the data slices, temporaries may need.
TEST_F(PlaceText, WeightSlicesAndTheTopsOfDataSlicesFirst) {
  ChipLayout layout(machine);
  auto isLow = [&](const ChunkPlace &p) {
    int32_t first = layout.dataFirst(layout.sideOfSlice(p.slice));
    return p.slice >= first && p.slice < first + layout.dataSlices &&
           p.address < textFloor(0, 4096);
  };
  constexpr size_t kFirst = 64 * 2048 + 48 * 512;
  auto places = roomIn(Program{}, 0, kFirst + 1);
  for (size_t k = 0; k < kFirst; ++k) {
    ASSERT_FALSE(isLow(places[k])) << k;
  }
  EXPECT_TRUE(isLow(places[kFirst]));
  EXPECT_EQ(places[kFirst].address, 3070u);
}

// It would lie on what this program computes: other programs count on the
// order, so it cannot go elsewhere.
TEST_F(PlaceText, NotOnTemporaries) {
  Program program{};
  program.regions.push_back(
      {"t", RegionKind::Temporary, 16, 1, 0, 0, 4094, 0, 10});
  EXPECT_TRUE(textRoom(program, machine, 0, 64 + 48));
  program.regions.back().length = 4095;
  EXPECT_TRUE(textRoom(program, machine, 0, 64));
  EXPECT_FALSE(textRoom(program, machine, 0, 64 + 1));
}

TEST_F(PlaceText, NoRoomIsRefusedWithBothNumbers) {
  Program program{};
  for (uint8_t bank : {0, 1}) {
    program.regions.push_back(region(0, 56, bank, 4096));
  }
  program.regions.back().length = 4094; // one chunk in each slice is left
  EXPECT_TRUE(textRoom(program, machine, 0, 56));
  EXPECT_TRUE(textRoom(program, machine, 2 * 56 - 2, 1));
  auto room = textRoom(program, machine, 0, 57);
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().message, "no room for the program's text: it takes " +
                                      std::to_string(57 * 128) + " B, " +
                                      std::to_string(56 * 128) + " B are free");
  room = textRoom(program, machine, 2 * 56 - 2, 2);
  ASSERT_FALSE(room);
  EXPECT_NE(room.error().message.find(", 128 B are free"), std::string::npos);
}

TEST_F(PlaceText, RegionsHoldTheChunksInTheirOrder) {
  Program program{};
  std::vector<ChunkPlace> places = {{5, 1, 40}, {5, 1, 42}, {5, 1, 44},
                                    {6, 1, 46}, {6, 0, 48}, {6, 0, 46}};
  addTextRegions(program, machine, places);
  ASSERT_EQ(program.regions.size(), 4u);
  EXPECT_EQ(program.regions[0].length, 6u);
  std::set<std::string> names;
  ChunkPlaces chunks(program, machine);
  ASSERT_EQ(chunks.count(), int64_t(places.size()));
  for (size_t k = 0; k < places.size(); ++k) {
    EXPECT_EQ(chunks[int64_t(k)], places[k]) << k;
  }
  for (const SramRegion &r : program.regions) {
    EXPECT_EQ(r.kind, RegionKind::Instructions);
    EXPECT_TRUE(names.insert(r.name).second);
  }
}

} // namespace
} // namespace orrery::schedule
