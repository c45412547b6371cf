// Random valid programs, the same for the same seed everywhere. They are valid
// instruction by instruction (machine/Validate.h); as schedules they make no
// sense.
#pragma once

#include "machine/Encoding.h"
#include "machine/Program.h"
#include "machine/Timing.h"

#include <algorithm>
#include <random>

namespace orrery::testing {

class RandomProgram {
public:
  /// Links of numbers up to `links` are used.
  RandomProgram(uint64_t seed, const Machine &machine, int32_t links)
      : random(seed), machine(machine), geometry(machine.geometry()),
        links(links) {
    program.machineJson = formatMachine(machine);
    program.modelName = "random-" + std::to_string(seed);
    program.modelHash = random();
    program.tokens = 4;
    program.bucket = 2 * uint32_t(machine.lanes);
    program.context = 4 * uint32_t(machine.lanes);
    program.inputVectors = links == 0 || between(0, 3) ? 16 : 0;
    program.predictedTicks = between(1, 1'000'000);
    if (between(0, 3)) {
      program.logits = {3, 1, 7, 2, uint32_t(machine.lanes) + 1};
    }
    program.locations = {"embed", "layer 0 attn_q", "layer 0 attn_out"};
    fillRegions();
    fillTables();
  }
  RandomProgram(uint64_t seed, const Machine &machine)
      : RandomProgram(seed, machine, machine.link.ports) {}

