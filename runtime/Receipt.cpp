#include "runtime/Receipt.h"

#include "compiler/schedule/Outcome.h"
#include "simulator/check/Check.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using llvm::formatv;

namespace orrery::runtime {

const char *verdictName(Verdict verdict) {
  constexpr const char *kNames[] = {"ok", "FAIL", "not checked", "note"};
  return kNames[size_t(verdict)];
}

std::string counted(int64_t number, const char *noun) {
  return formatv("{0:N} {1}{2}", number, noun, number == 1 ? "" : "s").str();
}

static Invariant invariant(const char *name, std::string figures, bool kept) {
  return {name, std::move(figures), kept ? Verdict::Ok : Verdict::Fail};
}

// The tick of an instruction is an order that the simulator obeys; the tick at
// which it is done follows from the simulator's own units.
void Receipt::addCompletions(const Program &program,
                             const sim::StepResult &result) {
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction &instruction = program.instructions[i];
    Tick predicted =
        schedule::completionTick(machine, program.vectorPrograms, instruction);
    Tick found = i < result.completed.size() ? result.completed[i] : -1;
    ++completions;
    if (found == predicted) {
      continue;
    }
    ++otherCompletions;
    if (firstOtherCompletion.empty()) {
      firstOtherCompletion =
          formatv("instruction {0} ({1}) predicted at {2:N}, found at {3:N}", i,
                  program.locations[instruction.location], predicted, found)
              .str();
    }
  }
}

void Receipt::addStep(const Program &program, const sim::StepResult &result) {
  ++steps;
  instructions += program.instructions.size();
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    lateInstructions += result.executed[i] != program.instructions[i].tick;
  }
  addCompletions(program, result);
  lateSteps += result.ticks != program.predictedTicks;
  predictedTicks += program.predictedTicks;
  executedTicks += result.ticks;
  const sim::Counters &c = result.counters;
  units = c.units.size();
  for (const sim::UnitCounters &u : c.units) {
    unbalancedUnits += u.busyTicks > uint64_t(result.ticks) ||
                       u.busyTicks + u.idleTicks != uint64_t(result.ticks);
  }
  bytesRead += c.bytesRead();
  bytesTaken += c.readBytesTaken;
  bytesDropped += c.readBytesDropped;
  for (const sim::StreamCounters &stream : c.streams) {
    vectorsDropped += stream.droppedVectors;
  }
  hostBytesIn += c.hostBytesIn;
  hostBytesOut += c.hostBytesOut;
  // A row in and a vector out for each token of the step, valid or not.
  uint64_t vectorBytes = uint64_t(machine.lanes) * sizeof(float);
  hostBytesInDue += vectorBytes * program.tokens * program.inputVectors;
  hostBytesOutDue += vectorBytes * program.tokens;
}

void Receipt::addPrograms(std::span<const Program *const> all) {
  programsShown = true;
  programs = all.size();
  sram = sramUse(machine, all);
  for (const Program *program : all) {
    check::Report report = check::checkProgram(*program, machine);
    instructionsProven += report.instructions;
    violations += report.violations.size() + report.violationsNotKept;
    if (firstViolation.empty() && !report.ok()) {
      firstViolation = report.violations.front().message;
    }
  }
}

void Receipt::addBits(const BitCompare &compare) {
  bitsShown = true;
  bits = compare;
}

Invariant Receipt::predicted() const {
  std::string figures =
      formatv(
          "{0:N} = {1:N} ticks in {2}, {3}, {4:N} not at their tick, "
          "{5}, {6:N} not as predicted{7}{8}",
          predictedTicks, executedTicks, counted(int64_t(steps), "step"),
          counted(int64_t(instructions), "instruction"), lateInstructions,
          counted(int64_t(completions), "completion"), otherCompletions,
          firstOtherCompletion.empty() ? "" : "; first: ", firstOtherCompletion)
          .str();
  return invariant("predicted ticks = executed ticks", figures,
                   steps > 0 && lateSteps == 0 && lateInstructions == 0 &&
                       otherCompletions == 0);
}

Invariant Receipt::busyAndIdle() const {
  return invariant("busy + idle = total on each unit",
                   formatv("{0:N} units in {1}, {2:N} off", units,
                           counted(int64_t(steps), "step"), unbalancedUnits)
                       .str(),
                   steps > 0 && unbalancedUnits == 0);
}

Invariant Receipt::bytesConsumed() const {
  return invariant("bytes read from SRAM = bytes consumed",
                   formatv("{0:N} = {1:N}, {2:N} dropped; {3:N} vectors of any "
                           "unit that nobody took",
                           bytesRead, bytesTaken, bytesDropped, vectorsDropped)
                       .str(),
                   bytesRead > 0 && bytesRead == bytesTaken &&
                       bytesDropped == 0 && vectorsDropped == 0);
}

