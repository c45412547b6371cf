// A few small chips, each with a cable to every other, and parts that send from
// tables and receive into tables of their own.
#pragma once

#include "simulator/SystemSimulator.h"
#include "tests/simulator/TestChip.h"

namespace orrery::sim::test {

/// Sends what lies in slices 12-15 and stores what comes in slices 8-11, in
/// vectors of 4 streams or less.
struct LinkPart : TestChip {
  static constexpr uint16_t kFrom = 12, kTo = 8;

  LinkPart() {
    region(RegionKind::Table, kFrom, 4, 0, 0, 64);
    region(RegionKind::Kv, kTo, 4, 0, 0, 64);
  }

  /// A send whose first vector leaves at `tick`, of table vectors `base` and
  /// on; the number of the send.
  uint32_t sends(Tick tick, LinkNumber link, BurstShape shape,
                 uint8_t width = 4, uint32_t base = 0) {
    ReadOp out = read(kFrom, width, linear(base, uint32_t(shape.count())),
                      {{Direction::East, 0}, g.ofHost()}, shape);
    add(tick - readPasses(out, 0, g.ofHost()), out);
    SendOp op;
    op.shape = shape;
    op.link = link;
    op.width = width;
    return add(tick, op);
  }
  /// A receive at `tick` and the write behind it; the number of the receive.
  uint32_t receives(Tick tick, LinkNumber link, BurstShape shape,
                    uint8_t width = 4, uint32_t base = 0) {
    ReceiveOp op;
    op.stop = g.ofSlice(kTo);
    op.shape = shape;
    op.link = link;
    op.width = width;
    uint32_t number = add(tick, op);
    add(travel(tick, g.ofHost(), g.ofSlice(kTo + width - 1)) + width - 1,
        write(kTo, width, linear(base, uint32_t(shape.count())),
              {Direction::West, 0}, shape));
    return number;
  }
};

struct TestSystem {
  Machine machine = smallMachine();
  SystemProgram program;
  std::vector<SramImage> images;
  SystemInput input;

  explicit TestSystem(int32_t chips) {
    machine.link.ports = std::max(4, chips - 1);
    machine.system.chips = chips;
    for (int32_t a = 0; a < chips; ++a) {
      for (int32_t b = a + 1; b < chips; ++b) {
        machine.system.links.push_back({a, port(a, b), b, port(b, a)});
      }
    }
  }

  /// The port of chip `a` from which a cable leads to chip `b`.
  static int32_t port(int32_t a, int32_t b) { return b > a ? b - 1 : b; }
  /// Behind one link number of `chip`: sends to `to`, receives from `from`; -1:
  /// does not.
  static LinkPorts ports(int32_t chip, int32_t to, int32_t from) {
    return {to < 0 ? -1 : port(chip, to), from < 0 ? -1 : port(chip, from)};
  }

  uint32_t part(const TestChip &chip) {
    program.parts.push_back(chip.program);
    return uint32_t(program.parts.size()) - 1;
  }
  ChipProgram &chip(int32_t number, uint32_t part, std::vector<LinkPorts> links,
                    Tick start = 0) {
    program.chips.push_back({number, part, 0, 0, start, std::move(links)});
    images.emplace_back(machine);
    input.hostVectors.emplace_back();
    return program.chips.back();
  }
  /// Chip 0 runs `a`, chip 1 runs `b`, with a cable as link 1 of both.
  static TestSystem pair(const TestChip &a, const TestChip &b) {
    TestSystem system(2);
    system.chip(0, system.part(a), {ports(0, 1, 1)});
    system.chip(1, system.part(b), {ports(1, 0, 0)});
    return system;
  }

  SystemSimulator simulator() const { return {machine, images}; }
  /// The error of a timing-only step, empty if it ran.
  std::string error(Alike alike = Alike::Each) const {
    SystemSimulator s(machine, alike);
    auto result = s.run(program, input);
    return result ? "" : result.error().message;
  }
  std::string functionalError() const {
    SystemSimulator s = simulator();
    auto result = s.run(program, input);
    return result ? "" : result.error().message;
  }
};

} // namespace orrery::sim::test
