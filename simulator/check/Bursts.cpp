#include "simulator/check/Bursts.h"

#include <algorithm>

namespace orrery::check {

BurstShape normalised(BurstShape s) {
  if (s.length == 1 && s.runs > 1) {
    s = {s.runs, s.period, 1, 0};
  }
  if (s.runs > 1 && s.period == uint64_t(s.length) * s.stride &&
      s.count() <= std::numeric_limits<uint32_t>::max()) {
    s = {uint32_t(s.count()), s.stride, 1, 0};
  }
  s.stride = std::max(s.stride, 1u);
  return s;
}

std::vector<Run> runsOf(const BurstShape &shape, Tick first) {
  BurstShape s = normalised(shape);
  std::vector<Run> runs;
  runs.reserve(s.runs);
  for (uint32_t r = 0; r < s.runs; ++r) {
    runs.push_back({first + Tick(r) * s.period, s.stride, s.length});
  }
  return runs;
}

/// x with a * x = gcd(a, b) modulo b.
static int64_t bezout(int64_t a, int64_t b, int64_t &gcd) {
  int64_t x = 1, nextX = 0;
  while (b != 0) {
    int64_t q = a / b;
    int64_t r = a - q * b;
    a = b;
    b = r;
    int64_t t = x - q * nextX;
    x = nextX;
    nextX = t;
  }
  gcd = a;
  return x;
}

std::optional<Tick> firstCommon(const Run &a, const Run &b) {
  Tick low = std::max(a.first, b.first), high = std::min(a.last(), b.last());
  if (low > high) {
    return std::nullopt;
  }
  // a.first + k * a.stride = b.first modulo b.stride, least k >= 0.
  int64_t gcd = 0;
  int64_t inverse = bezout(a.stride, b.stride, gcd);
  Tick gap = b.first - a.first;
  if (gap % gcd != 0) {
    return std::nullopt;
  }
  int64_t modulus = b.stride / gcd;
  auto k = int64_t(__int128(gap / gcd) * inverse % modulus);
  if (k < 0) {
    k += modulus;
  }
  Tick common = a.first + k * a.stride;
  if (common < low) {
    Tick step = a.stride * modulus;
    common += (low - common + step - 1) / step * step;
  }
  return common <= high ? std::optional(common) : std::nullopt;
}

std::optional<uint64_t> firstDifference(const BurstShape &rawA, uint64_t offset,
                                        const BurstShape &rawB) {
  BurstShape a = normalised(rawA), b = normalised(rawB);
  uint64_t have = a.count() > offset ? a.count() - offset : 0;
  if (have == 0) {
    return 0;
  }
  Tick base = a.at(offset);
  uint64_t n = std::min(have, b.count());
  for (uint64_t i = 0; i < n;) {
    if (a.at(offset + i) - base != b.at(i)) {
      return i;
    }
    uint64_t left = std::min<uint64_t>(
        {a.length - (offset + i) % a.length, b.length - i % b.length, n - i});
    if (left > 1 && a.stride != b.stride) {
      return i + 1;
    }
    i += left;
  }
  return n < b.count() ? std::optional(n) : std::nullopt;
}

} // namespace orrery::check
