// The static checker for a system of chips: proves before tick 0 that every
// part obeys the rules of one chip (Check.h), and that the chips which run the
// parts go together over their links.
#pragma once

#include "machine/SystemProgram.h"
#include "simulator/check/Check.h"

namespace orrery::check {

/// One broken rule, of a part or of the chips that run the parts.
struct SystemViolation {
  std::string rule;
  std::string message;  ///< one line that starts with the rule's name
  int32_t part;         ///< whose instruction it is, or -1
  int32_t chip;         ///< where it runs; -1: on every chip of the part
  uint32_t instruction; ///< of the part, or kNoInstruction
  Tick tick;            ///< of the chip, counted from its start
};

/// What was found and how much was proven.
struct SystemReport {
  std::vector<Report> parts; ///< each checked once, however many chips run it
  /// Those of the parts and then those of the chips: the first kMaxViolations.
  std::vector<SystemViolation> violations;
  uint64_t violationsNotKept = 0;
  /// Links from one chip to another that carry something; how many of them
  /// differ in what is sent and received when: each is looked at once.
  uint64_t links = 0, linkBehaviours = 0;
  /// (vector, stream) pairs shown to arrive before they are received and to
  /// find room, over all links.
  uint64_t linkVectorsProven = 0;
  Tick endTick = 0; ///< of the chip that ends last

  bool ok() const { return violations.empty(); }
};

/// Checks every rule. Where the chips' own fields mean nothing (rule `system`),
/// they are not looked at further; neither are the links of a malformed part.
SystemReport checkSystem(const SystemProgram &system, const Machine &machine);

} // namespace orrery::check
