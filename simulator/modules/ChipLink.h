// Stands for one chip-to-chip (C2C) link of a chip: the port that sends, with
// the wire behind it, and the port that receives, with its buffer. Leaves out
// how a vector is cut into packets, their errors and their repair. Wakes at
// each send and receive; at the end of a send where values must be taken.
#pragma once

#include "simulator/function/LinkValues.h"
#include "simulator/modules/InstructionQueue.h"
#include "simulator/modules/Step.h"
#include "simulator/timing/LinkLane.h"
#include "simulator/timing/UnitQueue.h"

#include <deque>
#include <optional>

namespace orrery::sim {

class ChipLink : public sc_core::sc_module {
public:
  ChipLink(sc_core::sc_module_name name, ChipClock &clock, Step &step,
           LinkNumber link);

  void addReceive(uint32_t number) {
    receives.add(number, step.instruction(number).tick);
  }
  void addSend(uint32_t number) {
    sends.add(number, step.instruction(number).tick);
  }

  /// What this link receives comes from `sender`, which stands for `chip`; its
  /// tick t is this chip's tick t + shift.
  void connect(ChipLink &sender, const std::string &chip, Tick shift);
  /// Why it cannot receive, and why not send.
  void setNoSender(const std::string &why) { noSender = why; }
  void setNoReceiver(const std::string &why) { noReceiver = why; }

  /// After the last cycle: nothing that was sent may be left; the books.
  void finish();

private:
  /// What comes in.
  struct Inward {
    LinkLane lane;
    const Step *sender;
    std::string chip;                                ///< the sender's
    std::deque<std::shared_ptr<BurstValues>> values; ///< of bursts to receive
  };

  void issueReceive(uint32_t number, Tick now);
  void issueSend(uint32_t number, Tick now);
  /// Values of the send under way are taken up to vector `upTo`.
  void takeSent(uint64_t upTo);
  void follow(Tick now);
  LinkCounters &counters() const {
    return step.result.counters.links[size_t(link) - 1];
  }

  Step &step;
  LinkNumber link;
  Position position;
  LinkWire wire;
  std::optional<Inward> inward;
  std::vector<Inward *> outward; ///< those who receive what is sent here
  std::string noSender, noReceiver;
  UnitQueue bookedIn, bookedOut;
  uint32_t sending = 0; ///< the send under way, and its values
  std::shared_ptr<LinkValues> sent;
  InstructionQueue receives, sends;
};

} // namespace orrery::sim
