#include "simulator/modules/SystemRun.h"

#include "simulator/modules/Chip.h"
#include "simulator/modules/Simulation.h"

#include <cstring>

namespace orrery::sim {
namespace {

/// NaN as f32 and f16: a temporary's undefined lanes must not look like values.
constexpr int kPoison = 0xff;

void poisonTemporaries(const Program &program, int32_t lanes,
                       SramImage &image) {
  for (const SramRegion &r : program.regions) {
    if (r.kind != RegionKind::Temporary) {
      continue;
    }
    for (int32_t s = r.slice; s < r.slice + r.width; ++s) {
      std::memset(image.vector(s, r.bank, r.base), kPoison,
                  size_t(r.length) * size_t(lanes));
    }
  }
}

std::string prefix(const std::string &name) {
  return name.empty() ? "" : name + ": ";
}

Error inputError(const StepTask &task, const std::string &what, uint64_t found,
                 const std::string &expected) {
  return Error{prefix(task.name) + "step input: " + what + " " +
               std::to_string(found) + ", expected " + expected};
}

Status checkInput(const StepTask &task) {
  const Program &program = task.program;
  if (task.validTokens < 1 || task.validTokens > program.tokens) {
    return inputError(task, "valid tokens", task.validTokens,
                      "1 to " + std::to_string(program.tokens));
  }
  uint64_t end = uint64_t(task.position) + task.validTokens;
  if (end > program.bucket) {
    return inputError(task, "end position", end,
                      "at most the bucket, " + std::to_string(program.bucket));
  }
  auto lanes = uint64_t(task.machine.lanes);
  if (task.position / lanes != (end - 1) / lanes) {
    return inputError(task, "tokens up to position", end - 1,
                      "none across a multiple of " + std::to_string(lanes));
  }
  uint64_t floats = uint64_t(program.tokens) * program.inputVectors * lanes;
  bool functional = task.memory.image != nullptr;
  if (functional && task.hostVectors.size() != floats) {
    return inputError(task, "host floats", task.hostVectors.size(),
                      std::to_string(floats));
  }
  return Success{};
}

/// Regions that overlap are found here.
std::unique_ptr<Step> makeStep(const StepTask &task, StepResult &result) {
  try {
    return std::make_unique<Step>(task, result);
  } catch (const Illegal &illegal) {
    throw Violation{prefix(task.name) + "program: cycle " +
                    std::to_string(illegal.due) + ": " + illegal.found};
  }
}

using Chips = std::vector<std::unique_ptr<Chip>>;

/// Connects what simulated chip `to`, a representative, receives: from the chip
/// that stands for the real sender, but as far off as that one is.
void connect(Chips &simulated, size_t to, const ChipSet &chips) {
  uint32_t chip = chips.classes.representatives[to];
  for (size_t k = 1; k <= chips.wiring.linksOf(chip); ++k) {
    ChipLink &link = simulated[to]->link(k);
    const LinkEnd &sender = chips.wiring.sender(chip, k);
    link.setNoSender(sender.missing);
    link.setNoReceiver(chips.wiring.receiver(chip, k).missing);
    if (sender.missing.empty()) {
      Chip &from = *simulated[chips.classes.classOf[sender.chip]];
      link.connect(from.link(sender.number), chips.names[sender.chip],
                   chips.starts[sender.chip] - chips.starts[chip]);
    }
  }
}

void simulate(std::span<const std::unique_ptr<Step>> steps,
              const ChipSet &chips) {
  Simulation simulation;
  Chips simulated;
  for (const auto &step : steps) {
    uint32_t chip = chips.classes.representatives[simulated.size()];
    simulated.push_back(
        std::make_unique<Chip>(("chip_" + std::to_string(chip)).c_str(),
                               simulation, *step, chips.wiring.linksOf(chip)));
  }
  for (size_t i = 0; i < simulated.size(); ++i) {
    connect(simulated, i, chips);
  }
  simulation.run();
  for (const auto &chip : simulated) {
    chip->finish();
  }
}

} // namespace

Expected<std::vector<StepResult>> runSystem(std::span<const StepTask> tasks,
                                            const ChipSet &chips) {
  for (const StepTask &task : tasks) {
    if (Status ok = checkInput(task); !ok) {
      return ok.error();
    }
  }
  try {
    std::vector<StepResult> results(tasks.size());
    std::vector<std::unique_ptr<Step>> steps;
    for (size_t i = 0; i < tasks.size(); ++i) {
      steps.push_back(makeStep(tasks[i], results[i]));
      if (SramImage *image = tasks[i].memory.image.get()) {
        poisonTemporaries(tasks[i].program, tasks[i].machine.lanes, *image);
      }
    }
    simulate(steps, chips);
    for (const auto &step : steps) {
      step->finish();
    }
    return results;
  } catch (const Violation &violation) {
    return Error{violation.message};
  } catch (const sc_core::sc_report &report) {
    return Error{std::string("systemc: ") + report.what()};
  }
}

} // namespace orrery::sim
