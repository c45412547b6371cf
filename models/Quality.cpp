// Softmax statistics in double.
#include "models/Quality.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace orrery::models {

/// log(sum exp(x)).
template <class T> static double logSumExp(std::span<const T> logits) {
  const double max = *std::ranges::max_element(logits);
  double sum = 0;
  for (T x : logits) {
    sum += std::exp(double(x) - max);
  }
  return max + std::log(sum);
}

double klDivergence(std::span<const double> golden,
                    std::span<const float> ours) {
  assert(golden.size() == ours.size() && !golden.empty());
  const double goldenLog = logSumExp(golden);
  const double oursLog = logSumExp(ours);
  double kl = 0;
  for (size_t i = 0; i < golden.size(); ++i) {
    const double logP = golden[i] - goldenLog;
    const double logQ = double(ours[i]) - oursLog;
    kl += std::exp(logP) * (logP - logQ);
  }
  return kl;
}

void QualityMeter::add(std::span<const double> golden,
                       std::span<const float> ours) {
  const double kl = klDivergence(golden, ours);
  klSum += kl;
  klMax = std::max(klMax, kl);
  ++positions;
  agreeing += std::ranges::max_element(golden) - golden.begin() ==
              std::ranges::max_element(ours) - ours.begin();
}

Quality QualityMeter::quality() const {
  if (positions == 0) {
    return {};
  }
  return {positions, klSum / double(positions), klMax,
          double(agreeing) / double(positions)};
}

} // namespace orrery::models
