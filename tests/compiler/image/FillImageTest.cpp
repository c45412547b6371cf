// Every weight is found at the address that machine/Instruction.h says, derived
// here without the compiler's layouts.
#include "compiler/image/ImagePlan.h"
#include "machine/numerics.h"
#include "models/RandomWeights.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <cstring>
#include <limits>

namespace orrery {
namespace {

/// Where an element of an axis lies: vector and lane.
struct Spot {
  int32_t vector, lane;
};
Spot denseSpot(int32_t element, int32_t lanes) {
  return {element / lanes, element % lanes};
}
// KV head of head h is h / group; a vector holds lanes / slot KV heads.
Spot headSpot(int32_t element, const AxisLayout &axis) {
  int32_t head = element / axis.headDim, d = element % axis.headDim;
  int32_t group = axis.heads / axis.kvHeads;
  int32_t slot = (axis.headDim + 31) / 32 * 32, slots = axis.lanes / slot;
  int32_t kv = head / group;
  return {kv / slots * group + head % group, kv % slots * slot + d};
}
Spot spotOf(int32_t element, const AxisLayout &axis) {
  return axis.heads == 0 ? denseSpot(element, axis.lanes)
                         : headSpot(element, axis);
}

struct Case {
  const char *name;
  int32_t rows, columns;
  bool headRows, headColumns;
  WeightFormat format;
};

class FillImage : public ::testing::TestWithParam<Case> {
protected:
  FillImage() { context.loadDialect<flow::FlowDialect>(); }

  static models::ModelConfig config() {
    models::ModelConfig c;
    c.name = "image";
    c.architecture = "llama";
    c.layers = 1;
    c.heads = 6;
    c.kvHeads = 3;
    c.headDim = 24;
    c.hidden = 100;
    c.intermediate = 102;
    c.vocab = 130;
    c.contextLength = 64;
    c.ropeDimension = 24;
    return c;
  }
  AxisLayout axis(int32_t elements, bool heads) const {
    return heads ? AxisLayout::ofHeads(elements / 24, 3, 24, machine.lanes)
                 : AxisLayout::dense(elements, machine.lanes);
  }
  TileFill fillOf(const Case &c) {
    TileFill fill;
    fill.tensor = c.name;
    fill.place = flow::PlaceAttr::get(&context, 8, 1, 40);
    fill.rows = axis(c.rows, c.headRows);
    fill.columns = axis(c.columns, c.headColumns);
    fill.format = c.format;
    fill.first = 1;
    fill.low = 16;
    fill.rowsPerTile = 48;
    fill.width = 16;
    fill.tiles = uint32_t((fill.rows.vectors() - 1) * fill.columns.vectors());
    return fill;
  }
  // Byte `lane` of vector number u of a tile, striped over the slices.
  uint8_t byteAt(const TileFill &fill, int32_t tile, int32_t u,
                 int32_t lane) const {
    int32_t vectors = fill.format == WeightFormat::Q8   ? 48 + 3
                      : fill.format == WeightFormat::Q4 ? 24 + 3
                                                        : 96;
    int32_t cycles = (vectors + 15) / 16;
    return image.vector(8 + u % 16, 1, 40 + tile * cycles + u / 16)[lane];
  }
  uint16_t halfAt(const TileFill &fill, int32_t tile, int32_t u,
                  int32_t byte) const {
    return uint16_t(byteAt(fill, tile, u, byte) |
                    byteAt(fill, tile, u, byte + 1) << 8);
  }
  int code(const TileFill &fill, int32_t tile, int32_t row,
           int32_t lane) const {
    if (fill.format == WeightFormat::Q8) {
      return int8_t(byteAt(fill, tile, row, lane));
    }
    uint8_t pair = byteAt(fill, tile, row / 2, lane);
    return (row % 2 == 0 ? pair & 15 : pair >> 4) - 8;
  }
  uint16_t scale(const TileFill &fill, int32_t tile, int32_t row,
                 int32_t lane) const {
    int32_t codes = fill.format == WeightFormat::Q8 ? 48 : 24;
    return halfAt(fill, tile, codes + row / 16,
                  row % 16 * machine.lanes / 16 + 2 * (lane / 32));
  }
  // visit(row, column, tile, row of the tile, lane) for each weight in the
  // region: lanes 16 to 63 of output vectors 1 and up.
  template <class Visit>
  uint64_t forEachWeight(const Case &c, const TileFill &fill, Visit visit) {
    uint64_t count = 0;
    for (int32_t row = 0; row < c.rows; ++row) {
      Spot r = spotOf(row, fill.rows);
      if (r.vector < 1 || r.lane < 16) {
        continue;
      }
      for (int32_t column = 0; column < c.columns; ++column) {
        Spot k = spotOf(column, fill.columns);
        visit(row, column, (r.vector - 1) * fill.columns.vectors() + k.vector,
              r.lane - 16, k.lane);
        ++count;
      }
    }
    return count;
  }

