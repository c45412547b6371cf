// Sums over the lanes of a warp against machine/numerics.h.
#include "gpu-reference/kernels/Product.cuh"
#include "tests/gpu-reference/Orders.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

/// narrow[i], wide[i] = the sums over the warp as thread i has them.
__global__ void sumWarps(const unsigned long long *values, long long *narrow,
                         unsigned long long *wide) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  narrow[i] = sumWarpNarrow(values[i]);
  wide[i] = sumWarp(values[i]);
}

namespace {

constexpr size_t kLanes = 32;
constexpr int64_t kEnd = int64_t(1) << (kNarrowBits - 1);

/// 32 values of any size whose sum, modulo 2^64, is `sum`.
std::vector<unsigned long long> lanesOf(int64_t sum, std::mt19937_64 &random) {
  std::vector<unsigned long long> lanes(kLanes);
  auto rest = static_cast<unsigned long long>(sum);
  for (size_t i = 0; i + 1 < kLanes; ++i) {
    // Some in the low bits only, some 0, some with all bits set.
    lanes[i] = random() >> random() % 64;
    lanes[i] = random() % 8 == 0 ? ~0ull : lanes[i];
    lanes[i] = random() % 2 == 0 ? lanes[i] : 0 - lanes[i];
    rest -= lanes[i];
  }
  lanes.back() = rest;
  std::swap(lanes.back(), lanes[random() % kLanes]);
  return lanes;
}

std::vector<int64_t> sumsThatFit(std::mt19937_64 &random) {
  std::vector<int64_t> sums = {0, 1, -1, kEnd - 1, -kEnd, 1 - kEnd};
  for (int bit = 0; bit < kNarrowBits - 1; ++bit) {
    const int64_t power = int64_t(1) << bit;
    for (int64_t sum : {power, -power, power - 1, -power - 1}) {
      sums.push_back(sum);
    }
  }
  while (sums.size() % 4 != 0 || sums.size() < 600) { // 4 warps a block
    sums.push_back(int64_t(random()) >>
                   (64 - kNarrowBits + random() % kNarrowBits));
  }
  return sums;
}

TEST(GpuProduct, SumsOverAWarpAreTheDefinition) {
  for (uint32_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    const std::vector<int64_t> sums = sumsThatFit(random);
    std::vector<unsigned long long> lanes;
    for (int64_t sum : sums) {
      const auto warp = lanesOf(sum, random);
      int64_t defined = 0;
      for (unsigned long long value : warp) {
        defined = numerics::wrappingAdd(defined, int64_t(value));
      }
      ASSERT_EQ(defined, sum);
      lanes.insert(lanes.end(), warp.begin(), warp.end());
    }
    const auto values = Buffer<unsigned long long>::copyOf(lanes, "values");
    auto narrow = Buffer<long long>::allocate(lanes.size(), "narrow");
    auto wide = Buffer<unsigned long long>::allocate(lanes.size(), "wide");
    ASSERT_TRUE(values && narrow && wide);
    inSeveralOrders([&] {
      ORRERY_LAUNCH(sumWarps, dim3(unsigned(lanes.size() / 128)), dim3(128), 0,
                    nullptr, values->data(), narrow->data(), wide->data());
      const Status launched = launchStatus("sums");
      ASSERT_TRUE(launched) << launched.error().message;
      const auto narrowRead = *narrow->read();
      const auto wideRead = *wide->read();
      for (size_t i = 0; i < lanes.size(); ++i) {
        ASSERT_EQ(narrowRead[i], sums[i / kLanes]) << "lane " << i % kLanes;
        ASSERT_EQ(int64_t(wideRead[i]), sums[i / kLanes])
            << "lane " << i % kLanes;
      }
    });
  }
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
