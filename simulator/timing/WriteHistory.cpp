#include "simulator/timing/WriteHistory.h"

#include <algorithm>

namespace orrery::sim {

WriteHistory::WriteHistory(const Machine &machine)
    : banks(machine.sram.banks), latency(machine.timing.write),
      stamps(size_t(machine.geometry().slices()) * size_t(banks)),
      lastWrite(stamps.size(), kNever),
      pending(size_t(machine.geometry().slices())) {}

void WriteHistory::beginStep(const RegionMap &map) {
  regions = &map;
  origin = latest + 1;
  std::fill(lastWrite.begin(), lastWrite.end(), kNever);
  for (auto &list : pending) {
    list.clear();
  }
}

WriteHistory::State WriteHistory::stateAt(int32_t slice, int32_t bank,
                                          int64_t address, Tick tick,
                                          uint32_t region,
                                          bool temporary) const {
  Stamp stamp = stamps[index(slice, bank)].read(address);
  bool current = stamp.first <= origin + tick;
  Tick written = current ? stamp.last : stamp.previous;
  uint32_t owner = current ? stamp.region : stamp.previousRegion;
  if (written < origin) {
    return temporary ? State::NotWritten : State::Valid;
  }
  if (written + latency > origin + tick) {
    return State::TooSoon;
  }
  return temporary && owner != region ? State::Foreign : State::Valid;
}

bool WriteHistory::read(const MemAccess &access, uint32_t region, Tick now) {
  bool temporary = (*regions)[region].kind == RegionKind::Temporary;
  bool open = false;
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    int32_t slice = access.slice + int32_t(k);
    BurstTicks ticks = access.ticksAt(k);
    std::vector<PendingRead> &list = pending[size_t(slice)];
    std::erase_if(list, [&](const PendingRead &r) {
      return r.access.ticksAt(r.k).last() < now;
    });
    list.push_back({access, k});
    // Nothing written in this step that could be too recent.
    if (!temporary && lastWrite[index(slice, access.bank)] + latency <=
                          origin + ticks.first) {
      continue;
    }
    for (uint64_t n = 0; n < access.count(); ++n) {
      int64_t address = access.address(n);
      State state =
          stateAt(slice, access.bank, address, ticks.at(n), region, temporary);
      if (state == State::TooSoon) {
        fail(state, slice, address, ticks.at(n), region, access.bank);
      }
      open |= state != State::Valid;
    }
  }
  return open;
}

void WriteHistory::checkAgain(const MemAccess &access, uint32_t region) const {
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    int32_t slice = access.slice + int32_t(k);
    BurstTicks ticks = access.ticksAt(k);
    for (uint64_t n = 0; n < access.count(); ++n) {
      int64_t address = access.address(n);
      State state =
          stateAt(slice, access.bank, address, ticks.at(n), region, true);
      if (state != State::Valid) {
        fail(state, slice, address, ticks.at(n), region, access.bank);
      }
    }
  }
}

void WriteHistory::put(Stamp &stamp, Tick tick, uint32_t instruction,
                       uint32_t region) const {
  if (stamp.first >= origin && stamp.instruction == instruction) {
    stamp.last = tick; // the same burst of this step
    return;
  }
  stamp = {tick, tick, stamp.last, instruction, region, stamp.region};
}

void WriteHistory::wrote(const MemAccess &access, uint32_t region, Tick now) {
  for (uint32_t k = 0; k < uint32_t(access.width); ++k) {
    int32_t slice = access.slice + int32_t(k);
    size_t at = index(slice, access.bank);
    Bank &map = stamps[at];
    BurstTicks ticks = access.ticksAt(k);
    for (uint64_t n = 0; n < access.count(); ++n) {
      if (access.skipsTokens() && access.lanesOf(n).high == 0) {
        continue;
      }
      Tick tick = origin + ticks.at(n);
      access.onVector(n, k, [&](uint32_t, int64_t address) {
        put(map.write(address), tick, access.instruction, region);
      });
    }
    lastWrite[at] = std::max(lastWrite[at], origin + ticks.last());
    latest = std::max(latest, lastWrite[at]);
    for (const PendingRead &reader : pending[size_t(slice)]) {
      if (reader.access.bank == access.bank &&
          reader.access.low <= access.high &&
          access.low <= reader.access.high &&
          reader.access.ticksAt(reader.k).last() >= now) {
        checkReader(access, k, reader);
      }
    }
  }
}

/// A read that was issued before the write started may still come too soon
/// after it with a later vector of its burst.
void WriteHistory::checkReader(const MemAccess &write, uint32_t k,
                               const PendingRead &reader) const {
  BurstTicks writes = write.ticksAt(k);
  BurstTicks reads = reader.access.ticksAt(reader.k);
  for (uint64_t n = 0; n < write.count(); ++n) {
    Tick tick = writes.at(n);
    uint64_t first = reads.countBefore(tick);
    uint64_t end = reads.countBefore(tick + latency);
    for (uint64_t m = first; m < end; ++m) {
      write.onVector(n, k, [&](uint32_t, int64_t address) {
        if (reader.access.address(m) == address) {
          throw Illegal(tick, "slice " +
                                  std::to_string(write.slice + int32_t(k)) +
                                  " address " + std::to_string(address) +
                                  " is read by instruction " +
                                  std::to_string(reader.access.instruction) +
                                  " in cycle " + std::to_string(reads.at(m)) +
                                  ", less than " + std::to_string(latency) +
                                  " cycles after this write");
        }
      });
    }
  }
}

void WriteHistory::fail(State state, int32_t slice, int64_t address, Tick tick,
                        uint32_t region, int32_t bank) const {
  std::string where = "slice " + std::to_string(slice) + " bank " +
                      std::to_string(bank) + " address " +
                      std::to_string(address);
  const Stamp stamp = stamps[index(slice, bank)].read(address);
  switch (state) {
  case State::TooSoon: {
    Tick written = stamp.first <= origin + tick ? stamp.last : stamp.previous;
    throw Illegal(tick, where + " was written in cycle " +
                            std::to_string(written - origin) +
                            " and may be read " + std::to_string(latency) +
                            " cycles later");
  }
  case State::Foreign:
    throw Illegal(tick, where + " of '" + (*regions)[region].name +
                            "' holds what was written for '" +
                            (*regions)[stamp.region].name + "'");
  default:
    throw Illegal(tick, where + " of '" + (*regions)[region].name +
                            "' is read before it is written");
  }
}

} // namespace orrery::sim
