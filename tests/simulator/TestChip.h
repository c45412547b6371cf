// A small chip and a program builder for hand-made steps. Instructions are
// placed by the cycle a stream passes somewhere, as a scheduler would.
#pragma once

#include "machine/Program.h"
#include "machine/SramImage.h"
#include "simulator/Simulator.h"

#include <cstring>

namespace orrery::sim::test {

/// 2 x 20 slices of 2 banks of 256 vectors, 4 planes.
inline Machine smallMachine(int32_t lanes = 32) {
  Machine m{};
  m.name = "test";
  m.clockMhz = 900;
  m.lanes = lanes;
  m.streamsPerDirection = 32;
  m.alusPerLane = 4;
  m.instructionBytes = 16;
  m.queueBytes = 1 << 20; // all the text of a test
  m.fetchVectors = 2;
  m.sram = {20, 2, 256};
  m.matrix = {2, 16, 64, 2};
  m.timing.read = 5;
  m.timing.write = 2;
  m.timing.load = 2;
  m.timing.install = 3;
  m.timing.matmul = 11;
  m.timing.alu = 4;
  m.timing.special = 10;
  m.timing.cross = 8;
  m.timing.reduce = 9;
  m.timing.permute = 6;
  m.timing.transpose = 7;
  m.timing.host = 50;
  m.timing.hostVector = 10;
  m.timing.fetch = 4;
  m.link = {4, 20, 3, 16};
  m.energy = {2, 3, 0.25, 0.15, 1.05, 1.2, 56, 52, 100};
  return m;
}

/// A linear address pattern.
inline AddressPattern linear(uint32_t base, uint32_t count, int32_t step = 1) {
  AddressPattern p;
  p.base = base;
  p.extent = {count, 1, 1};
  p.step = {step, 0, 0};
  return p;
}

inline BurstShape burst(uint32_t count, uint32_t stride = 1) {
  return {count, stride, 1, 0};
}

struct TestChip {
  explicit TestChip(int32_t lanes = 32) : machine(smallMachine(lanes)) {}

  Machine machine;
  Program program = emptyProgram();
  SramImage image{machine};
  StepInput input;
  Geometry g = machine.geometry();

  static Program emptyProgram() {
    Program p{};
    p.tokens = 1;
    p.bucket = 256;
    p.context = 256;
    p.locations = {"layer 0 test"};
    return p;
  }

  /// A region over all slices of a range; a temporary lives the whole step.
  void region(RegionKind kind, uint16_t slice, uint16_t width, uint8_t bank,
              uint32_t base, uint32_t length, Tick born = 0,
              Tick dies = 1 << 20) {
    bool temporary = kind == RegionKind::Temporary;
    program.regions.push_back(
        {"region " + std::to_string(program.regions.size()), kind, slice, width,
         bank, base, length, temporary ? born : 0, temporary ? dies : 0});
  }
  uint32_t add(Tick tick, Operation op) {
    program.instructions.push_back({tick, 0, std::move(op)});
    return uint32_t(program.instructions.size()) - 1;
  }

  /// The cycle in which the first vector of a read issued at `tick` passes
  /// `position`.
  Tick readPasses(const ReadOp &op, Tick tick, Position position) const {
    Direction d = op.out.ref.direction;
    return passes(d,
                  diagonal(d, tick + machine.timing.read, g.ofSlice(op.slice)),
                  position);
  }
  /// The cycle in which what leaves `from` at `tick` passes `to`.
  Tick travel(Tick tick, Position from, Position to) const {
    return tick + (to > from ? to - from : from - to);
  }

  static ReadOp read(uint16_t slice, uint8_t width, AddressPattern address,
                     StreamOut out, BurstShape shape, uint8_t bank = 0) {
    ReadOp op;
    op.slice = slice;
    op.width = width;
    op.bank = bank;
    op.address = address;
    op.out = out;
    op.shape = shape;
    return op;
  }
  static WriteOp write(uint16_t slice, uint8_t width, AddressPattern address,
                       StreamRef in, BurstShape shape, uint8_t bank = 0) {
    WriteOp op;
    op.slice = slice;
    op.width = width;
    op.bank = bank;
    op.address = address;
    op.in = in;
    op.shape = shape;
    return op;
  }

