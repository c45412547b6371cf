// Runs compiled token steps on all chips of a system at once: values and time
// in one run, or time alone. No SystemC here.
#pragma once

#include "machine/SystemProgram.h"
#include "simulator/Simulator.h"

namespace orrery::sim {

/// What the hosts give to a step.
struct SystemInput {
  uint32_t position = 0;    ///< POS
  uint32_t validTokens = 1; ///< NTOK
  /// For each of SystemProgram::chips: [T * inputVectors][lanes] f32. Not
  /// looked at in a timing-only run.
  std::vector<std::vector<float>> hostVectors;
};

/// A chip that was simulated.
struct ChipStep {
  uint32_t chip;      ///< index into SystemProgram::chips
  uint32_t alike = 1; ///< chips it stands for, itself among them
  /// In the chip's own ticks; the step's tick is ChipProgram::start later.
  StepResult result;
};

struct SystemResult {
  Tick ticks = 0; ///< at which the last chip ends, on the step's clock
  std::vector<ChipStep> simulated;
  /// For each of SystemProgram::chips: index into `simulated`.
  std::vector<uint32_t> simulatedAs;
  /// Of all chips of the program, static power through the whole step.
  EnergyCounters energy;

  const StepResult &of(size_t chip) const {
    return simulated[simulatedAs[chip]].result;
  }
};

/// Whether a timing-only run simulates one of many chips that provably do the
/// same (timing/ChipClasses.h), or each.
enum class Alike { Once, Each };

/// Chips and their SRAM, which stays as it is between steps. All programs of
/// one simulator name the same chips. Not thread-safe: SystemC has one
/// simulation a process at a time.
class SystemSimulator {
public:
  /// Values and time; an image for each of SystemProgram::chips.
  SystemSimulator(const Machine &machine, std::vector<SramImage> images);
  /// Timing only, without any SRAM contents.
  explicit SystemSimulator(const Machine &machine, Alike alike = Alike::Once);
  SystemSimulator(SystemSimulator &&) noexcept;
  ~SystemSimulator();

  /// Runs one step. A broken rule stops it: one line that names chip, unit,
  /// instruction, source location, the chip's cycle, and what was found there.
  /// After an error the SRAM is left in between.
  Expected<SystemResult> run(const SystemProgram &program,
                             const SystemInput &input);

  /// Later steps put the bursts of the simulated chips there; null: no trace.
  void setTrace(Trace *trace);

  /// Functional mode only; `chip` is an index into SystemProgram::chips.
  const SramImage &sram(size_t chip) const;
  /// The logits that `chip`, which runs `part`, left of token `token` (< T) of
  /// the last step: its shard, in its own order. Functional mode only.
  std::vector<float> logits(size_t chip, const Program &part,
                            uint32_t token) const;
  /// Host memory that packed weight tiles take, in bytes.
  size_t cacheBytes() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace orrery::sim
