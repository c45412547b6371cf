// Who touches which part of which region: between Memory.cpp, which finds out,
// and WrittenBeforeRead.cpp, which judges the order.
#pragma once

#include "simulator/check/Accesses.h"
#include "simulator/check/Examination.h"

#include <set>

namespace orrery::check {

/// A stretch of addresses that an instruction reads or writes, in step ticks.
struct Access {
  Cell cell;
  uint32_t instruction;
  /// Only some of the addresses or lanes, depending on step registers.
  bool uncertain;
  uint16_t laneLow, laneHigh; ///< lanes [laneLow, laneHigh) are written
};

/// All accesses to one region in one slice.
struct RegionAccesses {
  std::vector<Access> writes, reads;
};

/// Vectors of one access to temporaries or KV; keeps expansion bounded.
inline constexpr uint64_t kMaxAccessVectors = 1 << 20;

/// At most one violation of a rule an instruction, however wide it is.
class Complaints {
public:
  explicit Complaints(Examination &exam) : exam(exam) {}
  void fail(Rule rule, uint32_t instruction, Tick tick,
            const std::string &found) {
    if (!made.emplace(rule, instruction).second) {
      return;
    }
    if (instruction == kNoInstruction) {
      exam.fail(rule, found);
    } else {
      exam.fail(rule, instruction, tick, found);
    }
  }

private:
  Examination &exam;
  std::set<std::pair<Rule, uint32_t>> made;
};

/// Rules uninitialised, hazard, stale for one region in slice `slice`; sorts
/// the writes. The host's reading of the logits is a read of kNoInstruction.
void checkWrittenBeforeRead(Examination &exam, Complaints &complaints,
                            const SramRegion &region, int slice,
                            RegionAccesses &accesses);

} // namespace orrery::check
