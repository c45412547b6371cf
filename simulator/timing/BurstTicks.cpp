#include "simulator/timing/BurstTicks.h"

#include <algorithm>
#include <numeric>

namespace orrery::sim {
namespace {

/// Evenly spaced ticks: one run of a burst.
struct Run {
  Tick first;
  Tick stride;
  int64_t length;
  Tick last() const { return first + stride * (length - 1); }
};

Run runOf(const BurstTicks &b, uint32_t index) {
  return {b.first + Tick(index) * b.shape.period, Tick(b.shape.stride),
          int64_t(b.shape.length)};
}

/// Two progressions share a tick in their common span. Their common ticks, if
/// any, come every lcm of the strides, so looking at one period is enough.
bool runsMeet(const Run &a, const Run &b) {
  Tick low = std::max(a.first, b.first);
  Tick high = std::min(a.last(), b.last());
  if (low > high) {
    return false;
  }
  const Run &sparse = a.stride >= b.stride ? a : b;
  const Run &dense = a.stride >= b.stride ? b : a;
  Tick step = (low - sparse.first + sparse.stride - 1) / sparse.stride;
  Tick tick = sparse.first + step * sparse.stride;
  Tick tries = dense.stride / std::gcd(sparse.stride, dense.stride);
  for (; tick <= high && tries > 0; --tries, tick += sparse.stride) {
    if ((tick - dense.first) % dense.stride == 0) {
      return true;
    }
  }
  return false;
}

} // namespace

bool isWellFormed(const BurstShape &s) {
  if (s.length == 0 || s.runs == 0 || (s.length > 1 && s.stride == 0)) {
    return false;
  }
  return s.runs == 1 || uint64_t(s.period) > uint64_t(s.length - 1) * s.stride;
}

BurstShape canonical(const BurstShape &s) {
  if (s.length == 1 && s.runs == 1) {
    return {1, 1, 1, 0};
  }
  if (s.runs == 1) {
    return {s.length, s.stride, 1, 0};
  }
  if (s.length == 1) {
    return {s.runs, s.period, 1, 0};
  }
  if (uint64_t(s.period) == uint64_t(s.length) * s.stride) {
    return {s.length * s.runs, s.stride, 1, 0};
  }
  return s;
}

std::optional<uint64_t> BurstTicks::vectorAt(Tick tick) const {
  Tick offset = tick - first;
  if (offset < 0 || offset > span()) {
    return std::nullopt;
  }
  if (shape.runs == 1 && shape.stride == 1) {
    return uint64_t(offset);
  }
  Tick run = shape.runs == 1 ? 0 : offset / shape.period;
  Tick within = offset - run * Tick(shape.period);
  if (within % shape.stride != 0 || within / shape.stride >= shape.length) {
    return std::nullopt;
  }
  return uint64_t(run) * shape.length + uint64_t(within / shape.stride);
}

uint64_t BurstTicks::countBefore(Tick tick) const {
  Tick offset = tick - first;
  if (offset <= 0) {
    return 0;
  }
  if (offset > span()) {
    return count();
  }
  if (shape.runs == 1 && shape.stride == 1) {
    return uint64_t(offset);
  }
  Tick run = shape.runs == 1 ? 0 : offset / shape.period;
  Tick within = offset - run * Tick(shape.period);
  Tick vectors = (within + shape.stride - 1) / shape.stride;
  return uint64_t(run) * shape.length +
         uint64_t(std::min<Tick>(vectors, shape.length));
}

bool meet(const BurstTicks &a, const BurstTicks &b) {
  if (a.first > b.last() || b.first > a.last()) {
    return false;
  }
  if (a.shape.runs == 1 && b.shape.runs == 1) {
    return runsMeet(runOf(a, 0), runOf(b, 0));
  }
  // Runs are in order in both: advance the one that ends first.
  for (uint32_t i = 0, j = 0; i < a.shape.runs && j < b.shape.runs;) {
    Run x = runOf(a, i);
    Run y = runOf(b, j);
    if (runsMeet(x, y)) {
      return true;
    }
    (x.last() <= y.last() ? i : j) += 1;
  }
  return false;
}

std::optional<uint64_t> firstMiss(const BurstTicks &giver, uint64_t start,
                                  const BurstTicks &taker) {
  uint64_t count = taker.count();
  if (count == 1) {
    bool comes = start < giver.count() && giver.at(start) == taker.first;
    return comes ? std::nullopt : std::optional<uint64_t>(0);
  }
  for (uint64_t i = 0; i < count;) {
    uint64_t n = start + i;
    if (n >= giver.count() || giver.at(n) != taker.at(i)) {
      return i;
    }
    // Both go on evenly to the end of the shorter run.
    uint64_t left = std::min(giver.shape.length - n % giver.shape.length,
                             taker.shape.length - i % taker.shape.length);
    if (left > 1 && giver.shape.stride != taker.shape.stride) {
      return i + 1;
    }
    i += left;
  }
  return std::nullopt;
}

} // namespace orrery::sim
