#include "machine/Geometry.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

constexpr Geometry kV1{44, 2};

/// All units west to east.
std::vector<Position> row(const Geometry &g) {
  std::vector<Position> row;
  for (int32_t plane = 0; plane < g.planesPerHemisphere; ++plane) {
    row.push_back(g.ofPlane(plane));
  }
  row.push_back(g.ofSxm(0));
  for (int32_t slice = 0; slice < g.slices(); ++slice) {
    if (slice == g.slicesPerHemisphere) {
      row.push_back(g.ofVxm());
    }
    row.push_back(g.ofSlice(slice));
  }
  row.push_back(g.ofSxm(1));
  for (int32_t plane = g.planesPerHemisphere; plane < g.planes(); ++plane) {
    row.push_back(g.ofPlane(plane));
  }
  row.push_back(g.ofHost());
  return row;
}

TEST(Geometry, UnitsStandInARowWithoutGaps) {
  for (const Geometry &g : {kV1, Geometry{12, 1}, Geometry{256, 4}}) {
    std::vector<Position> positions = row(g);
    for (size_t i = 0; i < positions.size(); ++i) {
      EXPECT_EQ(positions[i], Position(i)) << g.slicesPerHemisphere;
    }
  }
}

TEST(Geometry, V1Positions) {
  EXPECT_EQ(kV1.ofSxm(0), 2);
  EXPECT_EQ(kV1.ofSlice(0), 3);
  EXPECT_EQ(kV1.ofSlice(43), 46);
  EXPECT_EQ(kV1.ofVxm(), 47);
  EXPECT_EQ(kV1.ofSlice(44), 48);
  EXPECT_EQ(kV1.ofSlice(87), 91);
  EXPECT_EQ(kV1.ofSxm(1), 92);
  EXPECT_EQ(kV1.ofPlane(2), 93);
  EXPECT_EQ(kV1.ofHost(), 95);
}

TEST(Geometry, MirrorsAroundTheVxm) {
  for (int32_t slice = 0; slice < kV1.slices(); ++slice) {
    Position mirror = kV1.ofSlice(kV1.slices() - 1 - slice);
    EXPECT_EQ(kV1.ofVxm() - kV1.ofSlice(slice), mirror - kV1.ofVxm());
  }
}

TEST(Geometry, Hemispheres) {
  EXPECT_EQ(kV1.hemisphereOfSlice(43), Hemisphere::West);
  EXPECT_EQ(kV1.hemisphereOfSlice(44), Hemisphere::East);
  EXPECT_EQ(kV1.hemisphereOfPlane(1), Hemisphere::West);
  EXPECT_EQ(kV1.hemisphereOfPlane(2), Hemisphere::East);
  EXPECT_EQ(outward(Hemisphere::East), Direction::East);
  EXPECT_EQ(inward(Hemisphere::East), Direction::West);
}

TEST(Geometry, AVectorStaysOnItsDiagonal) {
  for (Direction d : {Direction::East, Direction::West}) {
    Tick tick = 100;
    Position from = 40;
    Tick line = diagonal(d, tick, from);
    for (int hop = 0; hop < 10; ++hop) {
      Position at = from + (d == Direction::East ? hop : -hop);
      EXPECT_EQ(passes(d, line, at), tick + hop);
      EXPECT_EQ(diagonal(d, tick + hop, at), line);
    }
  }
}

} // namespace
} // namespace orrery
