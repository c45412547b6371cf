// The program under check, and where the rule families put what they find.
#pragma once

#include "simulator/check/Check.h"
#include "simulator/check/Footprint.h"
#include "simulator/check/Rules.h"

#include <string>

namespace orrery::check {

struct Examination {
  const Program &program;
  const Machine &machine;
  Geometry geometry;
  Report &report;
  Footprints streams;

  /// Instruction `index` breaks `rule` at `tick`; `found` says how.
  void fail(Rule rule, uint32_t index, Tick tick, const std::string &found);
  /// The same for what no instruction is to blame for.
  void fail(Rule rule, const std::string &found);
  std::string describe(uint32_t index) const; ///< as the function below
  /// "MEM slices 4-7 read port"
  std::string unitOf(uint32_t index) const;

private:
  void keep(Violation violation);
};

/// "instruction 12 read (layer 3 attn_q)"
std::string describe(const Program &program, uint32_t index);
std::string directionName(Direction d);
const char *kindName(RegionKind kind);

// The rule families, in the order in which checkProgram calls them.
void checkForm(Examination &);
void checkRegions(Examination &);
void checkStreams(Examination &);
void checkPorts(Examination &);
void checkMemory(Examination &);
void checkContext(Examination &);
void checkWeights(Examination &);
void checkActivations(Examination &);
void checkHost(Examination &);
void checkFetch(Examination &);
void checkEnd(Examination &);

} // namespace orrery::check
