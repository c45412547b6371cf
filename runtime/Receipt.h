// What a run proves about itself: named invariants, each with its figures.
//
// Gathers them step by step; judges nothing that it was not shown. An
// invariant that nobody checked says so and is neither kept nor broken.
#pragma once

#include "runtime/BitCompare.h"
#include "runtime/SramUse.h"
#include "simulator/SystemSimulator.h"

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

/// A token's logits over the host links, at their rate: what sampling on the
/// host would add to a step. The ranks of the last stage send their shards at
/// the same time.
struct LogitsReadOut {
  Bytes bytes = 0;
  Tick ticks = 0;
};
LogitsReadOut logitsReadOut(const Machine &machine,
                            const SystemProgram &program);

class Receipt {
public:
  explicit Receipt(const Machine &machine)
      : machine(machine), cables(machine) {}

  /// One simulated step: each of its chips, and the links between them.
  void addStep(const SystemProgram &program, const sim::SystemResult &result);
  /// All programs of the run, once it is over: the static checker and the sum
  /// of SRAM.
  void addPrograms(std::span<const SystemProgram *const> programs);
  /// Tokens are drawn on the host, from logits whose way there no step pays.
  void addSampling(const LogitsReadOut &perToken) { readOut = perToken; }
  /// Logits against the interpreter's.
  void addBits(const BitCompare &compare);
  /// Logits of the GPU reference against the interpreter's; `backend` says
  /// what ran it.
  void addReference(const BitCompare &compare, const std::string &backend);
  /// The reference did not run, for the reason `why`.
  void addNoReference(const std::string &why);
  /// Rows of sequences that the reference decoded together, against those of
  /// each alone; `figures` says how many there were.
  void addBatch(const BitCompare &compare, const std::string &figures);
  /// They were asked for and did not run, for the reason `why`.
  void addNoBatch(const std::string &why);

  /// In the order in which they are printed.
  std::vector<Invariant> invariants() const;
  /// None is broken.
  bool ok() const;

private:
  void addChip(const ChipProgram &chip, const Program &part,
               const sim::StepResult &result);
  void addCompletions(const ChipProgram &chip, const Program &part,
                      const sim::StepResult &result);
  void addCounters(const sim::Counters &counters, Tick ticks);
  void addHost(const SystemProgram &program, const sim::SystemResult &result);
  void addLinks(const SystemProgram &program, const sim::SystemResult &result);
  std::string chipsText() const;
  Invariant predicted() const;
  Invariant busyAndIdle() const;
  Invariant bytesConsumed() const;
  Invariant hostPriced() const;
  Invariant linksCarry() const;
  Invariant capacity() const;
  Invariant staticCheck() const;
  Invariant bitsEqual() const;
  Invariant referenceEqual() const;
  Invariant batchEqual() const;
  Invariant sampling() const;
  Invariant assumed() const;

  const Machine &machine;
  PortMap cables;
  uint64_t chips = 0, simulatedChips = 0; ///< of a step
  uint64_t steps = 0, instructions = 0, lateInstructions = 0;
  uint64_t lateSteps = 0, lateChips = 0;
  uint64_t completions = 0, otherCompletions = 0;
  std::string firstOtherCompletion;
  Tick predictedTicks = 0, executedTicks = 0;
  uint64_t units = 0, unbalancedUnits = 0;
  uint64_t bytesRead = 0, bytesTaken = 0, bytesDropped = 0;
  uint64_t vectorsDropped = 0; ///< on streams, from whatever unit
  uint64_t hostBytesIn = 0, hostBytesInDue = 0;
  uint64_t hostBytesOut = 0, hostBytesOutDue = 0;
  uint64_t links = 0, unequalLinks = 0; ///< of a step; over all steps
  uint64_t vectorsSent = 0, vectorsReceived = 0;
  SystemSram sram;
  uint64_t programs = 0, violations = 0, instructionsProven = 0;
  uint64_t linkVectorsProven = 0;
  std::string firstViolation;
  LogitsReadOut readOut;
  bool programsShown = false, bitsShown = false;
  BitCompare bits;
  std::string reference; ///< what ran it, or why nothing did; empty: no line
  bool referenceRan = false;
  BitCompare referenceBits;
  std::string batch; ///< its figures, or why none ran; empty: no line
  bool batchRan = false;
  BitCompare batchBits;
};

/// "1 step", "2,000 steps".
std::string counted(int64_t number, const char *noun);

/// The numbers of the machine that are assumed, not published or derived.
std::vector<SourcedNumber> assumedNumbers(const Machine &machine);
/// What no number says: where the simulated chip is built otherwise than the
/// published one, or leaves something out. See machine/README.md.
std::span<const char *const> assumedStructure();

} // namespace orrery::runtime
