#include "runtime/Receipt.h"

#include "compiler/schedule/Outcome.h"
#include "runtime/StageChips.h"
#include "simulator/check/SystemCheck.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>

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
void Receipt::addCompletions(const ChipProgram &chip, const Program &part,
                             const sim::StepResult &result) {
  for (size_t i = 0; i < part.instructions.size(); ++i) {
    const Instruction &instruction = part.instructions[i];
    Tick predicted =
        schedule::completionTick(machine, part.vectorPrograms, instruction);
    Tick found = i < result.completed.size() ? result.completed[i] : -1;
    ++completions;
    if (found == predicted) {
      continue;
    }
    ++otherCompletions;
    if (firstOtherCompletion.empty()) {
      firstOtherCompletion =
          formatv("{4}instruction {0} ({1}) predicted at {2:N}, found at {3:N}",
                  i, part.locations[instruction.location], predicted, found,
                  chips > 1 ? formatv("chip {0} ", chip.chip).str() : "")
              .str();
    }
  }
}

void Receipt::addCounters(const sim::Counters &c, Tick ticks) {
  for (const sim::UnitCounters &u : c.units) {
    unbalancedUnits += u.busyTicks > uint64_t(ticks) ||
                       u.busyTicks + u.idleTicks != uint64_t(ticks);
  }
  units += c.units.size();
  bytesRead += c.bytesRead();
  bytesTaken += c.readBytesTaken;
  bytesDropped += c.readBytesDropped;
  for (const sim::StreamCounters &stream : c.streams) {
    vectorsDropped += stream.droppedVectors;
  }
}

void Receipt::addChip(const ChipProgram &chip, const Program &part,
                      const sim::StepResult &result) {
  instructions += part.instructions.size();
  for (size_t i = 0; i < part.instructions.size(); ++i) {
    bool executed = i < result.executed.size();
    lateInstructions +=
        !executed || result.executed[i] != part.instructions[i].tick;
  }
  addCompletions(chip, part, result);
  addCounters(result.counters, result.ticks);
}

void Receipt::addHost(const SystemProgram &program,
                      const sim::SystemResult &result) {
  // Rows in and a vector out for each token of the step, valid or not.
  uint64_t vectorBytes = uint64_t(machine.lanes) * sizeof(float);
  auto stages = stageChips(program);
  for (size_t c = 0; c < program.chips.size(); ++c) {
    const ChipProgram &chip = program.chips[c];
    const Program &part = program.parts[chip.part];
    const sim::Counters &counters = result.of(c).counters;
    bool last = chip.stage + 1 == stages.size();
    hostBytesIn += counters.hostBytesIn;
    hostBytesOut += counters.hostBytesOut;
    hostBytesInDue += vectorBytes * part.tokens * part.inputVectors;
    hostBytesOutDue += last ? vectorBytes * part.tokens : 0;
  }
}

// Both ends of each cable that is used, by direction.
void Receipt::addLinks(const SystemProgram &program,
                       const sim::SystemResult &result) {
  std::map<std::pair<int32_t, int32_t>, uint64_t> sent, received;
  for (size_t c = 0; c < program.chips.size(); ++c) {
    const ChipProgram &chip = program.chips[c];
    const auto &counters = result.of(c).counters.links;
    for (size_t k = 0; k < std::min(chip.links.size(), counters.size()); ++k) {
      if (chip.links[k].out >= 0) {
        sent[cables.otherEnd(chip.chip, chip.links[k].out)] +=
            counters[k].bytesOut;
      }
      if (chip.links[k].in >= 0) {
        received[{chip.chip, chip.links[k].in}] += counters[k].bytesIn;
      }
    }
  }
  auto lanes = uint64_t(machine.lanes);
  links = 0;
  for (const auto &[end, bytes] : sent) {
    auto arrived = received.find(end);
    uint64_t there = arrived == received.end() ? 0 : arrived->second;
    links += bytes > 0;
    unequalLinks += bytes != there;
    vectorsSent += bytes / lanes;
  }
  for (const auto &[end, bytes] : received) {
    unequalLinks += bytes > 0 && !sent.contains(end);
    vectorsReceived += bytes / lanes;
  }
}

