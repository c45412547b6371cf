// Stands for the host port at the east edge and the link behind it: f32
// vectors of the step's input, and those sent back. Leaves out packets and
// flow control: the host is always ready.
#pragma once

#include "simulator/modules/InstructionQueue.h"
#include "simulator/modules/Step.h"
#include "simulator/timing/HostLink.h"
#include "simulator/timing/UnitQueue.h"

namespace orrery::sim {

class HostPort : public sc_core::sc_module {
public:
  HostPort(sc_core::sc_module_name name, ChipClock &clock, Step &step);

  void addReceive(uint32_t number) {
    receives.add(number, step.instruction(number).tick);
  }
  void addSend(uint32_t number) {
    sends.add(number, step.instruction(number).tick);
  }

private:
  void issueReceive(uint32_t number, Tick now);
  void issueSend(uint32_t number, Tick now);
  void sendEnd(uint32_t number);

  Step &step;
  Position position;
  HostLink linkIn, linkOut;
  UnitQueue bookedIn, bookedOut;
  Operands sending; ///< of the send under way
  InstructionQueue receives, sends;
};

} // namespace orrery::sim
