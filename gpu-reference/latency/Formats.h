// Formats of weights and KV caches as GPUs store them, and their bytes: codes
// and scales, without padding.
#pragma once

#include "machine/Result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::gpu::latency {

enum class WeightKind {
  Bf16,
  F16,
  Q8_0, ///< blocks of 32 in a row: 32 codes of a byte and an f16 scale
  Q4_0, ///< blocks of 32 in a row: 16 bytes of codes and an f16 scale
  Int8, ///< a byte an element and a bf16 scale a row, weights only (gpt-fast)
  Int4, ///< groups of 32: 16 bytes, bf16 scale and zero, weights only
        ///< (gpt-fast)
  Fp8,  ///< a byte an element, one scale a tensor
};

enum class KvKind {
  F16,
  Q8,  ///< a byte an element, an f16 scale a head and position
  Q4,  ///< half a byte an element (rounded up), an f16 scale likewise
  Fp8, ///< a byte an element
};

Expected<WeightKind> weightKindNamed(std::string_view name);
Expected<KvKind> kvKindNamed(std::string_view name);
std::string nameOf(WeightKind kind);
std::string nameOf(KvKind kind);

/// 16, 8 or 4: what published rows are matched by.
int precisionBits(WeightKind kind);

/// Of a matrix [rows, cols].
int64_t matrixBytes(int64_t rows, int64_t cols, WeightKind kind);
/// K and V of one position and KV head.
int64_t kvBytes(int64_t headDim, KvKind kind);

} // namespace orrery::gpu::latency
