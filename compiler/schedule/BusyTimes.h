// When a port or a bank is taken, asked in the order of time.
#pragma once

#include "machine/Geometry.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace orrery::schedule {

class BusyTimes {
public:
  void add(Tick first, Tick last) { spans.push_back({first, last}); }
  /// Before the first question.
  void sort() { std::sort(spans.begin(), spans.end()); }

  /// Ticks of all stretches.
  Tick sum() const {
    Tick total = 0;
    for (auto [first, last] : spans) {
      total += last - first + 1;
    }
    return total;
  }

  /// The first tick from `tick` on at which `length` free ones begin. `tick`
  /// may not be below that of an earlier question.
  Tick freeFrom(Tick tick, Tick length) {
    while (next < spans.size() && spans[next].second < tick) {
      ++next;
    }
    for (size_t k = next; k < spans.size(); ++k) {
      if (spans[k].first >= tick + length) {
        break;
      }
      tick = std::max(tick, spans[k].second + 1);
    }
    return tick;
  }

private:
  std::vector<std::pair<Tick, Tick>> spans; ///< first and last tick
  size_t next = 0;                          ///< those before it are over
};

} // namespace orrery::schedule
