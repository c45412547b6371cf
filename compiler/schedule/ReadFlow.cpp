// One function a flow op: its gang.
#include "compiler/schedule/ReadFlow.h"

#include "compiler/schedule/GangBuilder.h"
#include "machine/Timing.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace orrery::schedule {

namespace {

class Reader {
public:
  Reader(FlowProblem &out, const Machine &machine)
      : out(out), m(machine), g(machine.geometry()) {}

  LogicalResult read(mlir::Operation *op);

private:
  LogicalResult memory(mlir::Operation *op, Value value, StringRef name,
                       RegionKind kind, flow::PlaceAttr place);
  LogicalResult readVector(flow::VectorOp op);
  LogicalResult readLoad(flow::LoadOp op);
  LogicalResult readMatmul(flow::MatmulOp op);
  LogicalResult readPermute(flow::PermuteOp op);
  LogicalResult readTranspose(flow::TransposeOp op);
  LogicalResult readReceive(flow::ReceiveOp op);
  LogicalResult readSend(flow::SendOp op);
  LogicalResult readLogits(flow::LogitsOp op);

  GangBuilder gang(mlir::Operation *op) {
    if (out.locations.empty() || out.locations.back() != op->getLoc()) {
      out.locations.push_back(op->getLoc());
    }
    return GangBuilder(m, uint32_t(out.locations.size() - 1));
  }
  Direction outwardOf(int32_t side) const {
    return outward(side == 0 ? Hemisphere::West : Hemisphere::East);
  }
  uint16_t programIndex(VectorProgram program);
  uint16_t mapIndex(ArrayRef<int32_t> map);
  uint32_t period(uint32_t cycles, uint32_t rows, uint32_t perRow) const;

  FlowProblem &out;
  const Machine &m;
  Geometry g;
  llvm::DenseMap<Value, Home> homes;
  llvm::DenseMap<Value, uint32_t> loads;
  uint32_t temporaries = 0;
};

WriteOp formOf(flow::AccessAttr access) {
  WriteOp form;
  form.mask = static_cast<LaneMask>(access.getMask());
  form.low = uint16_t(access.getLow());
  form.high = uint16_t(access.getHigh());
  form.tokenDimension = uint8_t(access.getTokenDim());
  form.stripeBytes = uint8_t(access.getStripeBytes());
  form.stripeStep = access.getStripeStep();
  return form;
}

} // namespace

LogicalResult Reader::read(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, LogicalResult>(op)
      .Case([&](flow::AllocOp o) {
        return memory(o, o.getBuffer(), "tmp." + std::to_string(temporaries++),
                      RegionKind::Temporary, o.getPlaceAttr());
      })
      .Case([&](flow::RegionOp o) {
        return memory(o, o.getMemory(), o.getName(),
                      static_cast<RegionKind>(o.getKind()), o.getPlaceAttr());
      })
      .Case([&](flow::VectorOp o) { return readVector(o); })
      .Case([&](flow::LoadOp o) { return readLoad(o); })
      .Case([&](flow::MatmulOp o) { return readMatmul(o); })
      .Case([&](flow::PermuteOp o) { return readPermute(o); })
      .Case([&](flow::TransposeOp o) { return readTranspose(o); })
      .Case([&](flow::ReceiveOp o) { return readReceive(o); })
      .Case([&](flow::SendOp o) { return readSend(o); })
      .Case([&](flow::LogitsOp o) { return readLogits(o); })
      .Default([](mlir::Operation *o) {
        return o->emitOpError("is no flow op");
      });
}

