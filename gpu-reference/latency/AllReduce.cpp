#include "gpu-reference/latency/Gpu.h"

namespace orrery::gpu::latency {

double AllReduce::us(double bytes, int64_t gpus) const {
  if (gpus <= 1) {
    return 0;
  }
  auto right = tables.lower_bound(gpus);
  if (right == tables.begin() || right == tables.end()) {
    return (right == tables.end() ? std::prev(right) : right)->second(bytes);
  }
  auto left = std::prev(right);
  double low = left->second(bytes), high = right->second(bytes);
  return low + (high - low) * double(gpus - left->first) /
                   double(right->first - left->first);
}

} // namespace orrery::gpu::latency
