// Rows of f32 to and from the stored formats.
//
// Bit-for-bit what ggml's reference functions do (quantize_row_*_ref,
// dequantize_row_*), extended to rows whose length is no multiple of the block:
// the last block is padded with zeros. Weights only: activations are quantized
// by machine/numerics.h, with another rounding.
#pragma once

#include "machine/Result.h"
#include "models/TensorType.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery::models {

/// Elements in a block of Q8_0 and Q4_0.
inline constexpr int64_t kQuantBlock = 32;

/// Bytes of one stored block: f16 scale, then 32 int8 / 16 bytes of two codes.
inline constexpr int64_t kQ8BlockBytes = 34;
inline constexpr int64_t kQ4BlockBytes = 18;

/// The two formats weights are kept in.
enum class WeightFormat {
  Q8_0, ///< value = scale · code, code in -128..127.
  Q4_0, ///< value = scale · code, code in -8..7 (stored as code + 8).
};

/// "q8_0" or "q4_0".
std::string_view weightFormatName(WeightFormat format);

/// Blocks of a row of `cols` elements, the last one perhaps partly padding.
constexpr int64_t blocksPerRow(int64_t cols) {
  return (cols + kQuantBlock - 1) / kQuantBlock;
}

/// Decodes `out.size()` values of a loadable type. `data` must hold exactly the
/// blocks that many values need. Fails for a type that is not loadable or a
/// size that does not fit.
Status dequantizeRow(TensorType type, std::span<const std::byte> data,
                     std::span<float> out);

/// Quantizes one row to blocks: scales[b] are f16 bits and codes[32·b + i] the
/// signed code of element 32·b + i (Q4_0: stored nibble minus 8). Sizes:
/// scales blocksPerRow(row.size()), codes 32 times that. Elements must be
/// finite.
void quantizeRow(WeightFormat format, std::span<const float> row,
                 std::span<uint16_t> scales, std::span<int8_t> codes);

/// Takes stored Q8_0 or Q4_0 blocks apart into scales and signed codes, without
/// changing a value. `data` holds scales.size() blocks.
void unpackBlocks(WeightFormat format, std::span<const std::byte> data,
                  std::span<uint16_t> scales, std::span<int8_t> codes);

/// The inverse of unpackBlocks.
void packBlocks(WeightFormat format, std::span<const uint16_t> scales,
                std::span<const int8_t> codes, std::span<std::byte> data);

} // namespace orrery::models