void Receipt::addStep(const SystemProgram &program,
                      const sim::SystemResult &result) {
  ++steps;
  chips = program.chips.size();
  simulatedChips = result.simulated.size();
  units = 0;
  for (const sim::ChipStep &simulated : result.simulated) {
    const ChipProgram &chip = program.chips[simulated.chip];
    const Program &part = program.parts[chip.part];
    addChip(chip, part, simulated.result);
    lateChips += simulated.result.ticks != part.predictedTicks;
  }
  lateSteps += result.ticks != program.predictedTicks;
  predictedTicks += program.predictedTicks;
  executedTicks += result.ticks;
  addHost(program, result);
  addLinks(program, result);
}

void Receipt::addPrograms(std::span<const SystemProgram *const> all) {
  programsShown = true;
  programs = all.size();
  sram = systemSram(machine, all);
  for (const SystemProgram *program : all) {
    check::SystemReport report = check::checkSystem(*program, machine);
    for (const check::Report &part : report.parts) {
      instructionsProven += part.instructions;
    }
    linkVectorsProven += report.linkVectorsProven;
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

void Receipt::addReference(const BitCompare &compare,
                           const std::string &backend) {
  reference = backend;
  referenceRan = true;
  referenceBits = compare;
}

void Receipt::addNoReference(const std::string &why) { reference = why; }

void Receipt::addBatch(const BitCompare &compare, const std::string &figures) {
  batch = figures;
  batchRan = true;
  batchBits = compare;
}

void Receipt::addNoBatch(const std::string &why) { batch = why; }

/// "on 8 chips", or "on 3 chips that stand for 576"; nothing for one.
std::string Receipt::chipsText() const {
  if (chips == 1) {
    return "";
  }
  return simulatedChips == chips ? formatv(" of {0} chips", chips).str()
                                 : formatv(" of {0} that stand for {1} chips",
                                           simulatedChips, chips)
                                       .str();
}

Invariant Receipt::predicted() const {
  std::string figures =
      formatv("{0:N} = {1:N} ticks in {2}{9}, {3}, {4:N} not at their tick, "
              "{5}, {6:N} not as predicted{7}{8}",
              predictedTicks, executedTicks, counted(int64_t(steps), "step"),
              counted(int64_t(instructions), "instruction"), lateInstructions,
              counted(int64_t(completions), "completion"), otherCompletions,
              firstOtherCompletion.empty() ? "" : "; first: ",
              firstOtherCompletion, chipsText())
          .str();
  return invariant("predicted ticks = executed ticks", figures,
                   steps > 0 && lateSteps == 0 && lateChips == 0 &&
                       lateInstructions == 0 && otherCompletions == 0);
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
  return invariant("embeddings, RoPE rows and results go over the host link",
                   formatv("{0:N} = {1:N} B in, {2:N} = {3:N} B out",
                           hostBytesIn, hostBytesInDue, hostBytesOut,
                           hostBytesOutDue)
                       .str(),
                   hostBytesIn > 0 && hostBytesIn == hostBytesInDue &&
                       hostBytesOut == hostBytesOutDue);
}

Invariant Receipt::linksCarry() const {
  return invariant(
      "vectors sent to other chips = vectors received",
      formatv("{0:N} = {1:N} over {2} in {3}, {4:N} not equal", vectorsSent,
              vectorsReceived, counted(int64_t(links), "link"),
              counted(int64_t(steps), "step"), unequalLinks)
          .str(),
      vectorsSent > 0 && vectorsSent == vectorsReceived && unequalLinks == 0);
}

Invariant Receipt::capacity() const {
  const SramUse &use = sram.chip();
  auto of = [&](RegionKind kind) { return use.bytes[size_t(kind)]; };
  const std::string &conflict = sram.total.conflict;
  std::string figures =
      formatv("{0:N} + {1:N} + {2:N} + {3:N} + {4:N} + {5:N} = {6:N} B{7}{8}",
              of(RegionKind::Weight), of(RegionKind::Table), of(RegionKind::Kv),
              of(RegionKind::Instructions), of(RegionKind::Temporary), use.free,
              use.capacity,
              sram.chips > 1
                  ? formatv(" on the fullest of {0} chips", sram.chips).str()
                  : "",
              conflict.empty() ? "" : "; " + conflict)
          .str();
  return invariant(
      "weights + tables + KV + program + temporaries + free = capacity",
      figures, sram.addsUp());
}

Invariant Receipt::staticCheck() const {
  std::string figures =
      formatv("{0}, {1}{4}, {2}{3}", counted(int64_t(programs), "program"),
              counted(int64_t(instructionsProven), "instruction"),
              counted(int64_t(violations), "violation"),
              firstViolation.empty() ? "" : ": " + firstViolation,
              sram.chips > 1
                  ? ", " + counted(int64_t(linkVectorsProven), "vector") +
                        " on links"
                  : "")
          .str();
  return invariant("static check of every program", figures,
                   programs > 0 && violations == 0);
}

static bool allEqual(const BitCompare &bits) {
  return bits.rows() > 0 && bits.different() == 0 && bits.otherChoices() == 0;
}

static std::string bitsText(const BitCompare &bits) {
  std::string figures =
      formatv("{0:N} values at {1}, {2:N} differ; {3}, {4:N} not its",
              bits.values(), counted(int64_t(bits.rows()), "position"),
              bits.different(), counted(int64_t(bits.choices()), "token"),
              bits.otherChoices())
          .str();
  if (auto first = bits.firstChoice()) {
    figures += formatv("; first after position {0}: {1} for {2}",
                       first->position, first->found, first->expected);
  }
  return figures;
}

Invariant Receipt::bitsEqual() const {
  const char *name = "logits = the interpreter's, bit for bit";
  if (!bitsShown) {
    return {name, "`orrery validate` compares them", Verdict::NotChecked};
  }
  return invariant(name, bitsText(bits), allEqual(bits));
}

Invariant Receipt::referenceEqual() const {
  const char *name = "GPU reference's logits = the interpreter's, bit for bit";
  if (!referenceRan) {
    return {name, reference, Verdict::NotChecked};
  }
  return invariant(name, reference + ": " + bitsText(referenceBits),
                   allEqual(referenceBits));
}

Invariant Receipt::batchEqual() const {
  const char *name = "batched decode's logits = each sequence's alone";
  if (!batchRan) {
    return {name, batch, Verdict::NotChecked};
  }
  return invariant(name, batch + ": " + bitsText(batchBits),
                   allEqual(batchBits));
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
  if (chips > 1) {
    all.push_back(linksCarry());
  }
  if (readOut.bytes > 0) {
    all.push_back(sampling());
  }
  if (programsShown) {
    all.push_back(capacity());
    all.push_back(staticCheck());
  }
  all.push_back(bitsEqual());
  if (!reference.empty()) {
    all.push_back(referenceEqual());
  }
  if (!batch.empty()) {
    all.push_back(batchEqual());
  }
  all.push_back(assumed());
  return all;
}

bool Receipt::ok() const {
  auto all = invariants();
  return std::none_of(all.begin(), all.end(), [](const Invariant &i) {
    return i.verdict == Verdict::Fail;
  });
}

LogitsReadOut logitsReadOut(const Machine &machine,
                            const SystemProgram &program) {
  auto last = stageChips(program).back();
  const Program &part = program.parts[program.chips[last.front()].part];
  Tick vectors = Tick(part.logits.vectors);
  return {Bytes(last.size()) * vectors * machine.lanes * Bytes(sizeof(float)),
          vectors * Tick(sizeof(float)) * machine.timing.hostVector};
}

std::span<const char *const> assumedStructure() {
  static constexpr const char *kFacts[] = {
      "block scales are applied inside the MXM (v1: int8 by channel, f16)",
      "activations wait in a buffer, filled by a load instruction",
      "one SXM pass transposes a whole tile (v1: 16 x 16 at a time)",
      "the VXM quantizes across lanes without taking ALU slots",
      "one ICU fetches for all queues; buffers are full when a step begins",
      "each port has one instruction queue of its own (v1: 144 queues)",
      "embedding and RoPE rows come from the host, results go there",
      "links have their ports at the east edge and buffer what they carry",
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
