// The kinds of gangs, except matmul.
#include "tests/simulator/check/Builder.h"

#include <algorithm>

namespace orrery::test {

void Builder::addTables() {
  auto add = [&](StreamType type, int low, int high) {
    int region = addRegion("table", RegionKind::Table, streamsOf(type),
                           int(r.between(1, 12)), low, high);
    values.push_back({region, type});
  };
  int last = g.slices() - 1;
  for (StreamType type : {StreamType::F32, StreamType::F32, StreamType::F16,
                          StreamType::I8, StreamType::A8}) {
    if (linkStates.empty()) {
      add(type, 0, last);
    } else { // two at once, in slices apart, for a message
      add(type, 0, last / 2);
      add(type, last / 2 + 1, last);
    }
  }
  for (int i = 0; i < 2; ++i) {
    std::vector<uint16_t> map(size_t(m.lanes));
    for (uint16_t &from : map) {
      from = r.chance(10) ? 0xffff : uint16_t(r.between(0, m.lanes - 1));
    }
    program.laneMaps.push_back(map);
  }
}

bool Builder::addGang() {
  switch (r.between(0, 9)) {
  case 0:
  case 1:
  case 2:
    return attempt("vector", [&](Gang &gang) { vector(gang); });
  case 3:
  case 4:
  case 5:
    return attempt("matmul", [&](Gang &gang) { matmul(gang); });
  case 6:
    return attempt("permute", [&](Gang &gang) { permute(gang); });
  case 7:
    return attempt("send", [&](Gang &gang) { send(gang); });
  case 8:
    return attempt("patch", [&](Gang &gang) { patch(gang); });
  default:
    return attempt("copy", [&](Gang &gang) { copy(gang); });
  }
}

void Builder::receive(Gang &gang) {
  uint32_t count = program.tokens * program.inputVectors;
  BurstShape shape = anyShape(count, uint32_t(m.timing.hostVector));
  ReceiveOp op{stream(4), 0, shape};
  size_t index = gang.add(0, op);
  gang.require(0, m.timing.host);
  StreamOut out{{Direction::West, op.stream}, 0};
  Flow flow = flowOf(gang, index, 0, out, 4, g.ofHost(), 0, shape);
  stopOf(gang.instructions[index].operation, 0) = g.ofHost();
  store(gang, flow, StreamType::F32);
}

/// K cache: token rows striped over slices.
void Builder::append(Gang &gang) {
  bool wide = r.chance(30);
  StreamType type = wide ? StreamType::F16 : StreamType::I8;
  int bytes = streamsOf(type);
  int width = int(r.between(2, std::min(6, m.matrix.installStreams)));
  int perChunk = (m.lanes * bytes + width - 1) / width;
  int chunks = (int(program.context) - 1) / m.lanes + 1;
  Value source = anyValue({type});
  const SramRegion from = plan.regions[source.region].region;
  BurstShape shape = anyShape(program.tokens);
  int kv = addRegion("kv", RegionKind::Kv, width, perChunk * chunks, 0,
                     g.slices() - 1);
  const SramRegion &to = plan.regions[kv].region;
  bool east = g.ofSlice(from.slice) < g.ofSlice(to.slice);
  if (east ? from.slice + bytes > to.slice : from.slice < to.slice + width) {
    throw NoRoom();
  }
  Position end = g.ofSlice(east ? to.slice + width - 1 : to.slice);
  Flow flow = read(gang, source, end, 0, shape);
  WriteOp op{to.slice, uint8_t(width), to.bank, {}, flow.ref, shape};
  op.address.base = to.base;
  op.address.extent = {program.tokens, 1, 1};
  op.stripeBytes = uint8_t(bytes);
  op.stripeStep = uint32_t(perChunk);
  Tick tick = passes(flow.ref.direction, flow.diagonal, g.ofSlice(to.slice));
  gang.add(tick, op);
  values.push_back({kv, StreamType::I8});
}

/// V cache: token vectors turned into columns.
void Builder::transpose(Gang &gang) {
  StreamType type = r.of<StreamType>({StreamType::I8, StreamType::F16});
  Value source = anyValue({type});
  PermuteOp op{};
  op.sxm = uint8_t(r.between(0, 1));
  op.kind = PermuteKind::Transpose;
  op.width = uint8_t(streamsOf(type));
  op.outWidth = uint8_t(r.between(1, 4));
  op.rows = uint16_t(r.between(1, m.lanes));
  op.count = program.tokens;
  Position at = g.ofSxm(op.sxm);
  Flow in = read(gang, source, at, 0, {op.count, 1, 1, 0});
  op.in = in.ref;
  op.out.ref = {op.sxm == 0 ? Direction::East : Direction::West,
                stream(op.outWidth)};
  BurstShape shape = permuteOutputShape(op);
  Tick first = permuteOutputStart(m, op);
  size_t index = gang.add(0, op);
  StreamOut &out = std::get<PermuteOp>(gang.instructions[index].operation).out;
  Flow flow = flowOf(gang, index, 0, out, op.outWidth, at, first, shape);
  int chunks = (int(program.context) - 1) / m.lanes + 1;
  int kv = addRegion("kv", RegionKind::Kv, op.outWidth,
                     int(shape.length) * chunks, 0, g.slices() - 1);
  AddressPattern address;
  address.base = plan.regions[kv].region.base;
  address.extent = {shape.length, 1, 1};
  address.step = {1, 0, 0};
  address.dynamic = Dynamic::Chunk;
  address.dynamicStep = shape.length;
  size_t w =
      write(gang, flow, 0, op.outWidth, shape, flow.diagonal, kv, address);
  std::get<WriteOp>(gang.instructions[w].operation).mask = LaneMask::TokenSpan;
  values.push_back({kv, StreamType::I8});
}

void Builder::copy(Gang &gang) {
  const Value source = anyValue(
      {StreamType::F32, StreamType::F16, StreamType::I8, StreamType::A8});
  const SramRegion from = plan.regions[source.region].region;
  int width = streamsOf(source.type);
  bool east = r.chance(50);
  Position edge = east ? g.ofHost() : 0;
  BurstShape shape = anyShape(uint32_t(r.between(1, 12)));
  Flow flow = read(gang, source, edge, 0, shape);
  // From the slice itself: `stop` grows with the consumers.
  flow.from = g.ofSlice(east ? from.slice + width - 1 : from.slice);
  stopOf(gang.instructions[flow.producer].operation, 0) = flow.from;
  auto [low, high] = downstream(flow);
  if (high - low + 1 < width) {
    throw NoRoom();
  }
  store(gang, flow, source.type);
}

void Builder::vectorInto(Gang &gang, uint16_t index, uint32_t count,
                         bool toLogits) {
  const VectorProgram p = program.vectorPrograms[index];
  VectorOp op;
  op.program = index;
  op.count = count;
  op.inputs = uint8_t(p.inputs.size());
  op.outputs = uint8_t(p.outputs.size());
  BurstShape in = vectorInputShape(m, p, count);
  for (int i = 0; i < op.inputs; ++i) {
    op.in[i] = read(gang, anyValue({p.inputs[i]}), g.ofVxm(), 0, in).ref;
  }
  for (int i = 0; i < op.outputs; ++i) {
    Direction d = r.chance(50) ? Direction::East : Direction::West;
    op.out[i].ref = {d, stream(streamsOf(p.outputs[i].type))};
  }
  size_t at = gang.add(0, op);
  for (int i = 0; i < op.outputs; ++i) {
    const VectorOutput &o = p.outputs[i];
    StreamOut &out = std::get<VectorOp>(gang.instructions[at].operation).out[i];
    Flow flow =
        flowOf(gang, at, i, out, streamsOf(o.type), g.ofVxm(),
               vectorOutputStart(m, p, o), vectorOutputShape(m, p, o, count));
    if (toLogits) {
      logitsRegion = storeOnce(gang, flow, 0, 4, flow.shape, flow.diagonal,
                               flow.shape.count());
    } else {
      store(gang, flow, o.type);
    }
  }
}

/// Adds accumulators that a matmul has left.
uint16_t Builder::sumsProgram() {
  StreamType type = r.chance(50) ? StreamType::F32 : StreamType::Sum;
  program.vectorPrograms.push_back({{StreamType::Sum},
                                    {},
                                    {{0, type, Reduction::AddSums}},
                                    uint32_t(r.between(1, 4))});
  return uint16_t(program.vectorPrograms.size() - 1);
}

void Builder::vector(Gang &gang) {
  bool sums = std::ranges::any_of(
      values, [](const Value &v) { return v.type == StreamType::Sum; });
  if (sums && r.chance(30)) {
    uint16_t index = sumsProgram();
    uint32_t group = program.vectorPrograms[index].group;
    return vectorInto(gang, index, group * uint32_t(r.between(1, 5)), false);
  }
  std::vector<StreamType> types;
  for (int i = int(r.between(1, 2)); i > 0; --i) {
    types.push_back(
        r.of<StreamType>({StreamType::F32, StreamType::F32, StreamType::F16,
                          StreamType::I8, StreamType::A8}));
  }
  uint16_t index = anyProgram(int(r.between(0, 3)), r.chance(40), types);
  uint32_t group = program.vectorPrograms[index].group;
  vectorInto(gang, index, group * uint32_t(r.between(1, 5)), false);
}

void Builder::logits(Gang &gang) {
  uint16_t index = anyProgram(1, false, {StreamType::F32});
  vectorInto(gang, index, program.tokens * uint32_t(r.between(1, 3)), true);
}

void Builder::permute(Gang &gang) {
  const Value source =
      anyValue({StreamType::F32, StreamType::F16, StreamType::I8});
  PermuteOp op{};
  op.sxm = uint8_t(r.between(0, 1));
  op.map = uint16_t(r.between(0, 1));
  op.width = uint8_t(streamsOf(source.type));
  op.count = uint32_t(r.between(1, 8));
  Position at = g.ofSxm(op.sxm);
  BurstShape shape{op.count, 1, 1, 0};
  op.in = read(gang, source, at, 0, shape).ref;
  op.out.ref = {op.sxm == 0 ? Direction::East : Direction::West,
                stream(op.width)};
  size_t index = gang.add(0, op);
  StreamOut &out = std::get<PermuteOp>(gang.instructions[index].operation).out;
  Flow flow = flowOf(gang, index, 0, out, op.width, at,
                     permuteOutputStart(m, op), shape);
  store(gang, flow, source.type);
}

void Builder::send(Gang &gang) {
  BurstShape shape =
      anyShape(uint32_t(r.between(1, 6)), uint32_t(m.timing.hostVector));
  Flow flow = read(gang, anyValue({StreamType::F32}), g.ofHost(), 0, shape);
  gang.add(0, SendOp{flow.ref.stream, shape});
}

/// Overwrites some lanes of a Temporary in place.
void Builder::patch(Gang &gang) {
  std::vector<Value> fit;
  for (const Value &v : values) {
    if (plan.regions[v.region].region.kind == RegionKind::Temporary &&
        v.type == StreamType::F32) {
      fit.push_back(v);
    }
  }
  if (fit.empty()) {
    throw NoRoom();
  }
  Value target = r.of(fit);
  const PlannedRegion to = plan.regions[target.region];
  const Value source = anyValue({StreamType::F32});
  const SramRegion from = plan.regions[source.region].region;
  bool east = from.slice + 4 <= to.region.slice;
  if (!east && to.region.slice + 4 > from.slice) {
    throw NoRoom();
  }
  auto count = uint32_t(r.between(1, to.region.length));
  BurstShape shape = anyShape(count);
  Position end = g.ofSlice(east ? to.region.slice + 3 : to.region.slice);
  Flow flow = read(gang, source, end, 0, shape);
  AddressPattern address;
  address.base =
      to.region.base + uint32_t(r.between(0, to.region.length - count));
  address.extent = {count, 1, 1};
  address.step = {1, 0, 0};
  size_t w =
      write(gang, flow, 0, 4, shape, flow.diagonal, target.region, address);
  auto &op = std::get<WriteOp>(gang.instructions[w].operation);
  op.mask = LaneMask::Range;
  op.low = uint16_t(r.between(0, m.lanes - 1));
  op.high = uint16_t(r.between(op.low + 1, m.lanes));
  for (const Touch &t : touchesOf(gang.instructions[w], m)) {
    gang.require(t.tick, to.lastTick + 1);
  }
}

} // namespace orrery::test
