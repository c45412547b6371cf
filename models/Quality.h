// How far logits are from a float64 run of the unquantized model.
//
// The measure behind every statement about formats: teacher-forced, that is,
// both runs read the same ids, and each position's logits are compared.
#pragma once

#include <cstdint>
#include <span>

namespace orrery::models {

struct Quality {
  int64_t positions = 0;
  /// Mean and greatest KL(softmax(golden) || softmax(ours)), nats a position.
  double meanKl = 0;
  double maxKl = 0;
  /// Share of positions with the same most likely token, 0..1.
  double top1 = 0;
};

/// KL(softmax(golden) || softmax(ours)) in nats; both [vocab], finite.
double klDivergence(std::span<const double> golden,
                    std::span<const float> ours);

/// Gathers a Quality position by position.
class QualityMeter {
public:
  /// The logits of one position, both [vocab], finite.
  void add(std::span<const double> golden, std::span<const float> ours);

  /// Of all positions so far; zeros when there is none.
  Quality quality() const;

private:
  int64_t positions = 0;
  int64_t agreeing = 0;
  double klSum = 0;
  double klMax = 0;
};

} // namespace orrery::models
