// A measured quantity over another one: straight lines between samples.
//
// Curves never fall: where a sample is below one to its left, the left one
// holds (noise of a few percent in the tables), so that more bytes never take
// less time. Below the first sample the first one holds: a floor.
#pragma once

#include "machine/Result.h"

#include <vector>

namespace orrery::gpu::latency {

class Curve {
public:
  struct Point {
    double at, value;
  };

  /// Beyond the last point the value grows by `slopeBeyond`; negative: as
  /// between the last two points. Fails for no point, for a place twice, and
  /// for places or values that are not positive.
  static Expected<Curve> make(std::vector<Point> points,
                              double slopeBeyond = -1);

  double operator()(double at) const;
  const std::vector<Point> &points() const { return samples; }

private:
  std::vector<Point> samples; ///< ascending in both
  double beyond = 0;
};

} // namespace orrery::gpu::latency
