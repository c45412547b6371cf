// The geometry of one gang: which way vectors travel between slices and units,
// and therefore when each member acts. Offsets are from the unit's own tick.
#pragma once

#include "compiler/schedule/Problem.h"

namespace orrery::schedule {

/// A buffer's home: consecutive slices, one bank, from an address.
struct Home {
  uint32_t slice, width, bank, base;
  Memory memory;
  uint32_t region; ///< see Member::region
};

class GangBuilder {
public:
  GangBuilder(const Machine &machine, uint32_t location)
      : m(machine), g(machine.geometry()) {
    gang.location = location;
  }

  /// The direction from a slice to a unit that stands at `unit`.
  Direction towards(uint32_t slice, Position unit) const;

  /// Vectors of `home` that a consumer at `unit` takes from tick `at` on in
  /// `shape`; returns the stream group. Passes on to `stop`.
  uint8_t read(const Home &home, AddressPattern address, BurstShape shape,
               Direction direction, Position unit, Position stop, Tick at = 0);
  /// A group that a unit at `unit` drives from tick `start` on.
  uint8_t drive(Direction direction, uint32_t width, Tick start,
                BurstShape shape, Position unit);
  /// `home` takes the group's vectors; the group then reaches it. The write's
  /// lanes and stripe come in `form`, whose place and streams are filled here.
  void write(uint8_t group, const Home &home, AddressPattern address,
             WriteOp form);
  /// The same for vectors of a type: the scales of a8 go with the lanes of
  /// their blocks.
  void write(uint8_t group, const Home &home, AddressPattern address,
             WriteOp form, StreamType type);
  /// The same as the first, as one write a run: between runs that lie apart the
  /// queue is free for the results of other planes.
  void writeRuns(uint8_t group, const Home &home, AddressPattern address,
                 WriteOp form);
  /// The group travels at least as far as `position`.
  void reach(uint8_t group, Position position) {
    extend(gang.streams[group], position);
  }
  /// Tick at which the group's first vector passes `position`.
  Tick passing(uint8_t group, Position position) const;

  void add(Tick offset, Operation operation) {
    gang.members.push_back({offset, std::move(operation), Memory::None, 0, 0});
  }
  Position stopOf(uint8_t group) const { return gang.streams[group].stop; }
  StreamOut out(uint8_t group) const {
    return {{gang.streams[group].direction, group}, gang.streams[group].stop};
  }
  StreamRef in(uint8_t group) const {
    return {gang.streams[group].direction, group};
  }

  Gang gang;

private:
  void writeStreams(uint8_t group, uint8_t offset, const Home &home,
                    AddressPattern address, WriteOp form);
  void extend(StreamUse &use, Position position);
  const Machine &m;
  Geometry g;
};

} // namespace orrery::schedule
