// What must hold of each simulated step, and of the programs behind it.
#include "simulator/check/Check.h"
#include "tests/conformance/CaseRun.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>

namespace orrery::test {

namespace {

std::string n(int64_t value) { return std::to_string(value); }

std::string bits(float value) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.9g (0x%08x)", double(value),
                std::bit_cast<uint32_t>(value));
  return text;
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
    if (lasts(r) &&
        std::find(b.regions.begin(), b.regions.end(), r) == b.regions.end()) {
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
      if (std::bit_cast<uint32_t>(row[i]) != std::bit_cast<uint32_t>(ours[i]) ||
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

} // namespace orrery::test
