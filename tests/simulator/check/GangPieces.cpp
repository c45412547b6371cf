// What gangs are put together from: shapes, address patterns, reads and writes.
#include "tests/simulator/check/Builder.h"

namespace orrery::test {

/// The same times cut into runs, now and then.
BurstShape Builder::rewritten(BurstShape s) {
  if (s.runs > 1 || r.chance(50)) {
    return s;
  }
  uint32_t length = r.divisorOf(s.length);
  return {length, s.stride, s.length / length, length * s.stride};
}

BurstShape Builder::anyShape(uint32_t count, uint32_t least) {
  uint32_t length = r.chance(50) ? count : r.divisorOf(count);
  uint32_t stride = least + uint32_t(r.chance(60) ? 0 : r.between(0, 2));
  uint32_t run = (length - 1) * stride + least;
  return {length, stride, count / length,
          count == length ? 0 : run + uint32_t(r.between(0, 4))};
}

/// `count` addresses within [base, base + length), in up to three dimensions.
AddressPattern Builder::anyRead(uint32_t base, uint32_t length,
                                uint32_t count) {
  AddressPattern a;
  a.extent[0] = r.divisorOf(count);
  a.extent[1] = r.divisorOf(count / a.extent[0]);
  a.extent[2] = count / a.extent[0] / a.extent[1];
  int64_t room = length - 1, low = 0;
  for (int k = 0; k < 3; ++k) {
    if (a.extent[k] > 1) {
      int64_t most = room / (a.extent[k] - 1);
      int64_t step =
          r.chance(60) ? std::min<int64_t>(most, 1) : r.between(0, most);
      room -= step * (a.extent[k] - 1);
      a.step[k] = int32_t(r.chance(80) ? step : -step);
      low += a.step[k] < 0 ? step * (a.extent[k] - 1) : 0;
    }
  }
  a.base = base + uint32_t(low + r.between(0, room));
  return a;
}

/// Every address of [base, base + length) once.
AddressPattern Builder::permutation(uint32_t base, uint32_t length) {
  AddressPattern a;
  a.base = base;
  a.extent[0] = r.divisorOf(length);
  a.extent[1] = length / a.extent[0];
  switch (r.between(0, 2)) {
  case 0:
    a.step = {1, int32_t(a.extent[0]), 0};
    break;
  case 1:
    a.step = {int32_t(a.extent[1]), 1, 0};
    break;
  default:
    a.base += length - 1;
    a.step = {-1, -int32_t(a.extent[0]), 0};
  }
  return a;
}

const Value &Builder::anyValue(std::vector<StreamType> types) {
  std::vector<const Value *> fit;
  for (const Value &v : values) {
    if (std::find(types.begin(), types.end(), v.type) != types.end()) {
      fit.push_back(&v);
    }
  }
  return *r.of(fit);
}

Flow Builder::read(Gang &gang, const Value &value, Position to, Tick tick,
                   const BurstShape &shape, const AddressPattern &address,
                   int width) {
  const SramRegion &region = plan.regions[value.region].region;
  width = width ? width : streamsOf(value.type);
  Direction d =
      g.ofSlice(region.slice) < to ? Direction::East : Direction::West;
  ReadOp op{region.slice, uint8_t(width),           region.bank,
            address,      {{d, stream(width)}, to}, rewritten(shape)};
  Tick diag = diagonal(d, tick, to);
  Tick issue = passes(d, diag, g.ofSlice(region.slice)) - m.timing.read;
  size_t index = gang.add(issue, op);
  for (const Touch &t : touchesOf(gang.instructions[index], m)) {
    gang.require(t.tick, plan.readableFrom(t));
  }
  int last = d == Direction::East ? region.slice + width - 1 : region.slice;
  Flow flow{index, 0, op.out.ref, width, diag, g.ofSlice(last), shape};
  return flow;
}

Flow Builder::read(Gang &gang, const Value &value, Position to, Tick tick,
                   BurstShape shape) {
  const SramRegion &region = plan.regions[value.region].region;
  return read(gang, value, to, tick, shape,
              anyRead(region.base, region.length, uint32_t(shape.count())));
}

Flow Builder::flowOf(Gang &, size_t producer, int output, StreamOut &out,
                     int width, Position from, Tick first,
                     const BurstShape &shape) {
  out.stop = from;
  return {producer,
          output,
          out.ref,
          width,
          diagonal(out.ref.direction, first, from),
          from,
          shape};
}

/// Slices that the flow still passes.
std::pair<int, int> Builder::downstream(const Flow &flow) const {
  int low = g.slices(), high = -1;
  for (int s = 0; s < g.slices(); ++s) {
    Position at = g.ofSlice(s);
    if (flow.ref.direction == Direction::East ? at > flow.from
                                              : at < flow.from) {
      low = std::min(low, s);
      high = std::max(high, s);
    }
  }
  return {low, high};
}

size_t Builder::write(Gang &gang, const Flow &flow, int slot, int width,
                      const BurstShape &shape, Tick diag, int region,
                      const AddressPattern &address) {
  const SramRegion &to = plan.regions[region].region;
  StreamRef in{flow.ref.direction, uint8_t(flow.ref.stream + slot)};
  WriteOp op{to.slice, uint8_t(width), to.bank, address, in, rewritten(shape)};
  Tick tick = passes(in.direction, diag, g.ofSlice(to.slice));
  size_t index = gang.add(tick, op);
  for (const Touch &t : touchesOf(gang.instructions[index], m)) {
    gang.require(t.tick, plan.writableFrom(t));
  }
  for (int s = to.slice; s < to.slice + width; ++s) {
    extend(gang, flow, g.ofSlice(s));
  }
  return index;
}

int Builder::storeOnce(Gang &gang, const Flow &flow, int slot, int width,
                       BurstShape shape, Tick diag, uint64_t count) {
  auto [low, high] = downstream(flow);
  int region =
      addRegion("temp", RegionKind::Temporary, width, int(count), low, high);
  write(gang, flow, slot, width, shape, diag, region,
        permutation(plan.regions[region].region.base, uint32_t(count)));
  return region;
}

void Builder::store(Gang &gang, const Flow &flow, StreamType type) {
  const BurstShape &s = flow.shape;
  if (s.runs == 1 && s.length > 1 && r.chance(20)) { // two parts of the burst
    auto first = uint32_t(r.between(1, s.length - 1));
    values.push_back({storeOnce(gang, flow, 0, flow.width,
                                {first, s.stride, 1, 0}, flow.diagonal, first),
                      type});
    values.push_back({storeOnce(gang, flow, 0, flow.width,
                                {s.length - first, s.stride, 1, 0},
                                flow.diagonal + s.at(first), s.length - first),
                      type});
    return;
  }
  if (flow.width > 1 && r.chance(10)) { // byte planes in two places
    int half = flow.width / 2;
    storeOnce(gang, flow, 0, half, s, flow.diagonal, s.count());
    storeOnce(gang, flow, half, flow.width - half, s, flow.diagonal, s.count());
    return;
  }
  for (int copies = r.chance(20) ? 2 : 1; copies > 0; --copies) {
    values.push_back(
        {storeOnce(gang, flow, 0, flow.width, s, flow.diagonal, s.count()),
         type});
  }
}

uint16_t Builder::anyProgram(int inputs, bool reduce,
                             std::vector<StreamType> types) {
  VectorProgram p;
  for (int i = 0; i < inputs; ++i) {
    p.inputs.push_back(
        r.of<StreamType>({StreamType::F32, StreamType::F16, StreamType::I8}));
  }
  int steps = int(r.between(inputs == 0 ? 1 : 0, 6));
  for (int i = 0; i < steps; ++i) {
    auto value = [&] {
      return uint8_t(r.between(0, int(p.inputs.size() + p.steps.size()) - 1));
    };
    AluStep s{AluOp::Immediate};
    if (p.inputs.size() + p.steps.size() > 0) {
      s.op = r.of<AluOp>({AluOp::Add, AluOp::Mul, AluOp::Max, AluOp::Exp,
                          AluOp::Sqrt, AluOp::KvCode, AluOp::Immediate,
                          AluOp::AddBits});
    }
    bool two = s.op == AluOp::Add || s.op == AluOp::Mul || s.op == AluOp::Max ||
               s.op == AluOp::AddBits;
    s.a = s.op == AluOp::Immediate ? uint8_t(0) : value();
    s.b = two ? value() : uint8_t(0);
    s.width = s.op == AluOp::KvCode ? 16 : 0;
    s.immediate = s.op == AluOp::Immediate ? 1.5f : 0.0f;
    p.steps.push_back(s);
  }
  auto last = uint8_t(p.inputs.size() + p.steps.size() - 1);
  for (StreamType type : types) {
    bool f32 = reduce && type == StreamType::F32 && r.chance(70);
    p.outputs.push_back(
        {last, type,
         f32 ? r.of<Reduction>({Reduction::SumWide, Reduction::Max,
                                Reduction::ArgMax, Reduction::ArgBest})
             : Reduction::None});
  }
  p.group = reduce ? uint32_t(r.between(1, 4)) : 1;
  program.vectorPrograms.push_back(p);
  return uint16_t(program.vectorPrograms.size() - 1);
}

} // namespace orrery::test