  /// A program with `count` instructions of each kind, in random order.
  Program make(int count) {
    std::vector<int> kinds;
    for (int kind = 0; kind < kQueueKinds; ++kind) {
      kinds.insert(kinds.end(), size_t(count), kind);
    }
    for (size_t i = kinds.size(); i > 1; --i) {
      std::swap(kinds[i - 1], kinds[size_t(between(0, int64_t(i) - 1))]);
    }
    Tick tick = machine.geometry().ofHost();
    for (int kind : kinds) {
      tick += between(0, 3) ? between(0, 40) : between(0, 100'000);
      auto location = uint32_t(between(0, 2));
      program.instructions.push_back({tick, location, operation(kind)});
    }
    return program;
  }

private:
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  template <class T> T any(int64_t low, int64_t high) {
    return T(between(low, high));
  }
  uint32_t divisorOf(uint64_t number) {
    auto divisor = between(1, int64_t(number));
    while (number % uint64_t(divisor) != 0) {
      --divisor;
    }
    return uint32_t(divisor);
  }

  void fillRegions() {
    auto depth = uint32_t(machine.sram.vectorsPerBank);
    program.regions = {
        {"w", RegionKind::Weight, 0, 4, 0, 0, depth / 2, 0, 0},
        {"kv", RegionKind::Kv, 2, 1, 0, depth / 2, 8, 0, 0},
        {"a", RegionKind::Temporary, 4, 2, 1, 0, 8, 10, 20},
        {"b", RegionKind::Temporary, 5, 2, 1, 4, 8, 20, 30},
    };
  }

  void fillTables() {
    for (int i = 0; i < 8; ++i) {
      program.vectorPrograms.push_back(vectorProgram());
    }
    for (int i = 0; i < 3; ++i) {
      std::vector<uint16_t> map(size_t(machine.lanes), 0xffff);
      for (uint16_t &lane : map) {
        lane = between(0, 3) ? any<uint16_t>(0, machine.lanes - 1) : lane;
      }
      program.laneMaps.push_back(map);
    }
  }

  BurstIndex index() { return {any<uint32_t>(1, 9), any<uint32_t>(1, 4)}; }

  AluStep step(int64_t values) {
    AluStep s{any<AluOp>(0, int64_t(AluOp::AddBits))};
    bool keep = s.op == AluOp::Keep;
    if (s.op != AluOp::Immediate) {
      s.a = any<uint8_t>(0, values - 1);
    }
    if (s.op <= AluOp::Max || s.op == AluOp::AddBits) {
      s.b = any<uint8_t>(0, values - 1);
    }
    if (keep || s.op == AluOp::Immediate) {
      s.immediate = float(between(-1000, 1000)) / 8;
    }
    if (keep) {
      s.bound = any<uint32_t>(0, 100'000);
      s.position = between(0, 1);
      s.token = s.position ? index() : s.token;
    }
    if (s.op >= AluOp::Window && s.op <= AluOp::KvCode) {
      s.width = any<uint32_t>(1, machine.lanes / 4);
    }
    if (keep || s.op == AluOp::Window || s.op == AluOp::Splat) {
      s.tile = index();
    }
    return s;
  }

  VectorProgram sumsProgram() {
    StreamType type = between(0, 1) ? StreamType::F32 : StreamType::Sum;
    return {{StreamType::Sum},
            {},
            {{0, type, Reduction::AddSums}},
            any<uint32_t>(1, 12)};
  }

  VectorProgram vectorProgram() {
    if (between(0, 9) == 0) {
      return sumsProgram();
    }
    VectorProgram p;
    int64_t inputs = between(1, 8), steps = between(0, 40);
    for (int64_t i = 0; i < inputs; ++i) {
      p.inputs.push_back(any<StreamType>(0, int64_t(StreamType::I8)));
    }
    for (int64_t i = 0; i < steps; ++i) {
      p.steps.push_back(step(inputs + i));
    }
    for (int64_t i = between(1, 4); i > 0; --i) {
      auto reduction = any<Reduction>(0, int64_t(Reduction::ArgBest));
      p.outputs.push_back({any<uint8_t>(0, inputs + steps - 1),
                           reduction == Reduction::None
                               ? any<StreamType>(0, int64_t(StreamType::A8))
                               : StreamType::F32,
                           reduction});
    }
    p.group = any<uint32_t>(1, 12);
    return p;
  }

  BurstShape shape(uint32_t length, uint32_t runs) {
    BurstShape s{length, any<uint32_t>(1, 3), runs, 0};
    if (runs > 1) {
      s.period = (length - 1) * s.stride + any<uint32_t>(1, 50);
    }
    return s;
  }
  BurstShape shape() {
    return shape(any<uint32_t>(1, 400), any<uint32_t>(1, 6));
  }

  /// Addresses for `count` vectors, leaving `room` at the end of the bank.
  AddressPattern address(uint64_t count, int64_t room) {
    int64_t depth = machine.sram.vectorsPerBank;
    AddressPattern a;
    a.extent[2] = divisorOf(count);
    a.extent[1] = divisorOf(count / a.extent[2]);
    a.extent[0] = uint32_t(count / a.extent[2] / a.extent[1]);
    int64_t low = 0, high = room;
    for (size_t k = 0; k < 3; ++k) {
      int64_t most = depth / 6 / a.extent[k];
      a.step[k] = any<int32_t>(-most, most);
      int64_t reach = int64_t(a.step[k]) * (int64_t(a.extent[k]) - 1);
      (reach < 0 ? low : high) += reach;
    }
    a.dynamic = any<Dynamic>(0, int64_t(Dynamic::Chunk));
    if (a.dynamic == Dynamic::Position) {
      a.dynamicStep = any<uint32_t>(0, 1);
      high += a.dynamicStep * (int64_t(program.bucket) - 1);
    } else if (a.dynamic == Dynamic::Chunk) {
      a.dynamicStep = any<uint32_t>(0, 50);
      high += a.dynamicStep * ((program.bucket - 1) / machine.lanes);
    }
    a.base = any<uint32_t>(-low, depth - 1 - high);
    return a;
  }

  uint8_t stream(int64_t width) {
    return any<uint8_t>(0, machine.streamsPerDirection - width);
  }
  StreamRef ref(int64_t width) { return {any<Direction>(0, 1), stream(width)}; }
  /// Driven by units from position `west` to `east`.
  StreamOut out(int64_t width, Position west, Position east) {
    StreamOut o{ref(width), 0};
    o.stop = o.ref.direction == Direction::East
                 ? any<Position>(east + 1, geometry.ofHost())
                 : any<Position>(0, west - 1);
    return o;
  }

  WeightFormat format(int32_t plane) {
    bool f16 = plane % geometry.planesPerHemisphere == 0;
    return any<WeightFormat>(0, f16 ? 3 : 2);
  }
  template <class Op> void columns(Op &op) {
    op.low = uint16_t(16 * between(0, machine.lanes / 16 - 1));
    op.high = uint16_t(op.low + 16 * between(1, (machine.lanes - op.low) / 16));
  }

  ReadOp read() {
    ReadOp op;
    op.width = any<uint8_t>(1, 16);
    op.slice = any<uint16_t>(0, geometry.slices() - op.width);
    op.bank = any<uint8_t>(0, 1);
    op.shape = shape();
    op.address = address(op.shape.count(), 0);
    op.out = out(op.width, geometry.ofSlice(op.slice),
                 geometry.ofSlice(op.slice + op.width - 1));
    return op;
  }

  WriteOp write() {
    WriteOp op;
    op.width = any<uint8_t>(1, 16);
    op.slice = any<uint16_t>(0, geometry.slices() - op.width);
    op.bank = any<uint8_t>(0, 1);
    op.shape = shape();
    op.in = ref(op.width);
    op.mask = any<LaneMask>(0, int64_t(LaneMask::TokenSpan));
    if (op.mask == LaneMask::Range) {
      op.low = any<uint16_t>(0, machine.lanes - 1);
      op.high = any<uint16_t>(op.low + 1, machine.lanes);
    }
    op.tokenDimension = any<uint8_t>(0, 2);
    int64_t room = 0;
    if (op.mask == LaneMask::All && between(0, 1)) {
      op.stripeBytes = any<uint8_t>(1, 4);
      op.width = uint8_t(op.stripeBytes * divisorOf(4));
      op.slice = any<uint16_t>(0, geometry.slices() - op.width);
      op.stripeStep = any<uint32_t>(0, 9);
      room = op.stripeStep * ((program.bucket - 1) / machine.lanes) +
             (machine.lanes * op.stripeBytes - 1) / op.width;
      op.in = ref(op.stripeBytes);
    }
    op.address = address(op.shape.count(), room);
    return op;
  }

  LoadOp load() {
    LoadOp op;
    op.plane = any<uint8_t>(0, geometry.planes() - 1);
    op.f16 = between(0, 1);
    op.stream = stream(2);
    op.base = any<uint16_t>(0, 50);
    op.shape = shape(any<uint32_t>(1, 80), any<uint32_t>(1, 10));
    return op;
  }

  InstallOp install() {
    InstallOp op;
    op.plane = any<uint8_t>(0, geometry.planes() - 1);
    op.format = format(op.plane);
    op.width = any<uint8_t>(1, machine.matrix.installStreams);
    op.stream = stream(op.width);
    columns(op);
    op.shape = shape(tileCycles(op.format, op.high - op.low, op.width),
                     any<uint32_t>(1, 300));
    return op;
  }

  MatmulOp matmul() {
    MatmulOp op;
    op.plane = any<uint8_t>(0, geometry.planes() - 1);
    op.format = format(op.plane);
    columns(op);
    op.tiles = any<uint32_t>(1, 400);
    op.inner = any<uint32_t>(1, 30);
    op.rows = any<uint32_t>(1, 30);
    op.period =
        op.rows * matmulTicksPerRow(machine, op.format) + any<uint32_t>(0, 30);
    op.base = any<uint16_t>(0, 100);
    op.sums = between(0, 4) == 0;
    op.stream = stream(streamsOf(op.result()));
    Position at = geometry.ofPlane(op.plane);
    op.stop = geometry.hemisphereOfPlane(op.plane) == Hemisphere::West
                  ? any<Position>(at + 1, geometry.ofHost())
                  : any<Position>(0, at - 1);
    return op;
  }

  VectorOp vector() {
    VectorOp op;
    op.program = any<uint16_t>(0, int64_t(program.vectorPrograms.size()) - 1);
    const VectorProgram &p = program.vectorPrograms[op.program];
    op.count = p.group * any<uint32_t>(1, 200);
    op.inputs = uint8_t(p.inputs.size());
    op.outputs = uint8_t(p.outputs.size());
    for (size_t i = 0; i < op.inputs; ++i) {
      op.in[i] = ref(streamsOf(p.inputs[i]));
    }
    for (size_t i = 0; i < op.outputs; ++i) {
      op.out[i] =
          out(streamsOf(p.outputs[i].type), geometry.ofVxm(), geometry.ofVxm());
    }
    return op;
  }

  PermuteOp permute() {
    PermuteOp op;
    op.sxm = any<uint8_t>(0, 1);
    op.kind = any<PermuteKind>(0, 1);
    op.width = any<uint8_t>(1, 4);
    op.in = ref(op.width);
    op.count = any<uint32_t>(1, machine.lanes);
    op.outWidth = op.width;
    if (op.kind == PermuteKind::Transpose) {
      op.outWidth = any<uint8_t>(1, 16);
      op.rows = any<uint16_t>(1, machine.lanes);
    } else {
      op.map = any<uint16_t>(0, int64_t(program.laneMaps.size()) - 1);
    }
    Position at = geometry.ofSxm(op.sxm);
    op.out = out(op.outWidth, at, at);
    return op;
  }

  /// Of a link's burst: a few vectors that the buffer holds.
  BurstShape linkShape(int64_t width) {
    auto most = uint64_t(machine.link.bufferVectors / width);
    auto runs = any<uint32_t>(1, std::min<int64_t>(4, int64_t(most)));
    return shape(any<uint32_t>(1, int64_t(most / runs)), runs);
  }

  ReceiveOp receive() {
    ReceiveOp op;
    op.stop = any<Position>(0, geometry.ofHost() - 1);
    op.link = any<LinkNumber>(program.inputVectors == 0 ? 1 : 0, links);
    op.shape = shape(any<uint32_t>(1, 16), any<uint32_t>(1, 4));
    if (op.link != kHostLink) {
      op.width = any<uint8_t>(1, 8);
      op.shape = linkShape(op.width);
    }
    op.stream = stream(op.width);
    return op;
  }
  SendOp send() {
    SendOp op;
    op.link = any<LinkNumber>(0, links);
    op.shape = shape();
    if (op.link != kHostLink) {
      op.width = any<uint8_t>(1, 8);
      op.shape = linkShape(op.width);
    }
    op.stream = stream(op.width);
    return op;
  }

  FetchOp fetch() {
    FetchOp op;
    op.target =
        queueOf(operation(int(between(0, int64_t(QueueId::Kind::Fetch) - 1))));
    op.slice = any<uint16_t>(0, geometry.slices() - 1);
    op.bank = any<uint8_t>(0, 1);
    op.address =
        any<uint32_t>(0, machine.sram.vectorsPerBank - machine.fetchVectors);
    return op;
  }

  Operation operation(int kind) {
    switch (QueueId::Kind(kind)) {
    case QueueId::Kind::Read:
      return read();
    case QueueId::Kind::Write:
      return write();
    case QueueId::Kind::Load:
      return load();
    case QueueId::Kind::Install:
      return install();
    case QueueId::Kind::Matmul:
      return matmul();
    case QueueId::Kind::Vector:
      return vector();
    case QueueId::Kind::Permute:
      return permute();
    case QueueId::Kind::Receive:
      return receive();
    case QueueId::Kind::Send:
      return send();
    case QueueId::Kind::Fetch:
      return fetch();
    }
    return {};
  }

  std::mt19937_64 random;
  const Machine &machine;
  Geometry geometry;
  int32_t links;
  Program program{};
};

} // namespace orrery::testing
