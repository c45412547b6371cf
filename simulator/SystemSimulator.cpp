#include "simulator/SystemSimulator.h"

#include "simulator/function/Logits.h"
#include "simulator/modules/SystemRun.h"

#include <algorithm>
#include <cassert>

namespace orrery::sim {
namespace {

std::vector<std::string> namesOf(const SystemProgram &program) {
  std::vector<std::string> names;
  for (const ChipProgram &chip : program.chips) {
    names.push_back(
        program.chips.size() == 1 ? "" : "chip " + std::to_string(chip.chip));
  }
  return names;
}

/// A representative as errors name it.
std::string standsFor(const std::string &name, uint32_t alike) {
  return alike == 1 ? name
                    : name + " (and " + std::to_string(alike - 1) + " alike)";
}

Expected<ChipSet> chipsOf(const SystemProgram &program, const Machine &machine,
                          Alike alike) {
  auto wiring = Wiring::of(program, machine);
  if (!wiring) {
    return wiring.error();
  }
  ChipSet chips;
  chips.wiring = std::move(*wiring);
  chips.classes = alike == Alike::Once ? chipsAlike(program, chips.wiring)
                                       : eachChip(program.chips.size());
  chips.names = namesOf(program);
  chips.starts.clear();
  for (const ChipProgram &chip : program.chips) {
    chips.starts.push_back(chip.start);
  }
  return chips;
}

void add(EnergyCounters &sum, const EnergyCounters &chip, double times) {
  sum.sramReadJoules += times * chip.sramReadJoules;
  sum.sramWriteJoules += times * chip.sramWriteJoules;
  sum.streamJoules += times * chip.streamJoules;
  sum.macJoules += times * chip.macJoules;
  sum.aluJoules += times * chip.aluJoules;
  sum.hostJoules += times * chip.hostJoules;
  sum.linkJoules += times * chip.linkJoules;
}

/// Joins the results of the representatives.
SystemResult join(std::vector<StepResult> results, const ChipSet &chips,
                  const Machine &machine) {
  const ChipClasses &classes = chips.classes;
  SystemResult out;
  for (size_t i = 0; i < results.size(); ++i) {
    add(out.energy, results[i].counters.energy, classes.sizes[i]);
    out.simulated.push_back(
        {classes.representatives[i], classes.sizes[i], std::move(results[i])});
  }
  out.simulatedAs = classes.classOf;
  for (size_t chip = 0; chip < chips.starts.size(); ++chip) {
    out.ticks = std::max(out.ticks, chips.starts[chip] + out.of(chip).ticks);
  }
  out.energy.staticJoules =
      staticJoules(machine, out.ticks) * double(chips.starts.size());
  return out;
}

} // namespace

struct SystemSimulator::State {
  State(const Machine &m, Alike alike) : machine(m), alike(alike) {}
  Machine machine;
  Alike alike;
  bool functional = false;
  /// By chip, or in a timing-only run by simulated chip.
  std::vector<std::unique_ptr<Memory>> memories;
  Trace *trace = nullptr;

  StepTask task(const SystemProgram &program, const SystemInput &input,
                const ChipSet &chips, size_t simulated) {
    uint32_t chip = chips.classes.representatives[simulated];
    const ChipProgram &c = program.chips[chip];
    StepTask task{
        machine, program.parts[c.part], input.position, input.validTokens,
        {},      *memories[simulated]};
    if (functional) {
      task.hostVectors = input.hostVectors[chip];
    }
    task.start = c.start;
    task.name = standsFor(chips.names[chip], chips.classes.sizes[simulated]);
    task.chip = uint32_t(c.chip);
    task.trace = trace;
    return task;
  }
};

SystemSimulator::SystemSimulator(const Machine &machine,
                                 std::vector<SramImage> images)
    : state(std::make_unique<State>(machine, Alike::Each)) {
  state->functional = true;
  for (SramImage &image : images) {
    state->memories.push_back(std::make_unique<Memory>(state->machine));
    state->memories.back()->image =
        std::make_unique<SramImage>(std::move(image));
  }
}

SystemSimulator::SystemSimulator(const Machine &machine, Alike alike)
    : state(std::make_unique<State>(machine, alike)) {}
SystemSimulator::SystemSimulator(SystemSimulator &&) noexcept = default;
SystemSimulator::~SystemSimulator() = default;

void SystemSimulator::setTrace(Trace *trace) { state->trace = trace; }

size_t SystemSimulator::cacheBytes() const {
  size_t bytes = 0;
  for (const auto &memory : state->memories) {
    bytes += memory->tiles.bytes();
  }
  return bytes;
}

const SramImage &SystemSimulator::sram(size_t chip) const {
  assert(state->functional && "no SRAM in a timing-only simulator");
  return *state->memories[chip]->image;
}

std::vector<float> SystemSimulator::logits(size_t chip, const Program &part,
                                           uint32_t token) const {
  return readLogits(part.logits, token, sram(chip), state->machine.lanes);
}

Expected<SystemResult> SystemSimulator::run(const SystemProgram &program,
                                            const SystemInput &input) {
  auto chips = chipsOf(program, state->machine, state->alike);
  if (!chips) {
    return chips.error();
  }
  size_t simulated = chips->classes.representatives.size();
  if (state->functional && (state->memories.size() != simulated ||
                            input.hostVectors.size() != simulated)) {
    return Error{"step input: expected SRAM images and host vectors for " +
                 std::to_string(simulated) + " chips, found " +
                 std::to_string(state->memories.size()) + " and " +
                 std::to_string(input.hostVectors.size())};
  }
  while (state->memories.size() < simulated) {
    state->memories.push_back(std::make_unique<Memory>(state->machine));
  }
  std::vector<StepTask> tasks;
  for (size_t i = 0; i < simulated; ++i) {
    tasks.push_back(state->task(program, input, *chips, i));
  }
  auto results = runSystem(tasks, *chips);
  if (!results) {
    return results.error();
  }
  return join(std::move(*results), *chips, state->machine);
}

} // namespace orrery::sim
