// Rule host: the host's vectors arrive no earlier and no denser than the link
// brings them, and all of the step's input is received. What comes over links
// from other chips is Links.cpp's.
#include "simulator/check/Examination.h"

#include <algorithm>

namespace orrery::check {

namespace {

class HostCheck {
public:
  explicit HostCheck(Examination &exam) : exam(exam) {}

  void run() {
    uint64_t received = 0;
    Tick nextIn = exam.machine.timing.host;
    Tick nextOut = 0;
    for (uint32_t i = 0; i < exam.program.instructions.size(); ++i) {
      const Instruction &instruction = exam.program.instructions[i];
      auto *receive = std::get_if<ReceiveOp>(&instruction.operation);
      auto *send = std::get_if<SendOp>(&instruction.operation);
      if (receive && receive->link == kHostLink) {
        received += receive->shape.count();
        check(i, instruction.tick, receive->shape, nextIn);
      } else if (send && send->link == kHostLink) {
        check(i, instruction.tick, send->shape, nextOut);
      }
    }
    uint64_t sent = uint64_t(exam.program.tokens) * exam.program.inputVectors;
    if (received != sent) {
      exam.fail(Rule::Host, "the host sends " + std::to_string(sent) +
                                " vectors, the program receives " +
                                std::to_string(received));
    }
  }

private:
  /// `next` is the earliest tick of the link's next vector.
  void check(uint32_t index, Tick tick, const BurstShape &shape, Tick &next) {
    Tick gap = exam.machine.timing.hostVector;
    Tick between = Tick(shape.period) - Tick(shape.length - 1) * shape.stride;
    if (tick < next) {
      exam.fail(Rule::Host, index, tick,
                "the link has its first vector at tick " +
                    std::to_string(next));
    } else if ((shape.length > 1 && shape.stride < gap) ||
               (shape.runs > 1 && between < gap)) {
      exam.fail(Rule::Host, index, tick,
                "the link takes " + std::to_string(gap) +
                    " ticks for a vector");
    }
    next = std::max(next, tick + shape.span() + gap);
  }

  Examination &exam;
};

} // namespace

void checkHost(Examination &exam) { HostCheck(exam).run(); }

} // namespace orrery::check
