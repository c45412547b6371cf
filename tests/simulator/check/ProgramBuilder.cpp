#include "tests/simulator/check/ProgramBuilder.h"

#include "machine/Timing.h"
#include "tests/simulator/check/Gang.h"
#include "tests/simulator/check/SramPlan.h"

#include <cstdio>
#include <cstdlib>

namespace orrery::test {

namespace {

/// Thrown when a gang finds no room; the builder drops the gang.
struct NoRoom {};

Machine randomMachine(Random &r) {
  Machine m = *loadMachine("lpu-small");
  m.name = "random";
  m.lanes = int(32 * r.between(1, 3));
  m.streamsPerDirection = int(r.of<int64_t>({16, 24, 32}));
  m.alusPerLane = int(r.between(1, 4));
  m.sram.slicesPerHemisphere = int(r.between(6, 14));
  m.sram.banks = int(r.of<int64_t>({2, 2, 4}));
  m.sram.vectorsPerBank = int(r.of<int64_t>({256, 512, 1024}));
  m.matrix.planesPerHemisphere = int(r.between(1, 2));
  m.matrix.installStreams = int(r.of<int64_t>({4, 8, 16}));
  m.matrix.activationVectors = int(r.between(16, 64));
  m.matrix.f16TicksPerRow = int(r.between(1, 3));
  TimingParameters &t = m.timing;
  for (Tick *p : {&t.read, &t.write, &t.load, &t.install, &t.alu}) {
    *p = r.between(1, 6);
  }
  for (Tick *p :
       {&t.matmul, &t.special, &t.cross, &t.reduce, &t.permute, &t.transpose}) {
    *p = r.between(1, 20);
  }
  t.host = r.between(1, 40);
  t.hostVector = r.between(1, 5);
  return m;
}

/// What a plane has been told to do so far.
struct PlaneState {
  Tick lastInstall = -1;                 ///< last cycle of the last tile
  Tick lastStart = -1;                   ///< of the last pass
  Tick freedBefore = -1, freedLast = -1; ///< last rows of the last two passes
  std::vector<Tick> lastUse;             ///< of each activation entry
};

class Builder {
public:
  explicit Builder(uint64_t seed)
      : r(seed), m(randomMachine(r)), g(m.geometry()), plan(m),
        planes(g.planes()) {
    for (PlaneState &p : planes) {
      p.lastUse.assign(m.matrix.activationVectors, -1);
    }
    program.machineJson = formatMachine(m);
    program.modelName = "random " + std::to_string(seed);
    program.modelHash = seed;
    program.tokens = uint32_t(r.between(1, 4));
    program.context = uint32_t(r.between(program.tokens, 3 * m.lanes));
    program.bucket = uint32_t(r.between(program.tokens, program.context));
    program.inputVectors = uint32_t(r.between(1, 3));
    program.locations = {"unknown"};
  }

  BuiltProgram build() {
    addTables();
    attempt("receive", [&](Gang &gang) { receive(gang); }, true);
    attempt("append", [&](Gang &gang) { append(gang); });
    attempt("transpose", [&](Gang &gang) { transpose(gang); });
    int gangs = int(r.between(6, 24));
    for (int i = 0; i < gangs; ++i) {
      addGang();
      retireSome();
    }
    attempt("logits", [&](Gang &gang) { logits(gang); }, true);
    finish();
    return {m, program};
  }

private:
  template <class F> void attempt(const char *name, F make, bool must = false) {
    for (int tries = 0; tries < (must ? 400 : 6); ++tries) {
      SramPlan before = plan;
      Gang gang;
      vectorProgramsBefore = program.vectorPrograms.size();
      valuesBefore = values.size();
      try {
        make(gang);
        if (place(gang, name)) {
          return;
        }
      } catch (NoRoom) {
        placing.clear();
      }
      plan = before;
      values.resize(valuesBefore);
      program.vectorPrograms.resize(vectorProgramsBefore);
    }
    if (must) {
      std::fprintf(stderr, "program builder: no room for %s\n", name);
      std::abort();
    }
  }
  bool place(Gang &gang, const char *name);
  void addTables();
  void addGang();
  void retireSome();
  void finish();