  const Machine machine = *loadMachine("lpu-small");
  mlir::MLIRContext context;
  SramImage image{machine};
  models::RandomWeights weights{config(), 5};
};

TEST_P(FillImage, EveryWeightIsWhereInstallsFindIt) {
  const Case &c = GetParam();
  TileFill fill = fillOf(c);
  Status ok = fillImage({{fill}, {}, {}}, machine, weights, image);
  ASSERT_TRUE(ok) << ok.error().message;
  uint64_t count = 0;
  if (c.format == WeightFormat::F16) {
    auto values = *weights.vector(c.name);
    count = forEachWeight(
        c, fill,
        [&](int32_t row, int32_t column, int32_t tile, int32_t r,
            int32_t lane) {
          uint16_t half = uint16_t(byteAt(fill, tile, 2 * r, lane) |
                                   byteAt(fill, tile, 2 * r + 1, lane) << 8);
          ASSERT_EQ(half, numerics::floatToHalf(
                              values[size_t(row * c.columns + column)]))
              << row << ", " << column;
        });
  } else {
    auto matrix = *weights.matrix(c.name, c.format == WeightFormat::Q8
                                              ? models::WeightFormat::Q8_0
                                              : models::WeightFormat::Q4_0);
    count = forEachWeight(
        c, fill,
        [&](int32_t row, int32_t column, int32_t tile, int32_t r,
            int32_t lane) {
          size_t blocks = size_t(matrix.blocksPerRow);
          ASSERT_EQ(code(fill, tile, r, lane),
                    matrix.codes[size_t(row) * blocks * 32 + size_t(column)])
              << row << ", " << column;
          ASSERT_EQ(scale(fill, tile, r, lane),
                    matrix.scales[size_t(row) * blocks + size_t(column / 32)])
              << row << ", " << column;
        });
  }
  EXPECT_GT(count, 0u);
}

// Padding multiplies to zero whatever stands in the activation's lanes: the
// code is 0, or the f16 value is.
TEST_P(FillImage, PaddingIsZero) {
  const Case &c = GetParam();
  TileFill fill = fillOf(c);
  ASSERT_TRUE(fillImage({{fill}, {}, {}}, machine, weights, image));
  std::vector<bool> used(size_t(fill.tiles) * 48 * size_t(machine.lanes));
  auto at = [&](int32_t tile, int32_t row, int32_t lane) {
    return (size_t(tile) * 48 + size_t(row)) * size_t(machine.lanes) +
           size_t(lane);
  };
  forEachWeight(c, fill,
                [&](int32_t, int32_t, int32_t tile, int32_t r, int32_t lane) {
                  used[at(tile, r, lane)] = true;
                });
  for (int32_t tile = 0; tile < int32_t(fill.tiles); ++tile) {
    for (int32_t row = 0; row < 48; ++row) {
      for (int32_t lane = 0; lane < machine.lanes; ++lane) {
        if (used[at(tile, row, lane)]) {
          continue;
        }
        if (c.format == WeightFormat::F16) {
          ASSERT_EQ(byteAt(fill, tile, 2 * row, lane), 0);
          ASSERT_EQ(byteAt(fill, tile, 2 * row + 1, lane), 0);
        } else {
          ASSERT_EQ(code(fill, tile, row, lane), 0);
        }
      }
    }
  }
}

constexpr Case kCases[] = {
    {"blk.0.ffn_up.weight", 102, 100, false, false, WeightFormat::Q8},
    {"blk.0.ffn_up.weight", 102, 100, false, false, WeightFormat::Q4},
    {"blk.0.ffn_up.weight", 102, 100, false, false, WeightFormat::F16},
    {"blk.0.attn_q.weight", 144, 100, true, false, WeightFormat::Q8},
    {"blk.0.attn_q.weight", 144, 100, true, false, WeightFormat::Q4},
    {"blk.0.attn_k.weight", 72, 100, true, false, WeightFormat::F16},
    {"blk.0.attn_output.weight", 100, 144, false, true, WeightFormat::F16},
    {"blk.0.ffn_down.weight", 100, 102, false, false, WeightFormat::Q4},
};
INSTANTIATE_TEST_SUITE_P(Formats, FillImage, ::testing::ValuesIn(kCases));

// Heads of whole blocks as columns of a quantized matrix: a block's scale lies
// where its lanes are.
TEST(FillImageColumns, HeadsOfWholeBlocksKeepTheirScales) {
  models::ModelConfig c;
  c.name = "columns";
  c.architecture = "llama";
  c.layers = 1;
  c.heads = 4;
  c.kvHeads = 2;
  c.headDim = 32;
  c.hidden = 64;
  c.intermediate = c.vocab = c.contextLength = 64;
  c.ropeDimension = 32;
  models::RandomWeights weights(c, 9);
  Machine machine = *loadMachine("lpu-small");
  mlir::MLIRContext context;
  context.loadDialect<flow::FlowDialect>();
  SramImage image(machine);
  TileFill fill;
  fill.tensor = "blk.0.attn_output.weight";
  fill.place = flow::PlaceAttr::get(&context, 0, 0, 0);
  fill.rows = AxisLayout::dense(64, 64);
  fill.columns = AxisLayout::ofHeads(4, 2, 32, 64);
  fill.format = WeightFormat::Q8;
  fill.tiles = 2;
  fill.rowsPerTile = 64;
  fill.width = 16;
  fill.first = fill.low = 0;
  ASSERT_TRUE(fillImage({{fill}, {}, {}}, machine, weights, image));
  auto matrix = *weights.matrix(fill.tensor, models::WeightFormat::Q8_0);
  for (int32_t row = 0; row < 64; ++row) {
    for (int32_t head = 0; head < 4; ++head) {
      // KV head head / 2 in slot head / 2, query vector head % 2.
      int32_t tile = head % 2, block = head / 2, u = 64 + row / 16;
      const uint8_t *vector = image.vector(u % 16, 0, tile * 5 + u / 16);
      uint16_t found;
      std::memcpy(&found, vector + row % 16 * 4 + 2 * block, 2);
      ASSERT_EQ(found, matrix.scales[size_t(row * 4 + head)]);
    }
  }
}

class Tables : public ::testing::Test {
protected:
  Tables() { context.loadDialect<flow::FlowDialect>(); }
  TableFill table(const char *name, AxisLayout axis, uint32_t vectors) {
    TableFill fill{};
    fill.tensor = name;
    fill.place = flow::PlaceAttr::get(&context, 20, 1, 7);
    fill.rows = axis;
    fill.vectors = vectors;
    return fill;
  }
  float at(uint32_t vector, int32_t lane) const {
    uint32_t bits = 0;
    for (int32_t k = 0; k < 4; ++k) {
      bits |= uint32_t(image.vector(20 + k, 1, 7 + vector)[lane]) << 8 * k;
    }
    return std::bit_cast<float>(bits);
  }
  static models::ModelConfig config() {
    models::ModelConfig c;
    c.name = "tables";
    c.architecture = "llama";
    c.layers = c.heads = c.kvHeads = 1;
    c.headDim = c.ropeDimension = 32;
    c.hidden = 100;
    c.intermediate = c.vocab = c.contextLength = 64;
    return c;
  }
  const Machine machine = *loadMachine("lpu-small");
  mlir::MLIRContext context;
  SramImage image{machine};
  models::RandomWeights weights{config(), 3};
};

TEST_F(Tables, NormWeightsLieDensely) {
  TableFill fill = table("output_norm.weight", AxisLayout::dense(100, 64), 2);
  ASSERT_TRUE(fillImage({{}, {fill}, {}}, machine, weights, image));
  auto values = *weights.vector("output_norm.weight");
  for (int32_t lane = 0; lane < 128; ++lane) {
    EXPECT_EQ(at(uint32_t(lane / 64), lane % 64),
              lane < 100 ? values[size_t(lane)] : 0.0f);
  }
}

// A rank's own shard of a gathered vector lies first, that of the rank before
// it next; what the vector does not have is zero.
TEST_F(Tables, GatheredNormWeightsAreInTheRanksOwnOrder) {
  TableFill fill = table("output_norm.weight",
                         AxisLayout::dense(64, 64).gathered(2, 100), 2);
  auto values = *weights.vector("output_norm.weight");
  for (int32_t rank : {0, 1}) {
    ASSERT_TRUE(
        fillImage({{}, {fill}, {}}, machine, weights, image, {rank, 0}));
    for (int32_t lane = 0; lane < 128; ++lane) {
      int32_t element = (lane / 64 == 0 ? rank : 1 - rank) * 64 + lane % 64;
      EXPECT_EQ(at(uint32_t(lane / 64), lane % 64),
                element < 100 ? values[size_t(element)] : 0.0f)
          << "rank " << rank << " lane " << lane;
    }
  }
}

// A vocabulary of 150 in shards of 96: rank 1 has 54 rows of it.
TEST_F(Tables, ShardsOfAVocabularyHaveTheirFirstIndexAndTheirMask) {
  TableFill base = table("argmax.base", AxisLayout::dense(96, 64), 1);
  TableFill mask = table("argmax.mask", AxisLayout::dense(96, 64), 2);
  base.shardOf = mask.shardOf = 150;
  for (int32_t rank : {0, 1}) {
    ASSERT_TRUE(
        fillImage({{}, {base}, {}}, machine, weights, image, {rank, 0}));
    EXPECT_EQ(std::bit_cast<uint32_t>(at(0, 1)), uint32_t(rank * 96));
    EXPECT_EQ(at(0, 0), 0.0f);
    EXPECT_EQ(at(0, 2), 0.0f);
    ASSERT_TRUE(
        fillImage({{}, {mask}, {}}, machine, weights, image, {rank, 0}));
    for (int32_t lane = 0; lane < 128; ++lane) {
      bool real = lane < 96 && rank * 96 + lane < 150;
      EXPECT_EQ(at(uint32_t(lane / 64), lane % 64),
                real ? 0.0f : std::numeric_limits<float>::lowest());
    }
  }
}

TEST(TensorOfLayer, CountsLayersOn) {
  EXPECT_EQ(tensorOfLayer("blk.9.attn_q.weight", 3), "blk.12.attn_q.weight");
  EXPECT_EQ(tensorOfLayer("blk.9.attn_q.weight", -9), "blk.0.attn_q.weight");
  EXPECT_EQ(tensorOfLayer("output_norm.weight", 3), "output_norm.weight");
}

models::ModelConfig shardedModel() {
  models::ModelConfig config;
  config.name = "shards";
  config.architecture = "llama";
  config.layers = 2;
  config.heads = config.kvHeads = 2;
  config.headDim = config.ropeDimension = 32;
  config.hidden = 64;
  config.intermediate = 96;
  config.vocab = config.contextLength = 64;
  return config;
}

// Rows of rank r begin at (r / replicas) * rows of a shard; past the matrix
// they are zero. The gathered columns are in the rank's own order.
TEST(Shards, TilesHoldTheRanksOwnRows) {
  mlir::MLIRContext context;
  context.loadDialect<flow::FlowDialect>();
  const Machine machine = *loadMachine("lpu-small");
  models::RandomWeights weights(shardedModel(), 7);
  auto matrix =
      *weights.matrix("blk.1.ffn_up.weight", models::WeightFormat::Q8_0);
  TileFill fill;
  fill.tensor = "blk.0.ffn_up.weight"; // of the stage one layer before
  fill.place = flow::PlaceAttr::get(&context, 8, 1, 40);
  fill.rows = AxisLayout::dense(64, machine.lanes);
  fill.columns = AxisLayout::dense(32, machine.lanes).gathered(2, 64);
  fill.format = WeightFormat::Q8;
  fill.tiles = 1;
  fill.rowsPerTile = 64;
  fill.width = 16;
  fill.first = fill.low = 0;
  fill.shardOf = 96;
  for (uint32_t replicas : {1u, 2u}) {
    fill.replicas = replicas;
    for (int32_t rank : {0, 1}) {
      SramImage image{machine};
      ASSERT_TRUE(
          fillImage({{fill}, {}, {}}, machine, weights, image, {rank, 1}));
      for (int32_t row = 0; row < 64; ++row) {
        int32_t from = rank / int32_t(replicas) * 64 + row;
        for (int32_t lane = 0; lane < 64; ++lane) {
          int32_t column = (lane < 32 ? rank : 1 - rank) * 32 + lane % 32;
          int expected =
              from < 96 ? matrix.codes[size_t(from) * 64 + size_t(column)] : 0;
          auto found =
              int8_t(image.vector(8 + row % 16, 1, 40 + row / 16)[lane]);
          ASSERT_EQ(int(found), expected)
              << "replicas " << replicas << " rank " << rank << " row " << row
              << " lane " << lane;
        }
      }
    }
  }
}

// Of 3 ranks each has 64 of 150 columns, and the rows of the rank before.
TEST(Shards, PlacesHoldOwnColumnsOfOthersRows) {
  mlir::MLIRContext context;
  context.loadDialect<flow::FlowDialect>();
  const Machine machine = *loadMachine("lpu-small");
  models::ModelConfig config = shardedModel();
  config.intermediate = 150;
  models::RandomWeights weights(config, 7);
  auto matrix =
      *weights.matrix("blk.0.ffn_down.weight", models::WeightFormat::Q8_0);
  auto halves = *weights.vector("blk.0.ffn_down.weight");
  TileFill fill;
  fill.tensor = "blk.0.ffn_down.weight";
  fill.place = flow::PlaceAttr::get(&context, 8, 1, 40);
  fill.rows = AxisLayout::dense(32, machine.lanes);
  fill.columns = AxisLayout::dense(64, machine.lanes);
  fill.tiles = 1;
  fill.rowsPerTile = 32;
  fill.width = 16;
  fill.first = fill.low = 0;
  fill.shardOf = 64;
  fill.columnsOf = 150;
  fill.behind = 1;
  fill.ofRanks = 3;
  for (int32_t rank = 0; rank < 3; ++rank) {
    for (WeightFormat format : {WeightFormat::Q8, WeightFormat::F16}) {
      fill.format = format;
      SramImage image{machine};
      Status ok =
          fillImage({{fill}, {}, {}}, machine, weights, image, {rank, 0});
      ASSERT_TRUE(ok) << ok.error().message;
      auto byteOf = [&](int32_t vector, int32_t lane) {
        return image.vector(8 + vector % 16, 1, 40 + vector / 16)[lane];
      };
      for (int32_t row = 0; row < 32; ++row) {
        int32_t from = (rank + 2) % 3 * 32 + row;
        for (int32_t lane = 0; lane < 64; ++lane) {
          int32_t column = rank * 64 + lane;
          bool real = from < 64 && column < 150;
          auto at = size_t(from) * 150 + size_t(column);
          int code =
              real ? matrix.codes[size_t(from) * 160 + size_t(column)] : 0;
          int half = real ? numerics::floatToHalf(halves[at]) : 0;
          int found = format == WeightFormat::Q8
                          ? int8_t(byteOf(row, lane))
                          : byteOf(2 * row, lane) | byteOf(2 * row + 1, lane)
                                                        << 8;
          ASSERT_EQ(found, format == WeightFormat::Q8 ? code : half)
              << "rank " << rank << " row " << row << " lane " << lane;
        }
      }
    }
  }
}

TEST_F(Tables, OtherShapesThanThePlansAreRefused) {
  TableFill fill = table("output_norm.weight", AxisLayout::dense(64, 64), 1);
  Status ok = fillImage({{}, {fill}, {}}, machine, weights, image);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().message,
            "output_norm.weight: expected 64 values, found 100");
}

TEST_F(Tables, UnknownNamesAreRefused) {
  TableFill fill = table("no_such.weight", AxisLayout::dense(64, 64), 1);
  EXPECT_FALSE(fillImage({{}, {fill}, {}}, machine, weights, image));
}

} // namespace
} // namespace orrery