Invariant Receipt::hostPriced() const {
  return invariant("embedding rows and results go over the host link",
                   formatv("{0:N} = {1:N} B in, {2:N} = {3:N} B out",
                           hostBytesIn, hostBytesInDue, hostBytesOut,
                           hostBytesOutDue)
                       .str(),
                   hostBytesIn > 0 && hostBytesIn == hostBytesInDue &&
                       hostBytesOut == hostBytesOutDue);
}

Invariant Receipt::capacity() const {
  auto of = [&](RegionKind kind) { return sram.bytes[size_t(kind)]; };
  std::string figures =
      formatv("{0:N} + {1:N} + {2:N} + {3:N} + {4:N} + {5:N} = {6:N} B{7}",
              of(RegionKind::Weight), of(RegionKind::Table), of(RegionKind::Kv),
              of(RegionKind::Instructions), of(RegionKind::Temporary),
              sram.free, sram.capacity,
              sram.conflict.empty() ? "" : "; " + sram.conflict)
          .str();
  return invariant(
      "weights + tables + KV + program + temporaries + free = capacity",
      figures, sram.addsUp());
}

Invariant Receipt::staticCheck() const {
  std::string figures =
      formatv("{0}, {1}, {2}{3}", counted(int64_t(programs), "program"),
              counted(int64_t(instructionsProven), "instruction"),
              counted(int64_t(violations), "violation"),
              firstViolation.empty() ? "" : ": " + firstViolation)
          .str();
  return invariant("static check of every program", figures,
                   programs > 0 && violations == 0);
}

Invariant Receipt::bitsEqual() const {
  const char *name = "logits = the interpreter's, bit for bit";
  if (!bitsShown) {
    return {name, "`orrery validate` compares them", Verdict::NotChecked};
  }
  std::string figures =
      formatv("{0:N} values at {1}, {2:N} differ", bits.values(),
              counted(int64_t(bits.rows()), "position"), bits.different())
          .str();
  return invariant(name, figures, bits.rows() > 0 && bits.different() == 0);
}

Invariant Receipt::sampling() const {
  return {"logits for sampling on the host are in no figure",
          formatv("{0:N} B and {1:N} ticks of the host link a token",
                  readOut.bytes, readOut.ticks)
              .str(),
          Verdict::Note};
}

Invariant Receipt::assumed() const {
  return {"assumed, each listed below",
          formatv("{0} of {1} numbers of the machine, {2} facts of its "
                  "structure",
                  assumedNumbers(machine).size(), machine.numbers.size(),
                  assumedStructure().size())
              .str(),
          Verdict::Note};
}

std::vector<Invariant> Receipt::invariants() const {
  std::vector<Invariant> all;
  if (steps > 0) {
    all = {predicted(), busyAndIdle(), bytesConsumed(), hostPriced()};
  }
  if (readOut.bytes > 0) {
    all.push_back(sampling());
  }
  if (programsShown) {
    all.push_back(capacity());
    all.push_back(staticCheck());
  }
  all.push_back(bitsEqual());
  all.push_back(assumed());
  return all;
}

bool Receipt::ok() const {
  auto all = invariants();
  return std::none_of(all.begin(), all.end(), [](const Invariant &i) {
    return i.verdict == Verdict::Fail;
  });
}

LogitsReadOut logitsReadOut(const Machine &machine, const Program &program) {
  Tick vectors = Tick(program.logits.vectors);
  return {Bytes(vectors) * machine.lanes * Bytes(sizeof(float)),
          vectors * Tick(sizeof(float)) * machine.timing.hostVector};
}

std::span<const char *const> assumedStructure() {
  static constexpr const char *kFacts[] = {
      "block scales are applied inside the MXM (v1: int8 by channel, f16)",
      "activations wait in a buffer, filled by a load instruction",
      "one SXM pass transposes a whole tile (v1: 16 x 16 at a time)",
      "the VXM quantizes across lanes without taking ALU slots",
      "fetching instructions takes no ticks and no energy; text takes SRAM",
      "each port has one instruction queue of its own (v1: 144 queues)",
      "embedding rows come from the host, results go there",
  };
  return kFacts;
}

std::vector<SourcedNumber> assumedNumbers(const Machine &machine) {
  std::vector<SourcedNumber> out;
  for (const SourcedNumber &n : machine.numbers) {
    if (n.source.starts_with("assumed")) {
      out.push_back(n);
    }
  }
  return out;
}

} // namespace orrery::runtime
