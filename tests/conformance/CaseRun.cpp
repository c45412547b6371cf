#include "tests/conformance/CaseRun.h"

#include "models/RandomWeights.h"
#include "simulator/check/Check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <set>
#include <unistd.h>

namespace orrery::test {

namespace {

std::string n(int64_t value) { return std::to_string(value); }

std::string bits(float value) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.9g (0x%08x)", double(value),
                std::bit_cast<uint32_t>(value));
  return text;
}

/// Runs `reads` from position 0; one vector of logits a position.
class SequenceRun {
public:
  SequenceRun(runtime::Session &session, const models::WeightSource &weights,
              CaseOutcome &outcome)
      : session(session), interpreter(weights), outcome(outcome) {}

  bool run(const std::vector<std::vector<int32_t>> &reads) {
    for (const auto &ids : reads) {
      auto records = session.read(ids);
      if (!records) {
        return fail(records.error().message);
      }
      size_t at = 0;
      for (const auto &record : *records) {
        if (!step(record, std::span(ids).subspan(at, record.validTokens))) {
          return false;
        }
        at += record.validTokens;
      }
    }
    return true;
  }
  std::vector<std::vector<float>> logits;

private:
  bool fail(const std::string &what) {
    outcome.failure = "position " + n(session.currentPosition()) + ": " + what;
    return false;
  }
  bool step(const runtime::StepRecord &record, std::span<const int32_t> ids) {
    auto module = session.stepModule(*record.program);
    auto function = *module.getOps<mlir::func::FuncOp>().begin();
    auto expected = interpreter.run(function, ids, record.position);
    if (!expected) {
      return fail("interpreter: " + expected.error().message);
    }
    std::string wrong = compareStep(record, *expected);
    if (wrong.empty()) {
      wrong = auditStep(record, session.machine());
    }
    if (!wrong.empty()) {
      return fail(wrong);
    }
    ++outcome.steps;
    outcome.positions += record.validTokens;
    outcome.ticks += record.result.ticks;
    outcome.instructions += int64_t(record.result.executed.size());
    for (const auto &row : record.logits) {
      outcome.logits += int64_t(row.size());
      logits.push_back(row);
    }
    return true;
  }

  runtime::Session &session;
  llm::Interpreter interpreter;
  CaseOutcome &outcome;
};

/// The same ids, a token at a time up to the first third, then all the rest.
std::vector<std::vector<int32_t>>
otherChunks(const std::vector<std::vector<int32_t>> &reads) {
  std::vector<int32_t> all;
  for (const auto &ids : reads) {
    all.insert(all.end(), ids.begin(), ids.end());
  }
  std::vector<std::vector<int32_t>> out;
  size_t singles = std::min<size_t>(all.size() / 3, 6);
  for (size_t k = 0; k < singles; ++k) {
    out.push_back({all[k]});
  }
  out.emplace_back(all.begin() + std::ptrdiff_t(singles), all.end());
  return out;
}

bool share(const SramRegion &a, const SramRegion &b) {
  return a.bank == b.bank && a.slice < b.slice + b.width &&
         b.slice < a.slice + a.width && a.base < b.base + b.length &&
         b.base < a.base + a.length;
}
bool lasts(const SramRegion &r) {
  return r.kind == RegionKind::Weight || r.kind == RegionKind::Table ||
         r.kind == RegionKind::Kv;
}

/// Programs of a set agree on what lasts; nothing of one lies on what lasts or
/// on the text of another.
std::string contradiction(const Program &a, const Program &b) {
  for (const SramRegion &r : a.regions) {
    if (lasts(r) && std::find(b.regions.begin(), b.regions.end(), r) ==
                        b.regions.end()) {
      return r.name + " lies elsewhere, or not at all, in another program";
    }
    for (const SramRegion &s : b.regions) {
      bool text = r.kind == RegionKind::Instructions;
      if (text && share(r, s)) {
        return r.name + " (T " + n(a.tokens) + ", bucket " + n(a.bucket) +
               ") lies on " + s.name + " (T " + n(b.tokens) + ", bucket " +
               n(b.bucket) + ")";
      }
    }
  }
  return "";
}

} // namespace

std::string compareStep(const runtime::StepRecord &record,
                        const llm::StepOutput &expected) {
  const auto &sent = record.result.hostOutput;
  if (record.logits.size() != record.validTokens ||
      size_t(expected.logits.rows) != record.validTokens ||
      sent.size() < record.validTokens) {
    return "not one row of logits a token";
  }
  for (uint32_t t = 0; t < record.validTokens; ++t) {
    auto row = expected.logits.row(t);
    const auto &ours = record.logits[t];
    if (ours.empty() || ours.size() != row.size()) {
      return n(int64_t(ours.size())) + " logits, expected " +
             n(int64_t(row.size()));
    }
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::bit_cast<uint32_t>(row[i]) !=
              std::bit_cast<uint32_t>(ours[i]) ||
          !std::isfinite(row[i])) {
        return "token " + n(t) + " of " + n(record.validTokens) + ", logit " +
               n(int64_t(i)) + ": simulator " + bits(ours[i]) +
               ", interpreter " + bits(row[i]);
      }
    }
    auto next = int32_t(std::bit_cast<uint32_t>(sent[t][1]));
    if (next != expected.next[t]) {
      return "argmax of token " + n(t) + ": simulator " + n(next) +
             ", interpreter " + n(expected.next[t]);
    }
  }
  return "";
}