  /// Puts an f32 row into four slices.
  void putF32(uint16_t slice, int64_t address, const std::vector<float> &row,
              uint8_t bank = 0) {
    for (size_t lane = 0; lane < row.size(); ++lane) {
      uint8_t bytes[4];
      std::memcpy(bytes, &row[lane], 4);
      for (int k = 0; k < 4; ++k) {
        image.vector(slice + k, bank, address)[lane] = bytes[k];
      }
    }
  }
  static std::vector<float> getF32(const SramImage &image, uint16_t slice,
                                   int64_t address, int32_t lanes,
                                   uint8_t bank = 0) {
    std::vector<float> row(static_cast<size_t>(lanes));
    for (size_t lane = 0; lane < row.size(); ++lane) {
      uint8_t bytes[4];
      for (int k = 0; k < 4; ++k) {
        bytes[k] = image.vector(slice + k, bank, address)[lane];
      }
      std::memcpy(&row[lane], bytes, 4);
    }
    return row;
  }

  Simulator simulator() const { return Simulator(machine, image); }
  /// The error of one functional step, empty if it ran.
  std::string error() const {
    Simulator s = simulator();
    Expected<StepResult> result = s.run(program, input);
    return result ? "" : result.error().message;
  }
  /// The error of a timing-only step.
  std::string timingError() const {
    Simulator s(machine);
    Expected<StepResult> result = s.run(program, input);
    return result ? "" : result.error().message;
  }
};

/// f32 vectors through one vector program: read from slices 4-7 (west half),
/// compute, write to slices 24-27 (east half). Both as wide bursts.
struct VectorPath : TestChip {
  uint32_t readNumber, vectorNumber, writeNumber;

  explicit VectorPath(VectorProgram vectorProgram, uint32_t count = 1,
                      Tick start = 10) {
    region(RegionKind::Table, 4, 4, 0, 0, 64);
    region(RegionKind::Kv, 24, 4, 0, 0, 64);
    uint32_t results = vectorProgram.outputs[0].reduction == Reduction::None
                           ? count
                           : count / vectorProgram.group;
    uint32_t perVector = vectorProgram.steps.size() <= 4
                             ? 1
                             : (uint32_t(vectorProgram.steps.size()) + 3) / 4;
    uint32_t perResult = perVector * (count / results);
    Tick latency = latencyOf(vectorProgram);
    program.vectorPrograms.push_back(std::move(vectorProgram));
    ReadOp in = read(4, 4, linear(0, count), {{Direction::East, 0}, g.ofVxm()},
                     burst(count, perVector));
    readNumber = add(start, in);
    Tick taken = readPasses(in, start, g.ofVxm());
    VectorOp op;
    op.count = count;
    op.inputs = op.outputs = 1;
    op.in[0] = {Direction::East, 0};
    op.out[0] = {{Direction::East, 8}, g.ofSlice(27)};
    vectorNumber = add(taken, op);
    Tick leaves = taken + Tick(count / results - 1) * perVector + latency;
    writeNumber = add(travel(leaves, g.ofVxm(), g.ofSlice(24)),
                      write(24, 4, linear(0, results), {Direction::East, 8},
                            burst(results, perResult)));
  }

  /// By hand from the machine's numbers, not from Timing.h.
  Tick latencyOf(const VectorProgram &p) const {
    Tick ticks = machine.timing.alu;
    for (const AluStep &s : p.steps) {
      bool special = s.op == AluOp::Exp || s.op == AluOp::Div ||
                     s.op == AluOp::Sqrt || s.op == AluOp::Silu;
      bool cross = s.op == AluOp::Splat || s.op == AluOp::KvScale ||
                   s.op == AluOp::KvCode;
      ticks += special ? machine.timing.special
               : cross ? machine.timing.cross
                       : machine.timing.alu;
    }
    bool reduces = p.outputs[0].reduction != Reduction::None;
    return reduces ? ticks + machine.timing.reduce : ticks;
  }
  Instruction &at(uint32_t number) { return program.instructions[number]; }
};

inline VectorProgram doubling() {
  VectorProgram p;
  p.inputs = {StreamType::F32};
  AluStep step{};
  step.op = AluOp::Add;
  p.steps = {step};
  p.outputs = {{1, StreamType::F32, Reduction::None}};
  return p;
}

} // namespace orrery::sim::test
