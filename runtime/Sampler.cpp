#include "runtime/Sampler.h"

#include "machine/numerics.h"

#include <algorithm>
#include <vector>

namespace orrery::runtime {

// Weights by the machine's own exp, so that no libm decides; ids in order.
int32_t Sampler::next(std::span<const float> logits, int32_t greedy,
                      uint32_t position) const {
  if (temperature <= 0) {
    return greedy;
  }
  float most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> upTo;
  double sum = 0;
  for (float logit : logits) {
    double scaled = (double(logit) - double(most)) / temperature;
    sum += double(numerics::expExact(float(scaled)));
    upTo.push_back(sum);
  }
  uint32_t word = numerics::randomAt(seed, position).word[0];
  double drawn = double(numerics::uniform(word)) * sum;
  auto found = std::upper_bound(upTo.begin(), upTo.end(), drawn);
  return int32_t(found - upTo.begin());
}

} // namespace orrery::runtime
