// How a kernel says that a value is not finite (or that an accumulator left
// +-2^27): one word of device memory that keeps the first place, in the order
// of ops, rows, elements. Finding it is order-free, as the values are.
#pragma once

#include "gpu-reference/Cuda.h"

#include <cstdint>
#include <optional>

namespace orrery::gpu {

/// Where the first bad value is. `op` is the index of the op in the step, `row`
/// the row of its result (a token of the step), `element` the place in the row.
struct FaultPlace {
  uint32_t op = 0;
  uint32_t row = 0;
  uint32_t element = 0;

  bool operator==(const FaultPlace &) const = default;
};

namespace ORRERY_GPU {

/// In device memory, set to kNoFault before a step.
struct Fault {
  unsigned long long first;
};

inline constexpr unsigned long long kNoFault = ~0ull;
/// Bits of element and row below the op: rows < 2^20, elements < 2^24.
inline constexpr int kFaultElementBits = 24;
inline constexpr int kFaultRowBits = 20;

/// What a kernel that can fail is given, by value. A null fault reports
/// nothing.
struct FaultSite {
  Fault *fault = nullptr;
  uint32_t op = 0; ///< below 2^20

  __device__ void report(uint32_t row, uint32_t element) const {
    if (fault != nullptr) {
      const unsigned long long place =
          (static_cast<unsigned long long>(op)
           << (kFaultRowBits + kFaultElementBits)) |
          (static_cast<unsigned long long>(row) << kFaultElementBits) | element;
      atomicMin(&fault->first, place);
    }
  }
};

/// The place in a Fault copied back from the device; nothing if there is none.
inline std::optional<FaultPlace> faultPlace(const Fault &fault) {
  if (fault.first == kNoFault) {
    return std::nullopt;
  }
  const auto row = uint32_t(fault.first >> kFaultElementBits);
  return FaultPlace{
      uint32_t(fault.first >> (kFaultRowBits + kFaultElementBits)),
      row & ((1u << kFaultRowBits) - 1),
      uint32_t(fault.first) & ((1u << kFaultElementBits) - 1)};
}

} // namespace ORRERY_GPU
} // namespace orrery::gpu
