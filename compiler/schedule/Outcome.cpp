#include "compiler/schedule/Outcome.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::schedule {

namespace {

// When an instruction's last vector has had its effect, by rule 7.
struct End {
  const Machine &m;
  const std::vector<VectorProgram> &programs;

  Tick skewed(uint32_t slice, uint32_t width, Direction d) const {
    Geometry g = m.geometry();
    Position apart = g.ofSlice(int32_t(slice + width - 1)) -
                     g.ofSlice(int32_t(slice));
    return std::max<Tick>(0, d == Direction::East ? apart : -apart);
  }
  Tick operator()(const ReadOp &op) const {
    return skewed(op.slice, op.width, op.out.ref.direction) + op.shape.span() +
           1;
  }
  Tick operator()(const WriteOp &op) const {
    return skewed(op.slice, op.width, op.in.direction) + op.shape.span() +
           std::max<Tick>(1, m.timing.write);
  }
  Tick operator()(const LoadOp &op) const { return op.shape.span() + 1; }
  Tick operator()(const InstallOp &op) const { return op.shape.span() + 1; }
  Tick operator()(const MatmulOp &op) const {
    return matmulOutputStart(m, op) + matmulOutputShape(m, op).span() + 1;
  }
  Tick operator()(const VectorOp &op) const {
    const VectorProgram &p = programs[op.program];
    Tick end = vectorInputShape(m, p, op.count).span() + 1;
    for (const VectorOutput &out : p.outputs) {
      end = std::max(end, vectorOutputStart(m, p, out) +
                              vectorOutputShape(m, p, out, op.count).span() +
                              1);
    }
    return end;
  }
  Tick operator()(const PermuteOp &op) const {
    return permuteOutputStart(m, op) + permuteOutputShape(op).span() + 1;
  }
  Tick operator()(const ReceiveOp &op) const { return op.shape.span() + 1; }
  Tick operator()(const SendOp &op) const {
    return op.shape.span() + std::max<Tick>(1, m.timing.host);
  }
};

} // namespace

Tick endTick(const Machine &machine, const std::vector<VectorProgram> &programs,
             const std::vector<Instruction> &instructions) {
  Tick end = 0;
  End rule{machine, programs};
  for (const Instruction &i : instructions) {
    end = std::max(end, i.tick + std::visit(rule, i.operation));
  }
  return end;
}

void setLifetimes(const Problem &problem, const Schedule &schedule,
                  std::vector<SramRegion> &regions) {
  Geometry g = problem.machine->geometry();
  auto live = [&](uint32_t region, uint32_t slice, uint32_t width, Direction d,
                  Tick tick, Tick span) {
    Position apart = g.ofSlice(int32_t(slice + width - 1)) -
                     g.ofSlice(int32_t(slice));
    Tick other = d == Direction::East ? apart : -apart;
    SramRegion &r = regions[region];
    bool first = r.dies == 0;
    Tick begin = tick + std::min<Tick>(0, other);
    Tick end = tick + std::max<Tick>(0, other) + span + 1;
    r.born = first ? begin : std::min(r.born, begin);
    r.dies = std::max(r.dies, end);
  };
  for (size_t k = 0; k < problem.gangs.size(); ++k) {
    for (const Member &member : problem.gangs[k].members) {
      if (member.memory != Memory::Temporary) {
        continue;
      }
      Tick tick = schedule.start[k] + member.offset;
      if (auto *op = std::get_if<ReadOp>(&member.operation)) {
        live(member.region, op->slice, op->width, op->out.ref.direction, tick,
             op->shape.span());
      } else if (auto *op = std::get_if<WriteOp>(&member.operation)) {
        live(member.region, op->slice, op->width, op->in.direction, tick,
             op->shape.span());
      }
    }
  }
}

LowerBounds lowerBounds(const Problem &problem, Tick criticalPath) {
  std::vector<Tick> busy(resourceCount(*problem.machine));
  for (const Gang &gang : problem.gangs) {
    for (const Member &member : gang.members) {
      for (const Reservation &r : reservationsOf(problem, member.operation)) {
        busy[r.resource] += Tick(r.shape.count());
      }
    }
  }
  auto most = std::max_element(busy.begin(), busy.end());
  return {criticalPath, *most,
          resourceName(*problem.machine, uint32_t(most - busy.begin()))};
}

} // namespace orrery::schedule
