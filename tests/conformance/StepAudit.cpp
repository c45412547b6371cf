// What must hold of each simulated step, and of the programs behind it.
#include "simulator/check/SystemCheck.h"
#include "tests/conformance/CaseRun.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <map>

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
  if (record.logits.size() != record.validTokens ||
      size_t(expected.logits.rows) != record.validTokens ||
      record.greedy.size() != record.validTokens) {
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
    if (record.greedy[t] != expected.next[t]) {
      return "argmax of token " + n(t) + ": simulator " + n(record.greedy[t]) +
             ", interpreter " + n(expected.next[t]);
    }
  }
  return "";
}

namespace {

std::string auditChip(const Program &program, const sim::StepResult &result,
                      const Machine &machine) {
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

/// What leaves a port arrives at the other end of its cable, and nothing else.
std::string auditLinks(const SystemProgram &program,
                       const sim::SystemResult &result,
                       const Machine &machine) {
  using Port = std::pair<int32_t, int32_t>;
  std::map<Port, uint64_t> out, in;
  for (size_t c = 0; c < program.chips.size(); ++c) {
    const ChipProgram &chip = program.chips[c];
    const auto &links = result.of(c).counters.links;
    for (size_t k = 0; k < links.size(); ++k) {
      bool known = k < chip.links.size();
      if (links[k].bytesOut > 0) {
        out[{chip.chip, known ? chip.links[k].out : -1}] += links[k].bytesOut;
      }
      if (links[k].bytesIn > 0) {
        in[{chip.chip, known ? chip.links[k].in : -1}] += links[k].bytesIn;
      }
    }
  }
  std::map<Port, uint64_t> due;
  for (const Link &cable : machine.system.links) {
    for (auto [from, to] : {std::pair(Port(cable.chip, cable.port),
                                      Port(cable.otherChip, cable.otherPort)),
                            std::pair(Port(cable.otherChip, cable.otherPort),
                                      Port(cable.chip, cable.port))}) {
      if (auto sent = out.find(from); sent != out.end()) {
        due[to] = sent->second;
        out.erase(sent);
      }
    }
  }
  if (!out.empty()) {
    return "chip " + n(out.begin()->first.first) + " sends where no cable is";
  }
  return due == in ? "" : "links: what was sent is not what was received";
}

} // namespace

std::string auditStep(const runtime::StepRecord &record,
                      const Machine &machine) {
  const SystemProgram &program = *record.program;
  if (record.result.simulated.size() != program.chips.size()) {
    return "simulated " + n(int64_t(record.result.simulated.size())) + " of " +
           n(int64_t(program.chips.size())) + " chips";
  }
  Tick end = 0;
  for (size_t c = 0; c < program.chips.size(); ++c) {
    const ChipProgram &chip = program.chips[c];
    const sim::StepResult &result = record.result.of(c);
    end = std::max(end, chip.start + result.ticks);
    std::string wrong = auditChip(program.parts[chip.part], result, machine);
    if (!wrong.empty()) {
      return "chip " + n(chip.chip) + ": " + wrong;
    }
  }
  if (record.result.ticks != end || end != program.predictedTicks) {
    return "the step ends at tick " + n(record.result.ticks) +
           ", its last chip at " + n(end) + ", predicted " +
           n(program.predictedTicks);
  }
  return auditLinks(program, record.result, machine);
}

namespace {

std::string auditPart(const check::Report &report, const Program &part,
                      const Machine &machine) {
  if (report.endTick != part.predictedTicks) {
    return "checker: end tick " + n(report.endTick) + ", predicted " +
           n(part.predictedTicks);
  }
  if (report.sram.used + report.sram.free != report.sram.capacity ||
      report.sram.capacity != machine.sramBytes()) {
    return "SRAM does not add up";
  }
  return "";
}

} // namespace

std::string auditPrograms(const runtime::Session &session) {
  auto programs = session.programs();
  for (const SystemProgram *p : programs) {
    const Program &first = p->parts.front();
    std::string at =
        "T " + n(first.tokens) + " bucket " + n(first.bucket) + ": ";
    auto report = check::checkSystem(*p, session.machine());
    if (!report.ok()) {
      return at + "checker: " + report.violations[0].message + " (" +
             n(int64_t(report.violations.size())) + " in all)";
    }
    if (report.endTick != p->predictedTicks) {
      return at + "checker: end tick " + n(report.endTick) + ", predicted " +
             n(p->predictedTicks);
    }
    for (size_t part = 0; part < p->parts.size(); ++part) {
      std::string wrong =
          auditPart(report.parts[part], p->parts[part], session.machine());
      for (const SystemProgram *other : programs) {
        if (wrong.empty() && other != p) {
          wrong = contradiction(p->parts[part], other->parts[part]);
        }
      }
      if (!wrong.empty()) {
        return at + "part " + n(int64_t(part)) + ": " + wrong;
      }
    }
  }
  return "";
}

} // namespace orrery::test
