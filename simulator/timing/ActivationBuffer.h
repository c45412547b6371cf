// The activation entries of a plane: loaded before a pass uses them. Keeps
// every load of an entry that a pass may still ask for, each with its cycle.
#pragma once

#include "simulator/timing/Illegal.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::sim {

/// One load of one entry.
struct EntryLoad {
  Tick came = 0;
  uint32_t instruction = 0;
  uint32_t load = 0;   ///< number of the burst among the plane's loads
  uint64_t vector = 0; ///< of the load's burst
  bool f16 = false;
  bool operator==(const EntryLoad &) const = default;
};

class ActivationBuffer {
public:
  ActivationBuffer(int32_t entries, Tick latency)
      : latency(latency), loads(size_t(entries)) {}

  size_t entries() const { return loads.size(); }

  void load(uint32_t entry, const EntryLoad &load) {
    std::vector<EntryLoad> &list = loads[entry];
    if (list.size() >= kKept) {
      list.erase(list.begin());
    }
    list.push_back(load);
  }

  /// What a row that enters at `tick` finds in `entry`.
  EntryLoad use(uint32_t entry, Tick tick, bool f16) {
    std::vector<EntryLoad> &list = loads[entry];
    for (size_t i = list.size(); i-- > 0;) {
      if (list[i].came > tick) {
        continue;
      }
      if (list[i].came + latency > tick) {
        throw Illegal(tick, name(entry) + " came in cycle " +
                                std::to_string(list[i].came) +
                                " and is usable " + std::to_string(latency) +
                                " cycles later");
      }
      if (list[i].f16 != f16) {
        throw Illegal(tick, name(entry) + " holds activations of another "
                                          "format");
      }
      list.erase(list.begin(), list.begin() + ptrdiff_t(i));
      return list.front();
    }
    throw Illegal(tick, name(entry) + " has not been loaded");
  }

  static std::string name(uint32_t entry) {
    return "activation entry " + std::to_string(entry);
  }

private:
  /// Loads of an entry that no pass asked for pile up; older ones than this
  /// many are forgotten (and would be reported as not loaded).
  static constexpr size_t kKept = 64;
  Tick latency;
  std::vector<std::vector<EntryLoad>> loads; ///< by entry, in time order
};

} // namespace orrery::sim
