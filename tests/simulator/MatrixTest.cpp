// The matrix unit against scalar sums from numerics.h, and its timing rules:
// legal in cycle c, illegal in c - 1.
#include "tests/simulator/MatrixPath.h"

#include <gtest/gtest.h>

namespace orrery::sim::test {
namespace {

void expectExact(const MatrixShape &shape) {
  MatrixPath chip(shape);
  Simulator s = chip.simulator();
  for (int step = 0; step < 2; ++step) { // the second with packed tiles cached
    auto result = s.run(chip.program, chip.input);
    ASSERT_TRUE(result) << result.error().message;
    for (uint32_t n = 0; n < shape.tiles; ++n) {
      for (uint32_t m = 0; m < shape.rows; ++m) {
        ASSERT_EQ(chip.result(s.sram(), n, m), chip.wanted(n, m))
            << "tile " << n << " row " << m;
      }
    }
  }
  EXPECT_EQ(s.cacheBytes() > 0, shape.weights == RegionKind::Weight);
  EXPECT_EQ(chip.timingError(), "");
}

TEST(Matrix, Q8) { expectExact({}); }
TEST(Matrix, Q8ManyTilesAndRows) {
  expectExact({WeightFormat::Q8, 32, 0, 32, 3, 2, 4, RegionKind::Weight});
}
TEST(Matrix, Q8TwoBlocksARow) {
  expectExact({WeightFormat::Q8, 64, 16, 64, 2, 2, 2, RegionKind::Weight});
}
TEST(Matrix, Q4) {
  expectExact({WeightFormat::Q4, 64, 0, 48, 2, 3, 3, RegionKind::Weight});
}
TEST(Matrix, I8OddRows) {
  expectExact({WeightFormat::I8, 32, 3, 24, 2, 2, 3, RegionKind::Weight});
}
TEST(Matrix, I8FromMemoryThatChanges) {
  expectExact({WeightFormat::I8, 64, 0, 64, 2, 2, 3, RegionKind::Kv});
}
TEST(Matrix, F16) {
  expectExact({WeightFormat::F16, 32, 5, 29, 2, 2, 3, RegionKind::Weight});
}

TEST(Matrix, ChangedKvChangesTheResult) {
  MatrixShape shape{WeightFormat::I8, 32, 0, 32, 1, 1, 1, RegionKind::Kv};
  MatrixPath chip(shape);
  Simulator s = chip.simulator();
  ASSERT_TRUE(s.run(chip.program, chip.input));
  auto before = chip.result(s.sram(), 0, 0);
  // The same step on other KV bytes: nothing of the old tile may remain.
  for (int lane = 0; lane < 32; ++lane) {
    chip.image.vector(MatrixPath::kWeights, 1, 0)[lane] ^= 0x15;
  }
  Simulator other = chip.simulator();
  ASSERT_TRUE(other.run(chip.program, chip.input));
  auto after = chip.result(other.sram(), 0, 0);
  EXPECT_NE(before[0], after[0]);
  EXPECT_EQ(std::vector<float>(before.begin() + 1, before.end()),
            std::vector<float>(after.begin() + 1, after.end()));
}

TEST(Matrix, TileIsUsableInstallTicksAfterItsLastCycle) {
  MatrixPath chip({});
  EXPECT_EQ(chip.timingError(), "");
  chip.at(chip.matmul).tick -= 1;
  std::string error = chip.timingError();
  EXPECT_NE(error.find("plane 2 matmul: instruction 4 matmul"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("is usable from cycle " +
                       std::to_string(chip.at(chip.matmul).tick + 1)),
            std::string::npos)
      << error;
}

/// A program with the load late: entry 0 comes `before` the pass.
std::string loadBefore(Tick before) {
  MatrixPath chip({});
  Tick shift = chip.at(chip.matmul).tick - before - chip.at(chip.load).tick;
  chip.at(chip.actRead).tick += shift;
  chip.at(chip.load).tick += shift;
  return chip.timingError();
}

TEST(Matrix, EntryIsUsableLoadTicksAfterItCame) {
  EXPECT_EQ(loadBefore(2), "");
  EXPECT_NE(loadBefore(1).find("activation entry 0 came in cycle"),
            std::string::npos);
  EXPECT_NE(loadBefore(-1).find("activation entry 0 has not been loaded"),
            std::string::npos);
}

TEST(Matrix, BuffersHoldTwoTiles) {
  // Three tiles installed back to back before any pass.
  MatrixShape shape{WeightFormat::I8, 32, 0, 16, 3, 1, 1, RegionKind::Weight};
  MatrixPath chip(shape);
  Tick tile = chip.cycles; // 1 cycle a tile
  chip.op<ReadOp>(chip.weightRead).shape.period = uint32_t(tile);
  chip.op<InstallOp>(chip.install).shape.period = uint32_t(tile);
  std::string error = chip.timingError();
  EXPECT_NE(error.find("both weight buffers hold tiles"), std::string::npos)
      << error;
}

/// Passes every `period` cycles, tiles likewise; rows enter for `rows` cycles.
std::string periodOf(uint32_t period) {
  MatrixShape shape{WeightFormat::I8, 32, 0, 16, 4, 1, 6, RegionKind::Weight};
  MatrixPath chip(shape);
  chip.op<ReadOp>(chip.weightRead).shape.period = period;
  chip.op<InstallOp>(chip.install).shape.period = period;
  chip.op<MatmulOp>(chip.matmul).period = period;
  chip.op<WriteOp>(chip.write).shape.period = std::max(period, shape.rows);
  return chip.timingError();
}

TEST(Matrix, ABufferIsFreeTheCycleAfterTheLastRow) {
  // Tile k + 2 starts at 2 * period; pass k starts 3 cycles (install) after
  // the tile's one cycle and its sixth row enters 5 later: 8 < 2 * period.
  EXPECT_EQ(periodOf(6), "");
  // Rows of consecutive passes would overlap in the array.
  EXPECT_NE(periodOf(5).find("passes every 5 cycles"), std::string::npos);
  // Slower install: 2 * period has to exceed install + rows.
  MatrixShape shape{WeightFormat::I8, 32, 0, 16, 3, 1, 2, RegionKind::Weight};
  for (Tick install : {4, 5}) {
    MatrixPath chip(shape);
    chip.machine.timing.install = install;
    for (uint32_t number : {chip.weightRead, chip.install}) {
      std::visit(
          [](auto &op) {
            if constexpr (requires { op.shape; }) {
              op.shape.period = 3;
            }
          },
          chip.at(number).operation);
    }
    chip.op<MatmulOp>(chip.matmul).period = 3;
    chip.op<WriteOp>(chip.write).shape.period = 3;
    chip.at(chip.matmul).tick += install - 3;
    chip.at(chip.write).tick += install - 3;
    std::string error = chip.timingError();
    if (install == 4) {
      EXPECT_EQ(error, "");
    } else {
      EXPECT_NE(error.find("the weight buffer is in use up to and including"),
                std::string::npos)
          << error;
    }
  }
}

TEST(Matrix, MatmulAndTileAgree) {
  MatrixPath format({});
  format.op<MatmulOp>(format.matmul).format = WeightFormat::Q4;
  EXPECT_NE(format.timingError().find("another weight format"),
            std::string::npos);
  MatrixPath columns({});
  columns.op<MatmulOp>(columns.matmul).high = 16;
  EXPECT_NE(columns.timingError().find("is for columns [0, 32)"),
            std::string::npos);
  MatrixPath tile({});
  tile.at(tile.matmul).tick = 30;
  EXPECT_NE(tile.timingError().find("no weight tile is installed"),
            std::string::npos);
}

TEST(Matrix, F16TakesBothPlanesOfAPair) {
  MatrixShape shape{WeightFormat::F16, 32, 0, 16, 1, 1, 1, RegionKind::Weight};
  MatrixPath odd(shape);
  odd.op<InstallOp>(odd.install).plane = 3;
  odd.at(odd.install).tick += 1;
  odd.op<ReadOp>(odd.weightRead).out.stop += 1;
  EXPECT_NE(odd.timingError().find("not the first of its pair"),
            std::string::npos);
  // The other plane's install port is taken at the same time.
  MatrixPath other(shape);
  InstallOp second;
  second.plane = 3;
  second.format = WeightFormat::I8;
  second.stream = 4;
  second.high = 16;
  second.shape = burst(1);
  other.op<ReadOp>(other.weightRead).out.stop += 1;
  other.add(other.at(other.install).tick + 1, second);
  EXPECT_NE(other.timingError().find("the queue is taken by instruction 3"),
            std::string::npos)
      << other.timingError();
}

TEST(Matrix, AnEntryInUseIsNotOverwritten) {
  // Two N tiles use entry 0; it is loaded again between their passes.
  MatrixShape shape{WeightFormat::I8, 32, 0, 16, 2, 1, 1, RegionKind::Weight};
  for (Tick late : {0, 40}) {
    MatrixPath chip(shape);
    Tick shift = chip.at(chip.matmul).tick + 1 + late - chip.at(chip.load).tick;
    Instruction read = chip.at(chip.actRead), load = chip.at(chip.load);
    read.tick += shift;
    load.tick += shift;
    chip.program.instructions.push_back(read);
    chip.program.instructions.push_back(load);
    std::string error = chip.timingError();
    if (late == 0) {
      EXPECT_NE(error.find("activation entry 0 was overwritten"),
                std::string::npos)
          << error;
    } else {
      EXPECT_EQ(error, "");
    }
  }
}

TEST(Matrix, ATileThatNobodyUsesIsAnError) {
  MatrixPath chip({});
  chip.program.instructions.resize(chip.matmul);
  EXPECT_NE(chip.timingError().find("plane 2 install: instruction 3 install"),
            std::string::npos);
  EXPECT_NE(chip.timingError().find("no pass has used this tile"),
            std::string::npos);
}

TEST(Matrix, EveryTickOfATightScheduleMatters) {
  MatrixShape shape{WeightFormat::Q8, 32, 0, 32, 2, 2, 3, RegionKind::Weight};
  for (uint32_t number = 0; number < 6; ++number) {
    for (Tick delta : {-1, 1}) {
      MatrixPath chip(shape);
      chip.at(number).tick += delta;
      std::string error = chip.timingError();
      EXPECT_NE(error, "") << "instruction " << number << " by " << delta;
      EXPECT_EQ(chip.error(), error);
    }
  }
}

TEST(Matrix, OverflowOfTheAccumulatorIsAnError) {
  MatrixPath chip({});
  float huge = 1e9f;
  std::memcpy(chip.image.vector(MatrixPath::kCodes + 1, 0, 0), &huge, 4);
  std::string error = chip.error();
  EXPECT_NE(error.find("plane 2 matmul: instruction 4 matmul (layer 0 test), "
                       "cycle"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("accumulator's range"), std::string::npos) << error;
}

} // namespace
} // namespace orrery::sim::test
