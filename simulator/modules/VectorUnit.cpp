#include "simulator/modules/VectorUnit.h"

#include "machine/PartialSums.h"
#include "machine/Timing.h"
#include "simulator/function/VectorValues.h"

namespace orrery::sim {

VectorUnit::VectorUnit(sc_core::sc_module_name name, ChipClock &clock,
                       Step &step)
    : sc_module(name), step(step),
      queue(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issue(number, now); });
          },
          nullptr) {}

void VectorUnit::check(const VectorOp &op, Tick now) const {
  if (op.program >= step.program.vectorPrograms.size()) {
    throw Illegal(now, "vector program " + std::to_string(op.program) + " of " +
                           std::to_string(step.program.vectorPrograms.size()));
  }
  const VectorProgram &p = step.program.vectorPrograms[op.program];
  if (op.inputs != p.inputs.size() || op.outputs != p.outputs.size() ||
      op.inputs > op.in.size() || op.outputs > op.out.size()) {
    throw Illegal(now, std::to_string(op.inputs) + " inputs and " +
                           std::to_string(op.outputs) +
                           " outputs for a program of " +
                           std::to_string(p.inputs.size()) + " and " +
                           std::to_string(p.outputs.size()));
  }
  for (size_t s = 0; s < p.steps.size(); ++s) {
    size_t known = p.inputs.size() + s;
    bool isMade = p.steps[s].op == AluOp::Immediate;
    if (!isMade && (p.steps[s].a >= known || p.steps[s].b >= known)) {
      throw Illegal(now, "step " + std::to_string(s) +
                             " uses a value that is not there yet");
    }
  }
  for (const VectorOutput &out : p.outputs) {
    if (out.value >= p.inputs.size() + p.steps.size()) {
      throw Illegal(now, "output of value " + std::to_string(out.value) +
                             ", which does not exist");
    }
    if (!reducesTo(out.reduction, out.type)) {
      throw Illegal(now, "a reduction that is not f32");
    }
  }
  if (!sumsAreOnlyAdded(p)) {
    throw Illegal(now, "accumulators in another use than add_sums");
  }
  if (op.count < 1 || p.group < 1 || op.count % p.group != 0) {
    throw Illegal(now, std::to_string(op.count) + " vectors in groups of " +
                           std::to_string(p.group));
  }
}

void VectorUnit::issue(uint32_t number, Tick now) {
  // 1. and 2. The instruction that is due, and whether it may be issued.
  const auto &op = step.op<VectorOp>(number);
  check(op, now);
  const VectorProgram &program = step.program.vectorPrograms[op.program];
  uint32_t interval = vectorInterval(step.machine, program);
  BurstTicks ticks{now, canonical({op.count, interval, 1, 0})};
  booked.book(ticks.first, ticks.last(), number, now);
  // 3. Values and streams.
  std::vector<Operands> inputs(op.inputs);
  for (uint32_t i = 0; i < op.inputs; ++i) {
    step.take(op.in[i], uint32_t(streamsOf(program.inputs[i])),
              step.geometry.ofVxm(), ticks, inputs[i]);
  }
  drive(op, program, number, ticks, std::move(inputs));
  // 4. Book.
  uint64_t perLane = program.steps.size();
  for (const VectorOutput &out : program.outputs) {
    perLane += out.reduction != Reduction::None ? 1 : 0;
  }
  step.result.counters.aluOps +=
      perLane * op.count * uint64_t(step.machine.lanes);
  step.book(step.units.vector(), number, op.count, ticks.first, ticks.last(),
            uint64_t(ticks.last() - ticks.first + 1));
}

void VectorUnit::drive(const VectorOp &op, const VectorProgram &program,
                       uint32_t number, const BurstTicks &ticks,
                       std::vector<Operands> inputs) {
  std::shared_ptr<VectorRun> run;
  if (step.functional) {
    run = std::make_shared<VectorRun>(program, step.registers, number, ticks,
                                      std::move(inputs), step.memory.buffers);
  }
  Tick completed = ticks.last();
  for (uint32_t o = 0; o < op.outputs; ++o) {
    const VectorOutput &out = program.outputs[o];
    // A result leaves its latency after the last vector it needs was taken.
    bool reduces = out.reduction != Reduction::None;
    uint32_t group = reduces ? program.group : 1;
    uint32_t results = op.count / group;
    BurstShape shape{results, group * ticks.shape.stride, 1, 0};
    if (op.count == 1) {
      shape = {};
    }
    Tick first =
        ticks.at(group - 1) + vectorLatency(step.machine, program, out);
    BurstSlot slot =
        step.drive(number, op.out[o], uint32_t(streamsOf(out.type)),
                   step.geometry.ofVxm(), first, shape, ticks.first);
    completed = std::max(completed, first + shape.span());
    if (step.functional) {
      step.setValues(slot, std::make_shared<VectorOutputValues>(run, o));
    }
  }
  step.done(number, ticks.first, completed, completed + 1);
}

} // namespace orrery::sim
