#include "gpu-reference/latency/Curve.h"

#include <algorithm>

namespace orrery::gpu::latency {

Expected<Curve> Curve::make(std::vector<Point> points, double slopeBeyond) {
  if (points.empty()) {
    return Error{"expected at least one sample, found none"};
  }
  std::ranges::sort(points, {}, &Point::at);
  for (size_t i = 0; i < points.size(); ++i) {
    if (!(points[i].at > 0) || !(points[i].value > 0)) {
      return Error{"expected samples above 0"};
    }
    if (i > 0) {
      if (points[i].at == points[i - 1].at) {
        return Error{"expected one sample a place, found two at " +
                     std::to_string(points[i].at)};
      }
      points[i].value = std::max(points[i].value, points[i - 1].value);
    }
  }
  Curve curve;
  curve.beyond = slopeBeyond;
  if (slopeBeyond < 0) {
    curve.beyond = 0;
    if (points.size() > 1) {
      const Point &a = points[points.size() - 2], &b = points.back();
      curve.beyond = (b.value - a.value) / (b.at - a.at);
    }
  }
  curve.samples = std::move(points);
  return curve;
}

double Curve::operator()(double at) const {
  auto right = std::ranges::upper_bound(samples, at, {}, &Point::at);
  if (right == samples.begin()) {
    return samples.front().value;
  }
  const Point &a = *(right - 1);
  if (right == samples.end()) {
    return a.value + (at - a.at) * beyond;
  }
  return a.value + (right->value - a.value) * (at - a.at) / (right->at - a.at);
}

} // namespace orrery::gpu::latency