LogicalResult Reader::memory(mlir::Operation *op, Value value, StringRef name,
                             RegionKind kind, flow::PlaceAttr place) {
  if (!place) {
    return op->emitOpError("has no place: run --flow-allocate first");
  }
  Home home{place.getSlice(), 0, place.getBank(), place.getBase(),
            Memory::Constant, 0};
  uint32_t length;
  if (auto buffer = dyn_cast<flow::BufferType>(value.getType())) {
    home.width = uint32_t(streamsOf(flow::machineType(buffer.getType())));
    length = buffer.getVectors();
  } else {
    auto tiles = cast<flow::TilesType>(value.getType());
    home.width = tiles.getWidth();
    length = tiles.getTiles() *
             tileCycles(flow::machineFormat(tiles.getFormat()),
                        tiles.getRows(), tiles.getWidth());
  }
  if (kind == RegionKind::Temporary) {
    home.memory = Memory::Temporary;
    home.region = uint32_t(out.regions.size());
  } else if (kind == RegionKind::Kv) {
    home.memory = Memory::Kv;
    home.region = out.problem.caches++;
  }
  homes[value] = home;
  std::string unique = name.str();
  if (kind == RegionKind::Weight) {
    auto region = cast<flow::RegionOp>(op);
    unique += "[" + std::to_string(region.getFirst()) + "," +
              std::to_string(region.getLow()) + "]";
  }
  out.regions.push_back({unique, kind, uint16_t(home.slice),
                         uint16_t(home.width), uint8_t(home.bank), home.base,
                         length});
  return success();
}

uint16_t Reader::programIndex(VectorProgram program) {
  auto &all = out.problem.vectorPrograms;
  auto found = std::find(all.begin(), all.end(), program);
  if (found == all.end()) {
    all.push_back(std::move(program));
    return uint16_t(all.size() - 1);
  }
  return uint16_t(found - all.begin());
}

uint16_t Reader::mapIndex(ArrayRef<int32_t> map) {
  std::vector<uint16_t> lanes;
  for (int32_t lane : map) {
    lanes.push_back(lane < 0 ? 0xffff : uint16_t(lane));
  }
  auto found = std::find(out.laneMaps.begin(), out.laneMaps.end(), lanes);
  if (found == out.laneMaps.end()) {
    out.laneMaps.push_back(std::move(lanes));
    return uint16_t(out.laneMaps.size() - 1);
  }
  return uint16_t(found - out.laneMaps.begin());
}