  // Pieces of gangs.
  uint8_t stream(int width) {
    return uint8_t(r.between(0, m.streamsPerDirection - width));
  }
  int addRegion(const char *name, RegionKind kind, int width, int length,
                int low, int high, bool anywhere = false) {
    auto region = plan.add(r, name, kind, width, length, low, high, anywhere);
    if (!region) {
      throw NoRoom();
    }
    return *region;
  }
  BurstShape rewritten(BurstShape s);
  BurstShape anyShape(uint32_t count, uint32_t least = 1);
  AddressPattern anyRead(uint32_t base, uint32_t length, uint32_t count);
  AddressPattern permutation(uint32_t base, uint32_t length);
  const Value &anyValue(std::vector<StreamType> types);
  /// Reads `count` vectors of a value so that vector 0 is at `to` at `tick`.
  Flow read(Gang &gang, const Value &value, Position to, Tick tick,
            const BurstShape &shape, const AddressPattern &address,
            int width = 0);
  Flow read(Gang &gang, const Value &value, Position to, Tick tick,
            BurstShape shape);
  Flow flowOf(Gang &gang, size_t producer, int output, StreamOut &out,
              int width, Position from, Tick first, const BurstShape &shape);
  /// Writes what flows to a new Temporary (or several), as `type`.
  void store(Gang &gang, const Flow &flow, StreamType type);
  int storeOnce(Gang &gang, const Flow &flow, int slot, int width,
                BurstShape shape, Tick diagonal, uint64_t count);
  size_t write(Gang &gang, const Flow &flow, int slot, int width,
               const BurstShape &shape, Tick diagonal, int region,
               const AddressPattern &address);
  std::pair<int, int> downstream(const Flow &flow) const;
  uint16_t anyProgram(int inputs, bool reduce, std::vector<StreamType> types);
  Flow pass(Gang &gang, const Flow &in, StreamType to);

  // Gangs.
  void receive(Gang &gang);
  void append(Gang &gang);
  void transpose(Gang &gang);
  void copy(Gang &gang);
  void vector(Gang &gang);
  void permute(Gang &gang);
  void matmul(Gang &gang);
  void send(Gang &gang);
  void patch(Gang &gang);
  void logits(Gang &gang);
  void vectorInto(Gang &gang, uint16_t index, uint32_t count, bool toLogits);

  // Parts of the matmul gang.
  struct Tiles {
    InstallOp install;
    MatmulOp matmul;
    Tick installTick, matmulTick;
  };
  Tiles planTiles(int plane);
  void installWeights(Gang &gang, const Tiles &t);
  void loadActivations(Gang &gang, const Tiles &t);
  void requirePlane(Gang &gang, const Tiles &t);
  void enterPlane(const Tiles &t, Tick shift);
  std::vector<int> planesOf(int plane, bool f16) const;

