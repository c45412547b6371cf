// The bursts of a step as a Chrome/Perfetto trace: one row a queue, one slice
// an instruction, microseconds on the time axis. Bounded: a viewer opens it.
#pragma once

#include "machine/Program.h"
#include "simulator/report/Counters.h"

namespace orrery::sim {

class Trace {
public:
  explicit Trace(size_t maxEvents = 200000) : maxEvents(maxEvents) {}

  /// `unit` as in Counters::units; vectors are taken or issued in
  /// [first, last].
  void add(size_t unit, uint32_t instruction, Tick first, Tick last) {
    if (events.size() < maxEvents) {
      events.push_back({unit, instruction, first, last});
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

private:
  struct Event {
    size_t unit;
    uint32_t instruction;
    Tick first, last;
  };
  size_t maxEvents;
  uint64_t left = 0;
  std::vector<Event> events;
};

} // namespace orrery::sim
