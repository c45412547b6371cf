// The order in which the rules are checked.
#include "simulator/check/Check.h"

#include "simulator/check/Examination.h"

namespace orrery::check {

Report checkProgram(const Program &program, const Machine &machine) {
  Report report;
  report.instructions = program.instructions.size();
  Examination exam{program, machine, machine.geometry(), report, {}};
  // Everything else trusts fields, indices and extents.
  checkForm(exam);
  if (!report.ok()) {
    return report;
  }
  exam.streams = footprintsOf(program, machine);
  checkRegions(exam);
  checkStreams(exam);
  checkPorts(exam);
  // Before memory: the host reads the logits at the end tick.
  checkEnd(exam);
  checkMemory(exam);
  checkContext(exam);
  checkWeights(exam);
  checkActivations(exam);
  checkHost(exam);
  checkFetch(exam);
  return report;
}

} // namespace orrery::check