  Random r;
  Machine m;
  Geometry g;
  SramPlan plan;
  Board board;
  Program program = {};
  std::vector<Value> values;
  std::vector<PlaneState> planes;
  std::vector<Tiles> placing; ///< the matmul of the gang being placed
  size_t vectorProgramsBefore = 0, valuesBefore = 0;
  int logitsRegion = -1;
};

//===-- Placing -----------------------------------------------------------===//

bool Builder::place(Gang &gang, const char *name) {
  std::vector<BoardCell> cells;
  for (Instruction &i : gang.instructions) {
    auto own = cellsOf(i, program, m);
    cells.insert(cells.end(), own.begin(), own.end());
    gang.require(earliestTick(i, m), 0);
  }
  Board alone;
  if (!alone.take(cells, 0)) {
    placing.clear();
    return false;
  }
  Tick shift = gang.shift;
  for (int tries = 0; !board.isFree(cells, shift); ++shift, ++tries) {
    if (tries > 4000) {
      placing.clear();
      return false;
    }
  }
  board.take(cells, shift);
  program.locations.push_back(std::string(name) + " " +
                              std::to_string(program.locations.size()));
  for (Instruction &i : gang.instructions) {
    i.tick += shift;
    i.location = uint32_t(program.locations.size() - 1);
    plan.enter(i);
    program.instructions.push_back(i);
  }
  for (const Tiles &t : placing) {
    enterPlane(t, shift);
  }
  placing.clear();
  return true;
}

void Builder::retireSome() {
  for (size_t v = 0; v < values.size(); ++v) {
    PlannedRegion &region = plan.regions[values[v].region];
    if (region.region.kind == RegionKind::Temporary && r.chance(15)) {
      region.retired = true;
      std::erase_if(values, [&](const Value &other) {
        return plan.regions[other.region].retired;
      });
      return;
    }
  }
}

void Builder::finish() {
  Tick end = 0;
  for (const Instruction &i : program.instructions) {
    end = std::max(end, endOf(i, program, m));
  }
  program.predictedTicks = end;
  std::sort(program.instructions.begin(), program.instructions.end(),
            [](const Instruction &a, const Instruction &b) {
              return a.tick < b.tick;
            });
  Bytes left = programBytes(program, m);
  for (int length = 64; left > 0;) {
    auto region = plan.add(r, "text", RegionKind::Instructions, 1, length, 0,
                           g.slices() - 1);
    if (region) {
      left -= Bytes(length) * m.lanes;
    } else if ((length /= 2) == 0) {
      std::fprintf(stderr, "program builder: no room for instructions\n");
      std::abort();
    }
  }
  const SramRegion &l = plan.regions[logitsRegion].region;
  uint32_t vectors = l.length / program.tokens;
  program.logits = {l.slice, l.bank, l.base, vectors,
                    vectors * uint32_t(m.lanes) - 3};
  plan.finish(program);
}

//===-- Pieces ------------------------------------------------------------===//

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
                          AluOp::Sqrt, AluOp::KvCode, AluOp::Immediate});
    }
    bool two = s.op == AluOp::Add || s.op == AluOp::Mul || s.op == AluOp::Max;
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
         f32 ? r.of<Reduction>(
                   {Reduction::SumWide, Reduction::Max, Reduction::ArgMax})
             : Reduction::None});
  }
  p.group = reduce ? uint32_t(r.between(1, 4)) : 1;
  program.vectorPrograms.push_back(p);
  return uint16_t(program.vectorPrograms.size() - 1);
}

//===-- Gangs -------------------------------------------------------------===//

void Builder::addTables() {
  for (StreamType type : {StreamType::F32, StreamType::F32, StreamType::F16,
                          StreamType::I8, StreamType::A8}) {
    int region = addRegion("table", RegionKind::Table, streamsOf(type),
                           int(r.between(1, 12)), 0, g.slices() - 1);
    values.push_back({region, type});
  }
  for (int i = 0; i < 2; ++i) {
    std::vector<uint16_t> map(size_t(m.lanes));
    for (uint16_t &from : map) {
      from = r.chance(10) ? 0xffff : uint16_t(r.between(0, m.lanes - 1));
    }
    program.laneMaps.push_back(map);
  }
}

void Builder::addGang() {
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

void Builder::vector(Gang &gang) {
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

//===-- Matmul ------------------------------------------------------------===//

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
  mm.stream = stream(4);
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
  Flow flow = flowOf(gang, index, 0, out, 4, at,
                     t.matmulTick + matmulOutputStart(m, t.matmul),
                     matmulOutputShape(m, t.matmul));
  stopOf(gang.instructions[index].operation, 0) = at;
  store(gang, flow, StreamType::F32);
  placing = {t};
}

} // namespace

BuiltProgram buildProgram(uint64_t seed) { return Builder(seed).build(); }

Tick endTickOf(const Program &program, const Machine &machine) {
  Tick end = 0;
  for (const Instruction &i : program.instructions) {
    end = std::max(end, endOf(i, program, machine));
  }
  return end;
}

} // namespace orrery::test
