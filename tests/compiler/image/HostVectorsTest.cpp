// What the host sends with a step.
#include "compiler/image/ImagePlan.h"
#include "machine/numerics.h"

#include "gtest/gtest.h"

namespace orrery {
namespace {

constexpr int32_t kLanes = 64;

// result = x * cos + partner * sin: the first of a pair has -sin, the second
// +sin; elements that do not turn have cos 1 and sin 0; padding 0 and 0.
TEST(HostVectors, RopeRowsHaveThePairsSigns) {
  auto axis = AxisLayout::ofHeads(2, 2, 24, kLanes);
  auto frequencies = numerics::ropeFrequencies(16, 10000.0);
  for (bool half : {false, true}) {
    for (auto kind : {HostRows::Kind::Cosine, HostRows::Kind::Sine}) {
      ImagePlan plan;
      plan.host = {{kind, axis, 10000.0, 16, half}};
      bool cosine = kind == HostRows::Kind::Cosine;
      auto sent = hostVectors(plan, kLanes, 3, 40, {});
      ASSERT_EQ(sent.size(), size_t(3 * kLanes));
      for (int32_t t = 0; t < 3; ++t) {
        auto row = numerics::ropeTable(frequencies, 40 + t, 1);
        for (int32_t lane = 0; lane < kLanes; ++lane) {
          int32_t d = lane % 32;
          auto pair = size_t(half ? d % 8 : d / 2);
          bool second = half ? d >= 8 : d % 2 == 1;
          float expected = d >= 24   ? 0.0f
                           : d >= 16 ? (cosine ? 1.0f : 0.0f)
                           : cosine  ? row.cos[pair]
                           : second  ? row.sin[pair]
                                     : -row.sin[pair];
          ASSERT_EQ(sent[size_t(t * kLanes + lane)], expected)
              << "token " << t << " lane " << lane;
        }
      }
    }
  }
}

// Rows past the valid tokens are zero, lanes past the last element too; what
// follows comes behind.
TEST(HostVectors, EmbeddingsLieAsTheirAxisSays) {
  ImagePlan plan;
  plan.host = {{HostRows::Kind::Embedding, AxisLayout::dense(100, kLanes)},
               {HostRows::Kind::Cosine, AxisLayout::ofHeads(1, 1, 32, kLanes),
                10000.0, 32, false}};
  std::vector<float> rows(200);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = float(i + 1);
  }
  auto sent = hostVectors(plan, kLanes, 3, 0, rows);
  ASSERT_EQ(sent.size(), size_t(3 * 2 * kLanes + 3 * kLanes));
  for (int32_t t = 0; t < 3; ++t) {
    for (int32_t lane = 0; lane < 2 * kLanes; ++lane) {
      bool real = t < 2 && lane < 100;
      ASSERT_EQ(sent[size_t(t * 2 * kLanes + lane)],
                real ? float(t * 100 + lane + 1) : 0.0f);
    }
  }
  EXPECT_EQ(sent[size_t(3 * 2 * kLanes)], 1.0f); // cosine at position 0
}

// Every rank has its own shard first.
TEST(HostVectors, RanksGetTheirOwnOrder) {
  ImagePlan plan;
  plan.host = {{HostRows::Kind::Embedding,
                AxisLayout::dense(64, kLanes).gathered(3, 150)}};
  std::vector<float> row(150);
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = float(i + 1);
  }
  for (int32_t rank = 0; rank < 3; ++rank) {
    auto sent = hostVectors(plan, kLanes, 1, 0, row, rank);
    ASSERT_EQ(sent.size(), size_t(3 * kLanes));
    for (int32_t place = 0; place < 3; ++place) {
      for (int32_t lane = 0; lane < kLanes; ++lane) {
        int32_t element = (rank - place + 3) % 3 * 64 + lane;
        ASSERT_EQ(sent[size_t(place * kLanes + lane)],
                  element < 150 ? float(element + 1) : 0.0f)
            << "rank " << rank << " place " << place << " lane " << lane;
      }
    }
  }
}

} // namespace
} // namespace orrery
