// A problem made gang by gang on lpu-small: copies through the VXM.
//
// Positions there: VXM 31; west data slices 16 to 27 at 19 to 30, east data
// slices 28 to 39 at 32 to 43.
#pragma once

#include "compiler/schedule/GangBuilder.h"
#include "machine/Timing.h"

namespace orrery::schedule {

class HandMade {
public:
  HandMade() { problem.machine = &machine; }

  /// An f32 temporary of its own region.
  Home temporary(uint32_t slice, uint32_t bank, uint32_t base) {
    problem.shares.emplace_back();
    return {slice,
            4,
            bank,
            base,
            Memory::Temporary,
            uint32_t(problem.shares.size() - 1)};
  }
  /// An f32 table: no order, no hazards.
  static Home table(uint32_t slice, uint32_t bank, uint32_t base) {
    return {slice, 4, bank, base, Memory::Constant, 0};
  }
  void share(const Home &a, const Home &b) {
    problem.shares[a.region].push_back(b.region);
    problem.shares[b.region].push_back(a.region);
  }

  /// count vectors of `from` through the VXM into `to`.
  uint32_t copy(const Home &from, const Home &to, uint32_t count) {
    if (problem.vectorPrograms.empty()) {
      problem.vectorPrograms.push_back(
          {{StreamType::F32}, {}, {{0, StreamType::F32}}, 1});
    }
    const VectorProgram &program = problem.vectorPrograms[0];
    Position vxm = geometry.ofVxm();
    GangBuilder b(machine, 0);
    VectorOp op;
    op.count = count;
    op.inputs = op.outputs = 1;
    op.in[0] = b.in(b.read(from, linear(from, count), {count, 1, 1, 0},
                           b.towards(from.slice, vxm), vxm, vxm));
    uint8_t out =
        b.drive(outward(geometry.hemisphereOfSlice(int32_t(to.slice))), 4,
                vectorOutputStart(machine, program, program.outputs[0]),
                {count, 1, 1, 0}, vxm);
    b.write(out, to, linear(to, count), {});
    op.out[0] = b.out(out);
    b.add(0, op);
    problem.gangs.push_back(std::move(b.gang));
    return uint32_t(problem.gangs.size() - 1);
  }

  const Machine machine = *loadMachine("lpu-small");
  const Geometry geometry = machine.geometry();
  Problem problem{};

private:
  static AddressPattern linear(const Home &home, uint32_t count) {
    AddressPattern address;
    address.base = home.base;
    address.extent[0] = count;
    address.step[0] = 1;
    return address;
  }
};

/// `schedule` with gang `gang` moved by `ticks`.
inline Schedule moved(Schedule schedule, uint32_t gang, Tick ticks) {
  schedule.start[gang] += ticks;
  return schedule;
}

} // namespace orrery::schedule