std::string auditStep(const runtime::StepRecord &record,
                      const Machine &machine) {
  const Program &program = *record.program;
  const sim::StepResult &result = record.result;
  if (result.ticks != program.predictedTicks) {
    return "ends at tick " + n(result.ticks) + ", predicted " +
           n(program.predictedTicks);
  }
  if (result.executed.size() != program.instructions.size() ||
      program.instructions.empty()) {
    return "executed " + n(int64_t(result.executed.size())) + " of " +
           n(int64_t(program.instructions.size())) + " instructions";
  }
  for (size_t i = 0; i < result.executed.size(); ++i) {
    if (result.executed[i] != program.instructions[i].tick) {
      return "instruction " + n(int64_t(i)) + " executed at " +
             n(result.executed[i]) + ", predicted " +
             n(program.instructions[i].tick);
    }
  }
  const sim::Counters &counters = result.counters;
  for (const sim::UnitCounters &unit : counters.units) {
    if (unit.busyTicks > uint64_t(result.ticks) ||
        unit.busyTicks + unit.idleTicks != uint64_t(result.ticks)) {
      return unit.name + ": busy " + n(int64_t(unit.busyTicks)) + " + idle " +
             n(int64_t(unit.idleTicks)) + " is not " + n(result.ticks);
    }
  }
  if (counters.bytesRead() != counters.readBytesTaken ||
      counters.readBytesDropped != 0 || counters.bytesRead() == 0) {
    return "bytes read " + n(int64_t(counters.bytesRead())) + ", taken " +
           n(int64_t(counters.readBytesTaken)) + ", dropped " +
           n(int64_t(counters.readBytesDropped));
  }
  if (counters.bytesRead() % uint64_t(machine.lanes) != 0) {
    return "bytes read are no whole vectors";
  }
  return "";
}

std::string auditPrograms(const runtime::Session &session) {
  auto programs = session.programs();
  for (const Program *p : programs) {
    std::string at = "T " + n(p->tokens) + " bucket " + n(p->bucket) + ": ";
    auto report = check::checkProgram(*p, session.machine());
    if (!report.ok()) {
      return at + "checker: " + report.violations[0].message + " (" +
             n(int64_t(report.violations.size())) + " in all)";
    }
    if (report.endTick != p->predictedTicks) {
      return at + "checker: end tick " + n(report.endTick) + ", predicted " +
             n(p->predictedTicks);
    }
    if (report.sram.used + report.sram.free != report.sram.capacity ||
        report.sram.capacity != session.machine().sramBytes()) {
      return at + "SRAM does not add up";
    }
    for (const Program *other : programs) {
      std::string wrong = other == p ? "" : contradiction(*p, *other);
      if (!wrong.empty()) {
        return at + wrong;
      }
    }
  }
  return "";
}

std::string writeMachine(const Machine &machine) {
  static int number = 0;
  std::string path = testing::TempDir() + "orrery-" + n(getpid()) + "-" +
                     n(number++) + ".json";
  std::ofstream(path) << formatMachine(machine);
  return path;
}

CaseOutcome runCase(const RandomCase &drawn) {
  CaseOutcome outcome;
  models::RandomWeights weights(drawn.model, drawn.seed);
  runtime::SessionOptions options = drawn.options;
  options.machine = writeMachine(drawn.machine);
  auto session = runtime::Session::open(weights, options);
  if (!session) {
    outcome.refusal = session.error().message;
    std::remove(options.machine.c_str());
    return outcome;
  }
  SequenceRun first(**session, weights, outcome);
  SequenceRun second(**session, weights, outcome);
  if (first.run(drawn.reads)) {
    (*session)->reset();
    if (second.run(otherChunks(drawn.reads)) &&
        first.logits != second.logits) {
      outcome.failure = "other chunks, other logits";
    }
  }
  if (outcome.failure.empty()) {
    outcome.failure = auditPrograms(**session);
  }
  std::set<uint32_t> buckets;
  for (const Program *p : (*session)->programs()) {
    buckets.insert(p->bucket);
  }
  outcome.programs = int64_t((*session)->programs().size());
  outcome.buckets = int64_t(buckets.size());
  std::remove(options.machine.c_str());
  return outcome;
}

} // namespace orrery::test
