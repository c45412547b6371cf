// Exact matrix kernels against the memory of one core, in one run: a GEMV reads
// each weight once, so its ceiling is the core's read bandwidth, measured
// first. Counters: GB/s of packed weights, and their ratio to that bandwidth.

#include "machine/kernels/Gemv.h"
#include "machine/kernels/Rows.h"

#include <benchmark/benchmark.h>

#include <numeric>
#include <random>
#include <time.h>

namespace orrery::numerics {
namespace {

/// CPU seconds of this thread: time slices other processes take do not count,
/// in the bandwidth as little as in the kernels.
double threadSeconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

/// Bytes per second one core reads from a buffer far larger than any cache:
/// the best of a few passes.
double readBandwidth() {
  static const double best = [] {
    constexpr size_t kWords = size_t(512) << 17; // 512 MiB
    const std::vector<uint64_t> buffer(kWords, 1);
    double rate = 0;
    for (int pass = 0; pass < 5; ++pass) {
      const double start = threadSeconds();
      uint64_t lanes[16] = {}; // independent sums, so that loads overlap
      for (size_t i = 0; i < kWords; i += 16) {
        for (size_t lane = 0; lane < 16; ++lane) {
          lanes[lane] += buffer[i + lane];
        }
      }
      benchmark::DoNotOptimize(std::accumulate(lanes, lanes + 16, uint64_t(0)));
      rate = std::max(rate, double(kWords * 8) / (threadSeconds() - start));
    }
    return rate;
  }();
  return best;
}

void readMemory(benchmark::State &state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(readBandwidth());
  }
  state.counters["GB/s"] = readBandwidth() * 1e-9;
}
BENCHMARK(readMemory)->Iterations(1);

PackedMatrix randomMatrix(PackedFormat format, int64_t rows, int64_t k,
                          uint32_t seed) {
  PackedMatrix m(format, rows, k);
  std::minstd_rand random(seed);
  const int range = format == PackedFormat::Q4 ? 16 : 256;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      format == PackedFormat::Half
          ? m.setHalf(row, i, uint16_t(0x2000 + random() % 0x1000))
          : m.setCode(row, i, int(random() % unsigned(range)) - range / 2);
    }
    const bool scaled =
        format == PackedFormat::Q8 || format == PackedFormat::Q4;
    for (int64_t b = 0; scaled && b < k / 32; ++b) {
      m.setHalfScale(row, b, uint16_t(0x1c00 + random() % 0x400));
    }
  }
  return m;
}

/// T activation rows times several 4096 x 4096 matrices in turn, together
/// larger than the caches.
void gemv(benchmark::State &state, PackedFormat format) {
  constexpr int64_t kSide = 4096;
  const int64_t t = state.range(0);
  std::vector<PackedMatrix> matrices;
  int64_t total = 0;
  while (total < (int64_t(160) << 20)) {
    matrices.push_back(
        randomMatrix(format, kSide, kSide, uint32_t(matrices.size() + 1)));
    total += matrices.back().bytes();
  }
  std::vector<float> x(size_t(t * kSide));
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = float(int(i * 7919 % 2001) - 1000) / 500.0f;
  }
  A8Matrix activations(t, kSide);
  std::vector<int64_t> acc(size_t(t * kSide));
  const FloatView floats{t, kSide, x.data(), kSide};
  bool ok = activations.quantize(x.data(), kSide);
  double seconds = 0;
  for (auto _ : state) {
    const double start = threadSeconds();
    for (const PackedMatrix &m : matrices) {
      std::fill(acc.begin(), acc.end(), 0);
      ok &= format == PackedFormat::Half
                ? gemvHalf(m.view(), floats, acc.data(), kSide)
                : gemvExact(m.view(), activations.view(), acc.data(), kSide);
      benchmark::DoNotOptimize(acc.data());
    }
    seconds += (threadSeconds() - start);
  }
  if (!ok) {
    state.SkipWithError("accumulator overflow");
  }
  const double passes = double(state.iterations());
  const double rate = double(total) * passes / seconds;
  state.counters["GB/s"] = rate * 1e-9;
  state.counters["of_read_bandwidth"] = rate / readBandwidth();
  state.counters["GMAC/s"] = double(kSide * kSide * t) *
                             double(matrices.size()) * passes / seconds * 1e-9;
}
BENCHMARK_CAPTURE(gemv, q8_0, PackedFormat::Q8)->Arg(1)->Arg(4)->Arg(32);
BENCHMARK_CAPTURE(gemv, q4_0, PackedFormat::Q4)->Arg(1)->Arg(4)->Arg(32);
BENCHMARK_CAPTURE(gemv, codes8, PackedFormat::Codes8)->Arg(1);
BENCHMARK_CAPTURE(gemv, f16, PackedFormat::Half)->Arg(1)->Arg(4);

void rows(benchmark::State &state,
          void (*body)(std::vector<float> &, std::vector<int8_t> &)) {
  std::vector<float> x(4096);
  std::vector<int8_t> codes(4096);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = float(int(i * 7919 % 2001) - 1000) / 500.0f;
  }
  for (auto _ : state) {
    body(x, codes);
    benchmark::DoNotOptimize(x.data());
    benchmark::ClobberMemory();
  }
  state.counters["ns/element"] = benchmark::Counter(
      4096e-9, benchmark::Counter::kIsIterationInvariantRate |
                   benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(rows, exp, [](std::vector<float> &x, std::vector<int8_t> &) {
  std::vector<float> y(x.size());
  expRow(x.data(), 2.0f, y.data(), int64_t(x.size()));
  benchmark::DoNotOptimize(y.data());
});
BENCHMARK_CAPTURE(rows, quantize,
                  [](std::vector<float> &x, std::vector<int8_t> &codes) {
                    float scales[128];
                    benchmark::DoNotOptimize(quantizeA8Row(
                        x.data(), int64_t(x.size()), codes.data(), scales));
                  });
BENCHMARK_CAPTURE(rows, sumSquares,
                  [](std::vector<float> &x, std::vector<int8_t> &) {
                    benchmark::DoNotOptimize(
                        sumSquares(x.data(), int64_t(x.size())).read());
                  });
BENCHMARK_CAPTURE(rows, sumExact,
                  [](std::vector<float> &x, std::vector<int8_t> &) {
                    int64_t z = 0;
                    benchmark::DoNotOptimize(
                        sumExact(x.data(), int64_t(x.size()), z));
                  });

} // namespace
} // namespace orrery::numerics
