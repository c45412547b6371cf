#include "runtime/timing/GreatestFit.h"

#include <algorithm>

namespace orrery::runtime {

Expected<int64_t>
greatestFit(int64_t most, const std::function<Expected<bool>(int64_t)> &fits) {
  int64_t low = 0, high = most + 1;
  bool refused = false;
  while (high - low > 1) {
    int64_t next = refused ? low + (high - low) / 2
                           : std::min(std::max<int64_t>(2 * low, 1), most);
    auto fit = fits(next);
    if (!fit) {
      return fit.error();
    }
    refused |= !*fit;
    (*fit ? low : high) = next;
  }
  return low;
}

} // namespace orrery::runtime
