// How fast the simulator is: 152 M q8 weights through four planes' worth of
// wide bursts (a decode step of a model of that size), and small instructions
// in a timing-only run.
#include "machine/Program.h"
#include "machine/Timing.h"
#include "machine/numerics.h"
#include "simulator/Simulator.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

namespace orrery::sim {
namespace {

Machine lpu() {
  Expected<Machine> machine = loadMachine("lpu-v1");
  if (!machine) {
    std::fprintf(stderr, "%s\n", machine.error().message.c_str());
    std::abort();
  }
  return *machine;
}

AddressPattern linear(uint32_t base, uint32_t count) {
  AddressPattern p;
  p.base = base;
  p.extent = {count, 1, 1};
  p.step = {1, 0, 0};
  return p;
}

/// Puts instructions in the cycles in which their streams pass.
class Builder {
public:
  explicit Builder(const Machine &m) : m(m), g(m.geometry()) {
    p.tokens = 1;
    p.bucket = p.context = 1;
  }
  const Machine &m;
  Geometry g;
  Program p{};

  void region(RegionKind kind, uint16_t slice, uint16_t width, uint8_t bank,
              uint32_t length = 4096) {
    p.regions.push_back({"r" + std::to_string(p.regions.size()), kind, slice,
                         width, bank, 0, length});
  }
  void add(Tick tick, Operation op) {
    p.instructions.push_back({tick, 0, std::move(op)});
  }
  /// Issues a read; returns when its first vector passes `stop`.
  Tick read(Tick tick, uint16_t slice, uint8_t width, uint8_t bank,
            AddressPattern a, Direction d, uint8_t stream, Position stop,
            BurstShape shape) {
    ReadOp op;
    op.slice = slice;
    op.width = width;
    op.bank = bank;
    op.address = a;
    op.out = {{d, stream}, stop};
    op.shape = shape;
    add(tick, op);
    return passes(d, diagonal(d, tick + m.timing.read, g.ofSlice(slice)), stop);
  }
  void write(Tick tick, uint16_t slice, AddressPattern a, StreamRef in,
             BurstShape shape) {
    WriteOp op;
    op.slice = slice;
    op.width = 4;
    op.address = a;
    op.in = in;
    op.shape = shape;
    add(tick, op);
  }
};

constexpr uint32_t kTiles = 186; ///< a bank of 16 slices: 186 * 22 vectors

/// One bank of 16 slices through plane `plane`; returns the end.
Tick weights(Builder &b, Tick start, uint16_t slice, uint8_t bank,
             uint8_t plane, uint16_t acts, uint16_t results) {
  Direction out = outward(b.g.hemisphereOfPlane(plane));
  Position at = b.g.ofPlane(plane);
  uint32_t cycles = tileCycles(WeightFormat::Q8, 320, 16);
  LoadOp load;
  load.plane = plane;
  load.shape = {2, 1, 1, 0};
  Tick loaded =
      b.read(start, acts, 2, 0, linear(0, 2), out, 20, at, load.shape);
  load.stream = 20;
  b.add(loaded, load);
  InstallOp install;
  install.plane = plane;
  install.high = 320;
  install.shape = {cycles, 1, kTiles, cycles};
  Tick first = b.read(start + 60, slice, 16, bank, linear(0, kTiles * cycles),
                      out, 0, at, install.shape);
  b.add(first, install);
  MatmulOp matmul;
  matmul.plane = plane;
  matmul.high = 320;
  matmul.tiles = kTiles / 2;
  matmul.inner = 2;
  matmul.period = cycles;
  matmul.stop = b.g.ofSlice(results + (out == Direction::East ? 0 : 3));
  Tick pass = first + cycles - 1 + b.m.timing.install;
  b.add(pass, matmul);
  Tick leaves = pass + cycles + b.m.timing.matmul;
  Position to = b.g.ofSlice(results);
  b.write(leaves + (at > to ? at - to : to - at), results,
          linear(0, kTiles / 2), {opposite(out), 0},
          {kTiles / 2, 2 * cycles, 1, 0});
  return pass + Tick(kTiles) * cycles + 300;
}

Program decodeStep(const Machine &m) {
  Builder b(m);
  for (uint16_t slice : {12, 28, 44, 60}) {
    b.region(RegionKind::Weight, slice, 16, 0);
    b.region(RegionKind::Weight, slice, 16, 1);
  }
  b.region(RegionKind::Table, 10, 2, 0);
  b.region(RegionKind::Table, 76, 2, 0);
  b.region(RegionKind::Kv, 0, 4, 0);
  b.region(RegionKind::Kv, 80, 4, 0);
  Tick t = 40;
  for (uint8_t bank : {0, 1}) {
    t = weights(b, t, 12, bank, 1, 10, 0);
    t = weights(b, t, 28, bank, 1, 10, 0);
    t = weights(b, t, 44, bank, 2, 76, 80);
    t = weights(b, t, 60, bank, 2, 76, 80);
  }
  return b.p;
}

SramImage randomImage(const Machine &m) {
  SramImage image(m);
  std::mt19937_64 random(1);
  for (int32_t s = 0; s < m.geometry().slices(); ++s) {
    for (int32_t bank = 0; bank < 2; ++bank) {
      uint8_t *bytes = image.vector(s, bank, 0);
      for (Bytes i = 0; i < m.bankBytes(); i += 8) {
        // As f16 scales these are below 1 in magnitude.
        uint64_t word = random() & 0x3bff3bff3bff3bffu;
        std::memcpy(bytes + i, &word, 8);
      }
    }
  }
  for (uint16_t slice : {11, 77}) {
    for (int64_t a = 0; a < 2; ++a) {
      float scales[10];
      std::fill(scales, scales + 10, 0.01f);
      std::memcpy(image.vector(slice, 0, a), scales, sizeof(scales));
    }
  }
  return image;
}

void report(benchmark::State &state, const Program &p,
            const Expected<StepResult> &result) {
  if (!result) {
    state.SkipWithError(result.error().message.c_str());
    return;
  }
  state.counters["instructions"] =
      benchmark::Counter(double(p.instructions.size()),
                         benchmark::Counter::kIsIterationInvariantRate);
  state.counters["ticks"] = double(result->ticks);
}

void decode(benchmark::State &state, bool functional) {
  Machine m = lpu();
  Program p = decodeStep(m);
  Simulator s = functional ? Simulator(m, randomImage(m)) : Simulator(m);
  Expected<StepResult> result = s.run(p, {}); // packs the tiles
  for (auto _ : state) {
    result = s.run(p, {});
  }
  report(state, p, result);
  state.counters["tiles"] = benchmark::Counter(
      8.0 * kTiles, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(decode, functional, true)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decode, timing_only, false)->Unit(benchmark::kMillisecond);

/// Read, vector, write of 4 streams and `count` vectors, over and over.
void small(benchmark::State &state, bool functional) {
  Machine m = lpu();
  Builder b(m);
  auto count = uint32_t(state.range(0));
  VectorProgram add;
  add.inputs = {StreamType::F32};
  add.steps = {AluStep{}};
  add.outputs = {{1, StreamType::F32, Reduction::None}};
  b.p.vectorPrograms = {add};
  b.region(RegionKind::Table, 20, 4, 0);
  b.p.regions.push_back(
      {"t", RegionKind::Temporary, 60, 4, 0, 0, 4096, 0, Tick(1) << 40});
  for (int i = 0; i < 100000; ++i) {
    uint32_t address = uint32_t(i) * count % (4096 - count);
    BurstShape shape{count, 1, 1, 0};
    Tick t = 10 + Tick(i) * count;
    Tick taken = b.read(t, 20, 4, 0, linear(address, count), Direction::East, 0,
                        b.g.ofVxm(), shape);
    VectorOp op;
    op.count = count;
    op.inputs = op.outputs = 1;
    op.in[0] = {Direction::East, 0};
    op.out[0] = {{Direction::East, 8}, b.g.ofSlice(63)};
    b.add(taken, op);
    Tick leaves = taken + vectorLatency(m, add, add.outputs[0]);
    b.write(leaves + b.g.ofSlice(60) - b.g.ofVxm(), 60, linear(address, count),
            {Direction::East, 8}, shape);
  }
  Simulator s = functional ? Simulator(m, SramImage(m)) : Simulator(m);
  Expected<StepResult> result = Error{"not run"};
  for (auto _ : state) {
    result = s.run(b.p, {});
  }
  report(state, b.p, result);
}
BENCHMARK_CAPTURE(small, timing_only, false)
    ->Arg(2)
    ->Arg(26)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(small, functional, true)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace orrery::sim

extern "C" int sc_main(int, char **) { return 0; }
BENCHMARK_MAIN();
