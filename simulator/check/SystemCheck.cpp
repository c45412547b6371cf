// The order in which the rules of a system are checked.
#include "simulator/check/SystemCheck.h"

#include "simulator/check/SystemExamination.h"

#include <algorithm>

namespace orrery::check {

/// "operand: part 2: ...": of several parts, the message says which.
static std::string inPart(const Violation &v, size_t part) {
  return v.rule + ": part " + std::to_string(part) +
         v.message.substr(v.rule.size());
}

/// The program of every part, once; its links, when they mean something.
static void checkParts(SystemExamination &exam) {
  const std::vector<Program> &parts = exam.system.parts;
  for (size_t p = 0; p < parts.size(); ++p) {
    Report report = checkProgram(parts[p], exam.machine);
    bool malformed =
        std::any_of(report.violations.begin(), report.violations.end(),
                    [](const Violation &v) {
                      return v.rule == ruleName(Rule::Form) ||
                             v.rule == ruleName(Rule::Order);
                    });
    exam.traffic.push_back(
        malformed ? std::vector<LinkTraffic>()
                  : linkTrafficOf(parts[p], exam.machine.link.ports));
    for (const Violation &v : report.violations) {
      exam.keep({v.rule, parts.size() == 1 ? v.message : inPart(v, p),
                 int32_t(p), -1, v.instruction, v.tick});
    }
    exam.report.violationsNotKept += report.violationsNotKept;
    exam.report.parts.push_back(std::move(report));
  }
}

SystemReport checkSystem(const SystemProgram &system, const Machine &machine) {
  SystemReport report;
  SystemExamination exam{system, machine, report, {}, {}};
  checkParts(exam);
  // Everything else trusts the chips' indices.
  if (!checkChips(exam)) {
    return report;
  }
  bool staged = checkStages(exam);
  checkCabling(exam);
  if (staged) {
    checkRanks(exam);
  }
  checkLinks(exam);
  checkSystemEnd(exam);
  return report;
}

std::string nameOf(const SystemExamination &exam, const LinkEnd &end) {
  return "chip " + std::to_string(exam.chip(end).chip) + " link " +
         std::to_string(end.number);
}

void SystemExamination::keep(SystemViolation violation) {
  if (report.violations.size() < kMaxViolations) {
    report.violations.push_back(std::move(violation));
  } else {
    ++report.violationsNotKept;
  }
}

void SystemExamination::fail(Rule rule, uint32_t chip, uint32_t index,
                             Tick tick, const std::string &found) {
  const ChipProgram &c = system.chips[chip];
  std::string message = std::string(ruleName(rule)) + ": chip " +
                        std::to_string(c.chip) + ": part " +
                        std::to_string(c.part) + " " +
                        describe(system.parts[c.part], index) +
                        " due at tick " + std::to_string(tick) + ": " + found;
  keep({ruleName(rule), std::move(message), int32_t(c.part), c.chip, index,
        tick});
}

void SystemExamination::fail(Rule rule, int32_t chip,
                             const std::string &found) {
  std::string where = chip < 0 ? "" : "chip " + std::to_string(chip) + ": ";
  keep({ruleName(rule), std::string(ruleName(rule)) + ": " + where + found, -1,
        chip, kNoInstruction, 0});
}

} // namespace orrery::check