LogicalResult Reader::readVector(flow::VectorOp op) {
  VectorProgram program = op.program();
  auto count = uint32_t(op.getCount());
  GangBuilder b = gang(op);
  VectorOp vector;
  vector.count = count;
  Position vxm = g.ofVxm();
  for (auto [input, read] : llvm::zip_equal(
           op.getInputs(), op.getReads().getAsRange<flow::AccessAttr>())) {
    const Home &home = homes[input];
    uint8_t group = b.read(home, flow::addressPattern(read, home.base),
                           vectorInputShape(m, program, count),
                           b.towards(home.slice, vxm), vxm, vxm);
    vector.in[vector.inputs++] = b.in(group);
  }
  auto writes = llvm::to_vector(op.getWrites().getAsRange<flow::AccessAttr>());
  for (auto [index, output] : llvm::enumerate(program.outputs)) {
    std::optional<uint8_t> group;
    for (auto [to, route] : llvm::enumerate(op.getRoutes())) {
      if (size_t(route) != index) {
        continue;
      }
      const Home &home = homes[op.getOuts()[to]];
      Direction away = outward(g.hemisphereOfSlice(int32_t(home.slice)));
      if (!group) {
        group = b.drive(away, uint32_t(streamsOf(output.type)),
                        vectorOutputStart(m, program, output),
                        vectorOutputShape(m, program, output, count), vxm);
      } else if (b.in(*group).direction != away) {
        return op.emitOpError("writes one output to both hemispheres");
      }
      b.write(*group, home, flow::addressPattern(writes[to], home.base),
              formOf(writes[to]));
    }
    if (!group) {
      return op.emitOpError("output ") << index << " goes nowhere";
    }
    vector.out[vector.outputs++] = b.out(*group);
  }
  vector.program = programIndex(std::move(program));
  b.add(0, vector);
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult Reader::readLoad(flow::LoadOp op) {
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
uint32_t Reader::period(uint32_t cycles, uint32_t rows,
                        uint32_t perRow) const {
  uint32_t multiply = rows * perRow;
  uint32_t held = cycles - 1 + uint32_t(m.timing.install) + multiply;
  return std::max({cycles, multiply, (held + 1) / 2});
}

LogicalResult Reader::readMatmul(flow::MatmulOp op) {
  auto load = op.getLoaded().getDefiningOp<flow::LoadOp>();
  auto tiles = cast<flow::TilesType>(op.getWeights().getType());
  const Home &weights = homes[op.getWeights()];
  const Home &result = homes[op.getOut()];
  WeightFormat format = flow::machineFormat(tiles.getFormat());
  uint32_t cycles = tileCycles(format, tiles.getRows(), tiles.getWidth());
  uint32_t rows = uint32_t(load.getRows()), inner = uint32_t(load.getInner());
  uint32_t passes = uint32_t(op.getTiles()) * inner;
  uint32_t perTile = period(cycles, rows, matmulTicksPerRow(m, format));
  Position at = g.ofPlane(op.getPlane());
  Hemisphere side = g.hemisphereOfPlane(op.getPlane());
  if (op.getPlane() >= g.planes() || (side == Hemisphere::East) !=
                                         (load.getSide() == 1)) {
    auto error = op.emitOpError("plane ")
                 << op.getPlane() << " of " << g.planes()
                 << " is not on the side that the rows were loaded on";
    error.attachNote(load.getLoc()) << "the load";
    return error;
  }

  GangBuilder b = gang(op);
  BurstShape shape{cycles, 1, passes, perTile};
  AddressPattern address;
  address.base = weights.base + uint32_t(op.getFirst()) * cycles;
  address.extent[0] = cycles * passes;
  address.step[0] = 1;
  uint8_t in = b.read(weights, address, shape, outward(side), at, at);
  InstallOp install{uint8_t(op.getPlane()), format, in,
                    uint8_t(tiles.getWidth()), uint16_t(op.getLow()),
                    uint16_t(op.getHigh()), shape};
  b.add(0, install);

  MatmulOp multiply;
  multiply.plane = uint8_t(op.getPlane());
  multiply.format = format;
  multiply.low = uint16_t(op.getLow());
  multiply.high = uint16_t(op.getHigh());
  multiply.tiles = uint32_t(op.getTiles());
  multiply.inner = inner;
  multiply.rows = rows;
  multiply.period = perTile;
  Tick begin = Tick(cycles) - 1 + m.timing.install;
  uint8_t sums = b.drive(inward(side), 4,
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

LogicalResult Reader::readPermute(flow::PermuteOp op) {
  const Home &home = homes[op.getInput()];
  auto type = cast<flow::BufferType>(op.getInput().getType()).getType();
  auto width = uint8_t(streamsOf(flow::machineType(type)));
  auto count = uint32_t(flow::vectorCount(op.getRead()));
  GangBuilder b = gang(op);
  Position sxm = g.ofSxm(op.getSide());
  PermuteOp permute;
  permute.sxm = uint8_t(op.getSide());
  permute.map = mapIndex(op.getMap());
  permute.width = permute.outWidth = width;
  permute.count = count;
  permute.in = b.in(b.read(home, flow::addressPattern(op.getRead(), home.base),
                           {count, 1, 1, 0}, outwardOf(op.getSide()), sxm,
                           sxm));
  uint8_t moved = b.drive(opposite(outwardOf(op.getSide())), width,
                          permuteOutputStart(m, permute),
                          permuteOutputShape(permute), sxm);
  for (auto [to, write] : llvm::zip_equal(
           op.getOuts(), op.getWrites().getAsRange<flow::AccessAttr>())) {
    b.write(moved, homes[to], flow::addressPattern(write, homes[to].base),
            formOf(write));
  }
  permute.out = b.out(moved);
  b.add(0, permute);
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult Reader::readTranspose(flow::TransposeOp op) {
  const Home &home = homes[op.getInput()], &to = homes[op.getOut()];
  auto tiles = cast<flow::TilesType>(op.getOut().getType());
  auto type = cast<flow::BufferType>(op.getInput().getType()).getType();
  auto count = uint32_t(op.getTokens());
  GangBuilder b = gang(op);
  Position sxm = g.ofSxm(op.getSide());
  PermuteOp permute;
  permute.sxm = uint8_t(op.getSide());
  permute.kind = PermuteKind::Transpose;
  permute.width = uint8_t(streamsOf(flow::machineType(type)));
  permute.outWidth = uint8_t(tiles.getWidth());
  permute.rows = uint16_t(op.getRows());
  permute.count = count;
  permute.in = b.in(b.read(home, flow::addressPattern(op.getRead(), home.base),
                           {count, 1, 1, 0}, outwardOf(op.getSide()), sxm,
                           sxm));
  BurstShape shape = permuteOutputShape(permute);
  uint8_t columns = b.drive(opposite(outwardOf(op.getSide())),
                            permute.outWidth, permuteOutputStart(m, permute),
                            shape, sxm);
  AddressPattern address;
  address.base = to.base;
  address.extent[0] = shape.length;
  address.step[0] = 1;
  address.dynamic = Dynamic::Chunk;
  address.dynamicStep = shape.length;
  WriteOp form;
  form.mask = LaneMask::TokenSpan;
  b.write(columns, to, address, form);
  permute.out = b.out(columns);
  b.add(0, permute);
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult Reader::readReceive(flow::ReceiveOp op) {
  const Home &home = homes[op.getOut()];
  uint32_t count = cast<flow::BufferType>(op.getOut().getType()).getVectors();
  auto tokens = op->getParentOfType<flow::ProgramOp>().getTokens();
  out.inputVectors = count / uint32_t(tokens);
  GangBuilder b = gang(op);
  // An f32 vector is four vectors of the link.
  BurstShape shape{count, uint32_t(4 * m.timing.hostVector), 1, 0};
  uint8_t group = b.drive(Direction::West, 4, 0, shape, g.ofHost());
  AddressPattern address;
  address.base = home.base;
  address.extent[0] = count;
  address.step[0] = 1;
  b.write(group, home, address, {});
  b.add(0, ReceiveOp{group, b.stopOf(group), shape});
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult Reader::readSend(flow::SendOp op) {
  const Home &home = homes[op.getInput()];
  uint32_t count = cast<flow::BufferType>(op.getInput().getType()).getVectors();
  GangBuilder b = gang(op);
  BurstShape shape{count, uint32_t(4 * m.timing.hostVector), 1, 0};
  AddressPattern address;
  address.base = home.base;
  address.extent[0] = count;
  address.step[0] = 1;
  uint8_t group = b.read(home, address, shape, Direction::East, g.ofHost(),
                         g.ofHost());
  b.add(0, SendOp{group, shape});
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult Reader::readLogits(flow::LogitsOp op) {
  const Home &home = homes[op.getBuffer()];
  out.logits = {uint16_t(home.slice), uint8_t(home.bank), home.base,
                uint32_t(op.getVectors()), uint32_t(op.getVocab())};
  return success();
}

// Whose addresses a region shares. Which of two comes first is not said: regions
// stand where they were asked for, which need not be where they are written.
// Gangs are in program order, so that when one writes, those of the others that
// were used already are the earlier ones.
static std::vector<std::vector<uint32_t>>
sharedAddresses(ArrayRef<SramRegion> regions) {
  std::vector<std::vector<uint32_t>> out(regions.size());
  llvm::MapVector<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> columns;
  for (uint32_t k = 0; k < regions.size(); ++k) {
    const SramRegion &r = regions[k];
    if (r.kind != RegionKind::Temporary) {
      continue;
    }
    for (uint32_t slice = r.slice; slice < uint32_t(r.slice) + r.width;
         ++slice) {
      auto &column = columns[{slice, r.bank}];
      for (uint32_t other : column) {
        const SramRegion &o = regions[other];
        if (o.base < r.base + r.length && r.base < o.base + o.length) {
          out[k].push_back(other);
          out[other].push_back(k);
        }
      }
      column.push_back(k);
    }
  }
  return out;
}

FailureOr<FlowProblem> readFlow(flow::ProgramOp program,
                                const Machine &machine) {
  FlowProblem out;
  out.problem.machine = &machine;
  Reader reader(out, machine);
  for (mlir::Operation &op : program.getBody().front()) {
    if (failed(reader.read(&op))) {
      return failure();
    }
  }
  out.problem.shares = sharedAddresses(out.regions);
  return std::move(out);
}

} // namespace orrery::schedule
