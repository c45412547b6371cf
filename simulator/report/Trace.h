// The bursts of a step as a Chrome/Perfetto trace: a group of rows a chip, one
// row a queue, one slice an instruction, microseconds on the time axis.
// Bounded: a viewer opens it.
#pragma once

#include "machine/SystemProgram.h"
#include "simulator/report/Counters.h"

namespace orrery::sim {

class Trace {
public:
  explicit Trace(size_t maxEvents = 200000) : maxEvents(maxEvents) {}

  /// `unit` as in Counters::units of chip `chip` of the system; vectors are
  /// taken or issued in [first, last] on the step's clock.
  void add(uint32_t chip, size_t unit, uint32_t instruction, Tick first,
           Tick last) {
    if (events.size() < maxEvents) {
      events.push_back({chip, unit, instruction, first, last});
    } else {
      ++left;
    }
  }
  void clear() {
    events.clear();
    left = 0;
  }
  /// Events that the bound kept out.
  uint64_t omitted() const { return left; }
  size_t size() const { return events.size(); }

  /// JSON text for chrome://tracing or ui.perfetto.dev.
  std::string json(const Machine &machine, const Program &program) const;
  std::string json(const Machine &machine, const SystemProgram &program) const;

private:
  struct Event {
    uint32_t chip;
    size_t unit;
    uint32_t instruction;
    Tick first, last;
  };
  /// The programs by chip of the system; null: the chip was not simulated.
  using Programs = std::vector<const Program *>;
  std::string json(const Machine &machine, const Programs &programs) const;

  size_t maxEvents;
  uint64_t left = 0;
  std::vector<Event> events;
};

} // namespace orrery::sim
