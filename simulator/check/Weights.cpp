// Rules tile and buffer: the passes of a plane use its installed tiles one
// after the other, and a tile is installed only into a free buffer.
//
// Both are sequences in time, so pass j uses tile j, and tile j needs the
// buffer that tile j - 2 leaves.
#include "simulator/check/Examination.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::check {

namespace {

constexpr size_t kBuffers = 2;

/// One run of an install.
struct Tile {
  Tick first, last;
  uint32_t instruction;
};
/// One pass of a matmul; `lastRow` is the tick in which its last row enters.
struct Pass {
  Tick start, lastRow;
  uint32_t instruction;
};
struct Plane {
  std::vector<Tile> tiles;
  std::vector<Pass> passes;
};

class WeightCheck {
public:
  explicit WeightCheck(Examination &exam)
      : exam(exam), g(exam.geometry), planes(g.planes()) {}

  void run() {
    for (uint32_t i = 0; i < exam.program.instructions.size(); ++i) {
      const Instruction &instruction = exam.program.instructions[i];
      if (auto *op = std::get_if<InstallOp>(&instruction.operation)) {
        addTiles(i, instruction.tick, *op);
      } else if (auto *op = std::get_if<MatmulOp>(&instruction.operation)) {
        addPasses(i, instruction.tick, *op);
      }
    }
    for (Plane &plane : planes) {
      std::sort(plane.tiles.begin(), plane.tiles.end(),
                [](const Tile &a, const Tile &b) { return a.first < b.first; });
      std::sort(plane.passes.begin(), plane.passes.end(),
                [](const Pass &a, const Pass &b) { return a.start < b.start; });
      checkPlane(plane);
    }
  }

private:
  template <class F> void eachPlane(int plane, WeightFormat format, F apply) {
    int first = format == WeightFormat::F16
                    ? plane / g.planesPerHemisphere * g.planesPerHemisphere
                    : plane;
    int count = format == WeightFormat::F16 ? g.planesPerHemisphere : 1;
    for (int p = first; p < first + count; ++p) {
      apply(planes[p]);
    }
  }

  void addTiles(uint32_t index, Tick tick, const InstallOp &op) {
    uint32_t need = tileCycles(op.format, op.high - op.low, op.width);
    if (op.shape.length < need) {
      exam.fail(Rule::Tile, index, tick,
                "a tile takes " + std::to_string(need) +
                    " cycles, its runs have " +
                    std::to_string(op.shape.length));
    }
    for (uint32_t r = 0; r < op.shape.runs; ++r) {
      Tick first = tick + Tick(r) * op.shape.period;
      Tick last = first + Tick(op.shape.length - 1) * op.shape.stride;
      eachPlane(op.plane, op.format,
                [&](Plane &p) { p.tiles.push_back({first, last, index}); });
    }
  }
  void addPasses(uint32_t index, Tick tick, const MatmulOp &op) {
    Tick rows = Tick(op.rows - 1) * matmulTicksPerRow(exam.machine, op.format);
    for (uint32_t k = 0; k < op.tiles * op.inner; ++k) {
      Tick start = tick + Tick(k) * op.period;
      eachPlane(op.plane, op.format, [&](Plane &p) {
        p.passes.push_back({start, start + rows, index});
      });
    }
  }

  void checkPlane(const Plane &plane);
  bool checkUse(const Tile &tile, const Pass &pass, size_t number);

  Examination &exam;
  Geometry g;
  std::vector<Plane> planes;
};

/// One violation a plane: after it the sequences no longer belong together.
void WeightCheck::checkPlane(const Plane &plane) {
  for (size_t j = 0; j < plane.passes.size(); ++j) {
    const Pass &pass = plane.passes[j];
    if (j >= plane.tiles.size()) {
      exam.fail(Rule::Tile, pass.instruction, pass.start,
                "pass " + std::to_string(j) +
                    " of its plane has no tile; only " +
                    std::to_string(plane.tiles.size()) + " are installed");
      return;
    }
    if (!checkUse(plane.tiles[j], pass, j)) {
      return;
    }
  }
  for (size_t j = kBuffers; j < plane.tiles.size(); ++j) {
    const Tile &tile = plane.tiles[j];
    if (j - kBuffers >= plane.passes.size()) {
      break;
    }
    const Pass &before = plane.passes[j - kBuffers];
    if (tile.first <= before.lastRow) {
      exam.fail(Rule::Buffer, tile.instruction, tile.first,
                "tile " + std::to_string(j) +
                    " of its plane finds both buffers taken; " +
                    exam.describe(before.instruction) +
                    " holds one until tick " + std::to_string(before.lastRow));
      return;
    }
  }
  if (plane.tiles.size() > plane.passes.size()) {
    const Tile &tile = plane.tiles[plane.passes.size()];
    exam.fail(Rule::Tile, tile.instruction, tile.first,
              "no pass uses tile " + std::to_string(plane.passes.size()) +
                  " of its plane");
  }
}

bool WeightCheck::checkUse(const Tile &tile, const Pass &pass, size_t number) {
  const auto &install = std::get<InstallOp>(
      exam.program.instructions[tile.instruction].operation);
  const auto &matmul =
      std::get<MatmulOp>(exam.program.instructions[pass.instruction].operation);
  std::string which = "tile " + std::to_string(number) +
                      " of its plane, installed by " +
                      exam.describe(tile.instruction);
  if (install.format != matmul.format || install.plane != matmul.plane) {
    exam.fail(Rule::Tile, pass.instruction, pass.start,
              which + ", has another format");
    return false;
  }
  if (install.low != matmul.low || install.high != matmul.high) {
    exam.fail(Rule::Tile, pass.instruction, pass.start,
              which + ", has columns " + std::to_string(install.low) + "-" +
                  std::to_string(install.high) + ", the matmul " +
                  std::to_string(matmul.low) + "-" +
                  std::to_string(matmul.high));
    return false;
  }
  Tick ready = tile.last + exam.machine.timing.install;
  if (pass.start < ready) {
    exam.fail(Rule::Tile, pass.instruction, pass.start,
              which + ", is ready only at tick " + std::to_string(ready));
    return false;
  }
  ++exam.report.tilesProven;
  return true;
}

} // namespace

void checkWeights(Examination &exam) { WeightCheck(exam).run(); }

} // namespace orrery::check
