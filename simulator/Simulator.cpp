#include "simulator/Simulator.h"

#include "simulator/function/Logits.h"
#include "simulator/modules/SystemRun.h"

#include <cassert>

namespace orrery::sim {

struct Simulator::State {
  explicit State(const Machine &m) : machine(m), memory(machine) {}
  Machine machine;
  Memory memory;
  Trace *trace = nullptr;
};

Simulator::Simulator(const Machine &machine, SramImage image, Mode mode)
    : state(std::make_unique<State>(machine)) {
  if (mode == Mode::Functional) {
    state->memory.image = std::make_unique<SramImage>(std::move(image));
  }
}

Simulator::Simulator(const Machine &machine)
    : state(std::make_unique<State>(machine)) {}
Simulator::Simulator(Simulator &&) noexcept = default;
Simulator::~Simulator() = default;

void Simulator::setTrace(Trace *trace) { state->trace = trace; }
size_t Simulator::cacheBytes() const { return state->memory.tiles.bytes(); }

const SramImage &Simulator::sram() const {
  assert(state->memory.image && "no SRAM in a timing-only simulator");
  return *state->memory.image;
}

Expected<StepResult> Simulator::run(const Program &program,
                                    const StepInput &input) {
  StepTask task{state->machine,    program,           input.position,
                input.validTokens, input.hostVectors, state->memory};
  task.trace = state->trace;
  auto results = runSystem({&task, 1}, ChipSet());
  if (!results) {
    return results.error();
  }
  return std::move(results->front());
}

std::vector<float> Simulator::logits(const Program &program,
                                     uint32_t token) const {
  return readLogits(program.logits, token, sram(), state->machine.lanes);
}

} // namespace orrery::sim
