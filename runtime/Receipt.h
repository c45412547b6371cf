// What a run proves about itself: named invariants, each with its figures.
//
// Gathers them step by step; judges nothing that it was not shown. An
// invariant that nobody checked says so and is neither kept nor broken.
#pragma once

#include "runtime/BitCompare.h"
#include "runtime/SramUse.h"
#include "simulator/Simulator.h"

#include <span>
#include <string>
#include <vector>

namespace orrery::runtime {

enum class Verdict { Ok, Fail, NotChecked, Note };
/// "ok", "FAIL", "not checked", "note".
const char *verdictName(Verdict verdict);

struct Invariant {
  std::string name, figures;
  Verdict verdict;
};

/// A token's logits over the host link, at its rate: what sampling on the host
/// would add to a step.
struct LogitsReadOut {
  Bytes bytes = 0;
  Tick ticks = 0;
};
LogitsReadOut logitsReadOut(const Machine &machine, const Program &program);

class Receipt {
public:
  explicit Receipt(const Machine &machine) : machine(machine) {}

  /// One simulated step.
  void addStep(const Program &program, const sim::StepResult &result);
  /// All programs of the run, once it is over: the static checker and the sum
  /// of SRAM.
  void addPrograms(std::span<const Program *const> programs);
  /// Tokens are drawn on the host, from logits whose way there no step pays.
  void addSampling(const LogitsReadOut &perToken) { readOut = perToken; }
  /// Logits against the interpreter's.
  void addBits(const BitCompare &compare);

  /// In the order in which they are printed.
  std::vector<Invariant> invariants() const;
  /// None is broken.
  bool ok() const;

private:
  void addCompletions(const Program &program, const sim::StepResult &result);
  Invariant predicted() const;
  Invariant busyAndIdle() const;
  Invariant bytesConsumed() const;
  Invariant hostPriced() const;
  Invariant capacity() const;
  Invariant staticCheck() const;
  Invariant bitsEqual() const;
  Invariant sampling() const;
  Invariant assumed() const;

  const Machine &machine;
  uint64_t steps = 0, instructions = 0, lateInstructions = 0, lateSteps = 0;
  uint64_t completions = 0, otherCompletions = 0;
  std::string firstOtherCompletion;
  Tick predictedTicks = 0, executedTicks = 0;
  uint64_t units = 0, unbalancedUnits = 0;
  uint64_t bytesRead = 0, bytesTaken = 0, bytesDropped = 0;
  uint64_t vectorsDropped = 0; ///< on streams, from whatever unit
  uint64_t hostBytesIn = 0, hostBytesInDue = 0;
  uint64_t hostBytesOut = 0, hostBytesOutDue = 0;
  SramUse sram;
  uint64_t programs = 0, violations = 0, instructionsProven = 0;
  std::string firstViolation;
  LogitsReadOut readOut;
  bool programsShown = false, bitsShown = false;
  BitCompare bits;
};

/// "1 step", "2,000 steps".
std::string counted(int64_t number, const char *noun);

/// The numbers of the machine that are assumed, not published or derived.
std::vector<SourcedNumber> assumedNumbers(const Machine &machine);
/// What no number says: where the simulated chip is built otherwise than the
/// published one, or leaves something out. See machine/README.md.
std::span<const char *const> assumedStructure();

} // namespace orrery::runtime
