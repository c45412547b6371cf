// MXM: loads of activation rows, and installs with their matmul.
#include "compiler/schedule/FlowReader.h"

#include "machine/Timing.h"

#include "llvm/ADT/SmallSet.h"

#include <algorithm>

using namespace mlir;

namespace orrery::schedule {

LogicalResult FlowReader::readLoad(flow::LoadOp op) {
  const Home &home = homes[op.getInput()];
  llvm::SmallSet<int32_t, 4> planes;
  uint32_t users = 0;
  for (mlir::Operation *user : op.getLoaded().getUsers()) {
    planes.insert(cast<flow::MatmulOp>(user).getPlane());
    ++users;
  }
  if (users == 0) {
    return success(); // nobody reads these rows
  }
  Direction direction = outwardOf(op.getSide());
  Position nearest = -1, farthest = -1;
  for (int32_t plane : planes) {
    Position p = g.ofPlane(plane);
    bool west = direction == Direction::West;
    nearest = nearest < 0 || (west ? p > nearest : p < nearest) ? p : nearest;
    farthest =
        farthest < 0 || (west ? p < farthest : p > farthest) ? p : farthest;
  }
  GangBuilder b = gang(op);
  BurstShape shape{uint32_t(op.getRows() * op.getInner()), 1, 1, 0};
  uint8_t group = b.read(home, flow::addressPattern(op.getRead(), home.base),
                         shape, direction, nearest, farthest);
  for (int32_t plane : planes) {
    LoadOp load;
    load.plane = uint8_t(plane);
    load.f16 = cast<flow::BufferType>(op.getInput().getType()).getType() ==
               flow::StreamType::F16;
    load.stream = group;
    load.shape = shape;
    b.add(b.passing(group, g.ofPlane(plane)), load);
  }
  b.gang.loads = uint32_t(out.problem.loads.size());
  loads[op.getLoaded()] = b.gang.loads;
  out.problem.loads.push_back({int32_t(op.getSide()), shape.length, users});
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

// The least period that keeps two buffers apart: tile j + 2 may not come
// before tile j's last row has entered.
uint32_t FlowReader::period(uint32_t cycles, uint32_t rows,
                            uint32_t perRow) const {
  uint32_t multiply = rows * perRow;
  uint32_t held = cycles - 1 + uint32_t(m.timing.install) + multiply;
  return std::max({cycles, multiply, (held + 1) / 2});
}

// What no verifier of the dialect can know: how many planes a side has.
LogicalResult FlowReader::verifyPlane(flow::MatmulOp op,
                                      flow::LoadOp load) const {
  bool east = g.hemisphereOfPlane(op.getPlane()) == Hemisphere::East;
  if (op.getPlane() < g.planes() && east == (load.getSide() == 1)) {
    return success();
  }
  auto error = op.emitOpError("plane ")
               << op.getPlane() << " of " << g.planes()
               << " is not on the side that the rows were loaded on";
  error.attachNote(load.getLoc()) << "the load";
  return error;
}

// The weights' way to the plane, tile after tile.
void FlowReader::install(flow::MatmulOp op, uint32_t passes, uint32_t perTile,
                         GangBuilder &b) {
  auto tiles = cast<flow::TilesType>(op.getWeights().getType());
  WeightFormat format = flow::machineFormat(tiles.getFormat());
  uint32_t cycles = tileCycles(format, tiles.getRows(), tiles.getWidth());
  const Home &weights = homes[op.getWeights()];
  Position at = g.ofPlane(op.getPlane());
  BurstShape shape{cycles, 1, passes, perTile};
  AddressPattern address;
  address.base = weights.base + uint32_t(op.getFirst()) * cycles;
  address.extent[0] = cycles * passes;
  address.step[0] = 1;
  uint8_t in = b.read(weights, address, shape,
                      outward(g.hemisphereOfPlane(op.getPlane())), at, at);
  b.add(0,
        InstallOp{uint8_t(op.getPlane()), format, in, uint8_t(tiles.getWidth()),
                  uint16_t(op.getLow()), uint16_t(op.getHigh()), shape});
}

LogicalResult FlowReader::readMatmul(flow::MatmulOp op) {
  auto load = op.getLoaded().getDefiningOp<flow::LoadOp>();
  if (failed(verifyPlane(op, load))) {
    return failure();
  }
  auto tiles = cast<flow::TilesType>(op.getWeights().getType());
  const Home &result = homes[op.getOut()];
  WeightFormat format = flow::machineFormat(tiles.getFormat());
  uint32_t cycles = tileCycles(format, tiles.getRows(), tiles.getWidth());
  uint32_t rows = uint32_t(load.getRows()), inner = uint32_t(load.getInner());
  uint32_t passes = uint32_t(op.getTiles()) * inner;
  uint32_t perTile = period(cycles, rows, matmulTicksPerRow(m, format));
  Position at = g.ofPlane(op.getPlane());
  Hemisphere side = g.hemisphereOfPlane(op.getPlane());
  GangBuilder b = gang(op);
  install(op, passes, perTile, b);
  MatmulOp multiply;
  multiply.plane = uint8_t(op.getPlane());
  multiply.format = format;
  multiply.low = uint16_t(op.getLow());
  multiply.high = uint16_t(op.getHigh());
  multiply.tiles = uint32_t(op.getTiles());
  multiply.inner = inner;
  multiply.rows = rows;
  multiply.period = perTile;
  multiply.sums = cast<flow::BufferType>(op.getOut().getType()).getType() ==
                  flow::StreamType::Sum;
  Tick begin = Tick(cycles) - 1 + m.timing.install;
  uint8_t sums = b.drive(inward(side), uint32_t(streamsOf(multiply.result())),
                         begin + matmulOutputStart(m, multiply),
                         matmulOutputShape(m, multiply), at);
  b.writeRuns(sums, result, flow::addressPattern(op.getWrite(), result.base),
              formOf(op.getWrite()));
  multiply.stream = sums;
  multiply.stop = b.stopOf(sums);
  b.add(begin, multiply);
  b.gang.uses = loads[op.getLoaded()];
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

} // namespace orrery::schedule
