// Runs compiled token steps on one simulated chip: values and time in one run,
// or time alone. No SystemC here, so that any program can use it. Many chips:
// SystemSimulator.h.
#pragma once

#include "machine/Program.h"
#include "machine/SramImage.h"
#include "simulator/report/Counters.h"

#include <memory>
#include <vector>

namespace orrery::sim {

class Trace;

/// What the host gives to a step.
struct StepInput {
  uint32_t position = 0;    ///< POS
  uint32_t validTokens = 1; ///< NTOK
  /// [T * inputVectors][lanes] f32; not looked at in a timing-only run.
  std::vector<float> hostVectors;
};

enum class Mode { Functional, TimingOnly };

struct StepResult {
  Tick ticks = 0; ///< end of the step, rule 7 of machine/README.md
  /// Per instruction: the tick at which its unit issued it (a wide read or
  /// write: at the first slice of its range).
  std::vector<Tick> executed;
  /// Per instruction: the tick at which its last effect is there: vectors on
  /// the stream (read, vector, matmul, permute, receive), or usable (write,
  /// load, install), or at the host (send); of a send to another chip,
  /// when its last vector has left the streams, one tick after it was there.
  std::vector<Tick> completed;
  Counters counters;
  /// f32 vectors that were sent, in order; empty in a timing-only run.
  std::vector<std::vector<float>> hostOutput;
};

/// One chip and its SRAM. SRAM stays as it is between steps: that is where the
/// KV cache lives. Not thread-safe: SystemC has one simulation a process at a
/// time.
class Simulator {
public:
  Simulator(const Machine &machine, SramImage image,
            Mode mode = Mode::Functional);
  /// Timing only, without any SRAM contents.
  explicit Simulator(const Machine &machine);
  Simulator(Simulator &&) noexcept;
  ~Simulator();

  /// Runs one step. A broken rule stops it: one line that names unit,
  /// instruction, source location, cycle, and what was found there. After an
  /// error the SRAM is left in between.
  Expected<StepResult> run(const Program &program, const StepInput &input);

  /// Later steps put their bursts there; null: no trace.
  void setTrace(Trace *trace);

  /// Functional mode only.
  const SramImage &sram() const;
  /// The logits of token `token` (< T) of the last step, `vocab` of them.
  /// Functional mode only.
  std::vector<float> logits(const Program &program, uint32_t token) const;
  /// Host memory that packed weight tiles take, in bytes.
  size_t cacheBytes() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace orrery::sim
