// Runs a drawn case on the simulator and holds every promise against it.
#pragma once

#include "dialects/llm/Interpreter.h"
#include "tests/conformance/RandomCase.h"

#include <string>

namespace orrery::test {

/// What came of a case. All counts are over its steps.
struct CaseOutcome {
  /// The compiler's reason, when it refused the case; nothing ran then.
  std::string refusal;
  /// The first broken promise, with step and position; empty when all hold.
  std::string failure;
  int64_t steps = 0, positions = 0, logits = 0, instructions = 0;
  int64_t programs = 0, buckets = 0, ticks = 0;
  int64_t chips = 0, stages = 0, ranks = 0;
  int64_t cutStages = 0;          ///< that begin inside a feed-forward network
  int64_t relays = 0, cables = 0; ///< stages of third chips; between stages
  int64_t linkVectors = 0, fetches = 0;
  int64_t partials = 0; ///< matmuls of the programs that leave accumulators
};

/// Compiles, runs, checks. Then forgets the sequence and runs it again in
/// other chunks, over the stale KV cache: same logits.
CaseOutcome runCase(const RandomCase &drawn);

/// Equality of one simulated step with the interpreter's; empty, or what
/// differs first.
std::string compareStep(const runtime::StepRecord &record,
                        const llm::StepOutput &expected);
/// What is wrong with the ticks and counters of the step, on any chip and link;
/// empty if nothing.
std::string auditStep(const runtime::StepRecord &record,
                      const Machine &machine);
/// What the static checker finds, or how the SRAM maps of the programs of one
/// set contradict each other; empty if nothing.
std::string auditPrograms(const runtime::Session &session);

/// Writes the machine where loadMachine finds it; the file's path.
std::string writeMachine(const Machine &machine);

} // namespace orrery::test
