// The system under check, and where its rule families put what they find.
#pragma once

#include "simulator/check/Examination.h"
#include "simulator/check/LinkTraffic.h"
#include "simulator/check/Rules.h"
#include "simulator/check/SystemCheck.h"

namespace orrery::check {

/// One end of a link in use: which chip, and its own number for the link.
struct LinkEnd {
  uint32_t chip; ///< index into SystemProgram::chips
  LinkNumber number;
};
/// One direction of a cable: what `from` sends, `to` receives.
struct Wire {
  LinkEnd from, to;
};

struct SystemExamination {
  const SystemProgram &system;
  const Machine &machine;
  SystemReport &report;
  /// By part, then by link number. Empty for a malformed part, which says
  /// nothing about its links.
  std::vector<std::vector<LinkTraffic>> traffic;
  std::vector<Wire> wires;

  const ChipProgram &chip(const LinkEnd &end) const {
    return system.chips[end.chip];
  }
  bool isFormed(uint32_t chip) const {
    return !traffic[system.chips[chip].part].empty();
  }
  const LinkTraffic &trafficOf(const LinkEnd &end) const {
    return traffic[chip(end).part][end.number];
  }
  /// What instruction `index` does on chip `chip` (by its index) breaks `rule`
  /// at `tick`, counted from the chip's start.
  void fail(Rule rule, uint32_t chip, uint32_t index, Tick tick,
            const std::string &found);
  /// The same for what no instruction is to blame for; `chip`: its number in
  /// the machine's system, or -1.
  void fail(Rule rule, int32_t chip, const std::string &found);
  void keep(SystemViolation violation);
};

/// "chip 3 link 1"
std::string nameOf(const SystemExamination &exam, const LinkEnd &end);

// The rule families, in the order in which checkSystem calls them. False:
// the following ones cannot look further.
bool checkChips(SystemExamination &);
bool checkStages(SystemExamination &);
void checkCabling(SystemExamination &);
void checkRanks(SystemExamination &);
void checkLinks(SystemExamination &);
void checkSystemEnd(SystemExamination &);

} // namespace orrery::check
