// Weights to install, activations to load, and the matmul that uses them.
#include "tests/simulator/check/Builder.h"

#include <cstdlib>

namespace orrery::test {

std::vector<int> Builder::planesOf(int plane, bool f16) const {
  std::vector<int> result;
  for (int p = 0; p < g.planes(); ++p) {
    if (f16 ? g.hemisphereOfPlane(p) == g.hemisphereOfPlane(plane)
            : p == plane) {
      result.push_back(p);
    }
  }
  return result;
}

Builder::Tiles Builder::planTiles(int plane) {
  Tiles t{};
  WeightFormat format =
      r.of<WeightFormat>({WeightFormat::Q8, WeightFormat::Q4, WeightFormat::I8,
                          WeightFormat::F16});
  if (format == WeightFormat::F16) {
    plane = plane / g.planesPerHemisphere * g.planesPerHemisphere;
  }
  int unit = format == WeightFormat::Q8 || format == WeightFormat::Q4 ? 16 : 1;
  int rows = unit * int(r.between(1, m.lanes / unit));
  int low = int(r.between(0, m.lanes - rows));
  MatmulOp &mm = t.matmul;
  mm.plane = uint8_t(plane);
  mm.format = format;
  mm.low = uint16_t(low);
  mm.high = uint16_t(low + rows);
  mm.tiles = uint32_t(r.between(1, 3));
  mm.inner = uint32_t(r.between(1, 2));
  mm.rows = uint32_t(r.between(1, 4));
  mm.base = uint16_t(
      r.between(0, m.matrix.activationVectors - int(mm.inner * mm.rows)));
  mm.sums = r.chance(25);
  mm.stream = stream(streamsOf(mm.result()));
  InstallOp &in = t.install;
  in.plane = uint8_t(plane);
  in.format = format;
  in.low = mm.low;
  in.high = mm.high;
  in.width = uint8_t(r.between(1, m.matrix.installStreams));
  in.stream = stream(in.width);
  uint32_t cycles = tileCycles(format, uint32_t(rows), in.width);
  uint32_t stride = r.chance(70) ? 1 : 2;
  Tick span = Tick(cycles - 1) * stride;
  Tick pass = Tick(mm.rows) * matmulTicksPerRow(m, format);
  Tick slack = r.between(0, 3);
  // Two periods cover a tile's way through its buffer.
  Tick need = (span + m.timing.install + slack + pass) / 2 + 1;
  Tick period = std::max({span + 1, pass, need}) + r.between(0, 2);
  uint32_t runs = mm.tiles * mm.inner;
  mm.period = uint32_t(period);
  in.shape = {cycles, stride, runs, runs == 1 ? 0 : uint32_t(period)};
  t.matmulTick = 0;
  t.installTick = -(span + m.timing.install + slack);
  return t;
}

void Builder::installWeights(Gang &gang, const Tiles &t) {
  const InstallOp &in = t.install;
  uint32_t cycles = in.shape.length, runs = in.shape.runs;
  std::vector<int> kv;
  for (const Value &v : values) {
    const SramRegion &region = plan.regions[v.region].region;
    if (region.kind == RegionKind::Kv && region.width >= in.width) {
      kv.push_back(v.region);
    }
  }
  Value source{-1, StreamType::I8};
  AddressPattern address;
  if (!kv.empty() && r.chance(60)) {
    source.region = r.of(kv);
    const SramRegion &region = plan.regions[source.region].region;
    address = anyRead(region.base, region.length, cycles * runs);
  } else {
    source.region = addRegion("weight", RegionKind::Weight, in.width,
                              int(cycles * runs), 0, g.slices() - 1, true);
    address.base = plan.regions[source.region].region.base;
    address.extent = {cycles * runs, 1, 1};
    address.step = {1, 0, 0};
  }
  Position at = g.ofPlane(in.plane);
  Flow flow =
      read(gang, source, at, t.installTick, in.shape, address, in.width);
  InstallOp op = in;
  op.stream = flow.ref.stream;
  gang.add(t.installTick, op);
}

void Builder::loadActivations(Gang &gang, const Tiles &t) {
  const MatmulOp &mm = t.matmul;
  bool f16 = mm.format == WeightFormat::F16;
  StreamType type = f16 ? StreamType::F16 : StreamType::A8;
  uint32_t count = mm.inner * mm.rows;
  Position at = g.ofPlane(mm.plane);
  LoadOp op{mm.plane, f16, 0, mm.base, {count, 1, 1, 0}};
  if (r.chance(40)) { // quantized on the way
    uint16_t index = anyProgram(1, false, {type});
    const VectorProgram p = program.vectorPrograms[index];
    BurstShape shape = vectorInputShape(m, p, count);
    Tick start = vectorOutputStart(m, p, p.outputs[0]);
    Tick way = std::abs(at - g.ofVxm());
    Tick tick = -(m.timing.load + shape.span() + start + way) - r.between(0, 5);
    VectorOp v;
    v.program = index;
    v.count = count;
    v.inputs = v.outputs = 1;
    v.in[0] = read(gang, anyValue({p.inputs[0]}), g.ofVxm(), tick, shape).ref;
    v.out[0] = {{outward(g.hemisphereOfPlane(mm.plane)), stream(2)}, at};
    gang.add(tick, v);
    op.stream = v.out[0].ref.stream;
    op.shape = shape;
    gang.add(tick + start + way, op);
  } else {
    op.shape = anyShape(count);
    Tick tick = -(m.timing.load + op.shape.span()) - r.between(0, 5);
    op.stream = read(gang, anyValue({type}), at, tick, op.shape).ref.stream;
    gang.add(tick, op);
  }
  const Instruction &load = gang.instructions.back();
  for (uint64_t n = 0; n < op.shape.count(); ++n) {
    gang.require(load.tick + op.shape.at(n),
                 planes[mm.plane].lastUse[op.base + n] + 1);
  }
}

/// The plane's earlier tiles are used first, and leave their buffers.
void Builder::requirePlane(Gang &gang, const Tiles &t) {
  for (int p : planesOf(t.matmul.plane, t.matmul.format == WeightFormat::F16)) {
    const PlaneState &state = planes[p];
    gang.require(t.installTick, state.lastInstall + 1);
    gang.require(t.installTick, state.freedBefore + 1);
    gang.require(t.installTick + t.install.shape.period, state.freedLast + 1);
    gang.require(t.matmulTick, state.lastStart + 1);
  }
}

void Builder::enterPlane(const Tiles &t, Tick shift) {
  const MatmulOp &mm = t.matmul;
  Tick perRow = matmulTicksPerRow(m, mm.format);
  Tick rows = Tick(mm.rows - 1) * perRow;
  uint32_t passes = mm.tiles * mm.inner;
  for (int p : planesOf(mm.plane, mm.format == WeightFormat::F16)) {
    PlaneState &s = planes[p];
    Tick last = shift + t.matmulTick + Tick(passes - 1) * mm.period;
    s.lastInstall = shift + t.installTick + t.install.shape.span();
    s.lastStart = last;
    s.freedBefore = passes > 1 ? last - mm.period + rows : s.freedLast;
    s.freedLast = last + rows;
  }
  for (uint32_t k = 0; k < mm.inner; ++k) {
    for (uint32_t row = 0; row < mm.rows; ++row) {
      planes[mm.plane].lastUse[mm.base + k * mm.rows + row] =
          shift + t.matmulTick +
          Tick((mm.tiles - 1) * mm.inner + k) * mm.period + row * perRow;
    }
  }
}

void Builder::matmul(Gang &gang) {
  Tiles t = planTiles(int(r.between(0, g.planes() - 1)));
  installWeights(gang, t);
  loadActivations(gang, t);
  requirePlane(gang, t);
  size_t index = gang.add(t.matmulTick, t.matmul);
  StreamOut out{{inward(g.hemisphereOfPlane(t.matmul.plane)), t.matmul.stream},
                0};
  Position at = g.ofPlane(t.matmul.plane);
  Flow flow = flowOf(gang, index, 0, out, streamsOf(t.matmul.result()), at,
                     t.matmulTick + matmulOutputStart(m, t.matmul),
                     matmulOutputShape(m, t.matmul));
  stopOf(gang.instructions[index].operation, 0) = at;
  store(gang, flow, t.matmul.result());
  placing = {t};
}

} // namespace orrery::test
