// Reproducible draws for the tests of this folder: the same on every platform.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace orrery::test {

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  /// Uniform in [low, high].
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(engine() % uint64_t(high - low + 1));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class T> const T &of(const std::vector<T> &choices) {
    return choices[size_t(between(0, int64_t(choices.size()) - 1))];
  }
  /// A divisor of `number`.
  uint32_t divisorOf(uint32_t number) {
    auto d = uint32_t(between(1, number));
    while (number % d != 0) {
      --d;
    }
    return d;
  }

private:
  std::mt19937_64 engine;
};

} // namespace orrery::test
