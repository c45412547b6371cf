#include "compiler/schedule/Outcome.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::schedule {

namespace {

// When an instruction's last effect is there, from its own tick: vectors on
// their stream, a write readable, activations and weights usable, a result at
// the host.
struct Effect {
  const Machine &m;
  const std::vector<VectorProgram> &programs;

  Tick skewed(uint32_t slice, uint32_t width, Direction d) const {
    Geometry g = m.geometry();
    Position apart =
        g.ofSlice(int32_t(slice + width - 1)) - g.ofSlice(int32_t(slice));
    return std::max<Tick>(0, d == Direction::East ? apart : -apart);
  }
  Tick operator()(const ReadOp &op) const {
    return skewed(op.slice, op.width, op.out.ref.direction) + op.shape.span() +
           m.timing.read;
  }
  Tick operator()(const WriteOp &op) const {
    return skewed(op.slice, op.width, op.in.direction) + op.shape.span() +
           m.timing.write;
  }
  Tick operator()(const LoadOp &op) const {
    return op.shape.span() + m.timing.load;
  }
  Tick operator()(const InstallOp &op) const {
    return op.shape.span() + m.timing.install;
  }
  Tick operator()(const MatmulOp &op) const {
    return matmulOutputStart(m, op) + matmulOutputShape(m, op).span();
  }
  Tick operator()(const VectorOp &op) const {
    const VectorProgram &p = programs[op.program];
    Tick last = vectorInputShape(m, p, op.count).span();
    for (const VectorOutput &out : p.outputs) {
      last = std::max(last, vectorOutputStart(m, p, out) +
                                vectorOutputShape(m, p, out, op.count).span());
    }
    return last;
  }
  Tick operator()(const PermuteOp &op) const {
    return permuteOutputStart(m, op) + permuteOutputShape(op).span();
  }
  Tick operator()(const ReceiveOp &op) const { return op.shape.span(); }
  Tick operator()(const SendOp &op) const {
    // What a C2C link still has to carry is the other chip's business.
    return op.shape.span() + (op.link == kHostLink ? m.timing.host : 1);
  }
  Tick operator()(const FetchOp &) const { return fetchArrival(m, 0); }
};

// What of an effect's latency rule 7 does not count: it ends a step when the
// last vector was taken or issued, but for writes and the host.
Tick beyondEnd(const Machine &m, const Operation &op) {
  if (std::holds_alternative<ReadOp>(op)) {
    return m.timing.read - 1;
  }
  if (std::holds_alternative<LoadOp>(op)) {
    return m.timing.load - 1;
  }
  if (std::holds_alternative<InstallOp>(op)) {
    return m.timing.install - 1;
  }
  if (std::holds_alternative<FetchOp>(op)) {
    return m.timing.fetch - 1;
  }
  bool last =
      std::holds_alternative<WriteOp>(op) || std::holds_alternative<SendOp>(op);
  return last ? 0 : -1;
}

} // namespace

Tick completionTick(const Machine &machine,
                    const std::vector<VectorProgram> &programs,
                    const Instruction &instruction) {
  return instruction.tick +
         std::visit(Effect{machine, programs}, instruction.operation);
}

Tick endTick(const Machine &machine, const std::vector<VectorProgram> &programs,
             const std::vector<Instruction> &instructions) {
  Tick end = 0;
  for (const Instruction &i : instructions) {
    end = std::max(end, completionTick(machine, programs, i) -
                            beyondEnd(machine, i.operation));
  }
  return end;
}

void setLifetimes(const Problem &problem, const Schedule &schedule,
                  std::vector<SramRegion> &regions) {
  Geometry g = problem.machine->geometry();
  auto live = [&](uint32_t region, uint32_t slice, uint32_t width, Direction d,
                  Tick tick, Tick span) {
    Position apart =
        g.ofSlice(int32_t(slice + width - 1)) - g.ofSlice(int32_t(slice));
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
  std::vector<Tick> carrying(size_t(problem.machine->link.ports) + 1);
  for (const Gang &gang : problem.gangs) {
    for (const Member &member : gang.members) {
      for (const Reservation &r : reservationsOf(problem, member.operation)) {
        busy[r.resource] += Tick(r.shape.count());
      }
      // What goes to the next stage may still cross when the program has ended.
      if (auto *op = std::get_if<SendOp>(&member.operation);
          op && op->link != kHostLink && op->link <= problem.groupLinks) {
        carrying[op->link] += Tick(op->shape.count()) * op->width *
                              problem.machine->link.vectorTicks;
      }
    }
  }
  auto most = std::max_element(busy.begin(), busy.end());
  auto link = std::max_element(carrying.begin(), carrying.end());
  if (*link > *most) {
    return {criticalPath, *link,
            "link" + std::to_string(link - carrying.begin())};
  }
  return {criticalPath, *most,
          resourceName(*problem.machine, uint32_t(most - busy.begin()))};
}

} // namespace orrery::schedule
