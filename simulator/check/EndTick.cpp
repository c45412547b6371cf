// Rule end: the step ends when the program says (rule 7 of
// machine/README.md).
#include "simulator/check/Examination.h"

#include <algorithm>

namespace orrery::check {

namespace {
/// From an operation's last vector to its effect: the next cycle, the address
/// readable, or the vector at the host. A vector sent to another chip has its
/// effect there, when it is received.
Tick tailOf(const Operation &op, const Machine &m) {
  if (std::holds_alternative<WriteOp>(op)) {
    return m.timing.write;
  }
  const auto *send = std::get_if<SendOp>(&op);
  return send && send->link == kHostLink ? m.timing.host : 1;
}
} // namespace

void checkEnd(Examination &exam) {
  Tick end = 0;
  const Geometry &g = exam.geometry;
  for (const Take &t : exam.streams.takes) {
    Tick tail = tailOf(exam.program.instructions[t.instruction].operation,
                       exam.machine);
    for (int slot = 0; slot < t.width; ++slot) {
      Tick last = tickAt(t, t.shape.count() - 1, t.farthest(g, slot));
      end = std::max(end, last + tail);
    }
  }
  for (const Drive &d : exam.streams.drives) {
    for (int slot = 0; slot < d.width; ++slot) {
      Tick last = tickAt(d, d.shape.count() - 1, d.origin(g, slot));
      end = std::max(end, last + 1);
    }
  }
  for (const Instruction &i : exam.program.instructions) {
    if (std::holds_alternative<FetchOp>(i.operation)) {
      end = std::max(end, i.tick + exam.machine.fetchVectors);
    }
  }
  exam.report.endTick = end;
  if (end != exam.program.predictedTicks) {
    exam.fail(Rule::End, "the program predicts " +
                             std::to_string(exam.program.predictedTicks) +
                             " ticks, the step ends at tick " +
                             std::to_string(end));
  }
}

} // namespace orrery::check
