// Hand-made programs of a few instructions on the lpu-small chip, for tests of
// one rule at a time: legal at cycle c, illegal at c - 1.
#pragma once

#include "simulator/check/Check.h"
#include "tests/simulator/check/Board.h"
#include "tests/simulator/check/ProgramBuilder.h"

#include <set>
#include <string>

namespace orrery::test {

class TinyProgram {
public:
  TinyProgram() : machine(*loadMachine("lpu-small")), g(machine.geometry()) {
    p.machineJson = formatMachine(machine);
    p.modelName = "tiny";
    p.tokens = p.bucket = p.context = 1;
    p.locations = {"here"};
    region(RegionKind::Instructions, 55, 1, 1, 0, 1024);
  }

  void region(RegionKind kind, int slice, int width, int bank, int base,
              int length, Tick born = 0, Tick dies = 0) {
    p.regions.push_back({"r" + std::to_string(p.regions.size()), kind,
                         uint16_t(slice), uint16_t(width), uint8_t(bank),
                         uint32_t(base), uint32_t(length), born, dies});
  }
  void add(Tick tick, Operation operation) {
    p.instructions.push_back({tick, 0, std::move(operation)});
  }
  static AddressPattern linear(int base, uint32_t count) {
    AddressPattern a;
    a.base = uint32_t(base);
    a.extent = {count, 1, 1};
    a.step = {1, 0, 0};
    return a;
  }
  /// A read whose vector 0 is at position `to` at `tick`; it stops there.
  void feed(int slice, int width, int bank, int base, int stream, Position to,
            Tick tick, BurstShape shape) {
    Direction d = g.ofSlice(slice) < to ? Direction::East : Direction::West;
    Tick issue = passes(d, diagonal(d, tick, to), g.ofSlice(slice)) -
                 machine.timing.read;
    add(issue, ReadOp{uint16_t(slice),
                      uint8_t(width),
                      uint8_t(bank),
                      linear(base, uint32_t(shape.count())),
                      {{d, uint8_t(stream)}, to},
                      shape});
  }
  /// A write at `slice` whose first slice takes vector 0 at `tick`.
  WriteOp &store(int slice, int width, int bank, int base, StreamRef in,
                 Tick tick, BurstShape shape) {
    WriteOp op;
    op.slice = uint16_t(slice);
    op.width = uint8_t(width);
    op.bank = uint8_t(bank);
    op.address = linear(base, uint32_t(shape.count()));
    op.in = in;
    op.shape = shape;
    add(tick, op);
    return std::get<WriteOp>(p.instructions.back().operation);
  }
  /// One vector from a slice to one further east, taken there at `tick`.
  void copy(int from, int bank, int base, int to, int toBank, int toBase,
            int stream, Tick tick, uint32_t count = 1) {
    feed(from, 1, bank, base, stream, g.ofSlice(to), tick, {count});
    store(to, 1, toBank, toBase, {Direction::East, uint8_t(stream)}, tick,
          {count});
  }

  check::Report check() {
    sortByTick(p.instructions);
    p.predictedTicks = endTickOf(p, machine);
    return check::checkProgram(p, machine);
  }
  /// The names of the rules that the program breaks.
  std::set<std::string> broken() {
    std::set<std::string> rules;
    for (const check::Violation &v : check().violations) {
      rules.insert(v.rule);
    }
    return rules;
  }

  Machine machine;
  Geometry g;
  Program p = {};
};

} // namespace orrery::test
