// Weight matrices in device memory, in the order the matrix kernels read them:
// a warp's loads are 16 bytes a lane and whole 32-byte sectors. Not here: file
// formats (models/), the products (kernels/Gemv.h, kernels/Gemm.h).
#pragma once

#include "gpu-reference/Buffer.h"
#include "machine/numerics.h"
#include "models/WeightSource.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

enum class MatrixFormat : uint8_t {
  Q8_0, ///< int8 codes, an f16 scale per 32 of k
  Q4_0, ///< codes -8..7, an f16 scale per 32 of k
  F16,  ///< IEEE binary16
};

/// Blocks that lie together; rows are padded to a multiple of this.
inline constexpr int kBlockGroup = 4;

/// A matrix [rows][k] in device memory, given to kernels by value. Row r starts
/// at codes + r * rowBytes, a multiple of 64 bytes:
///  - Q8_0: per group of 4 blocks, bytes 0..15 of each block, then bytes
///    16..31 of each: [2][4][16] int8;
///  - Q4_0: per block 16 bytes of two's-complement nibbles; word w (of 4 bytes)
///    holds elements 8w .. 8w+3 in its low and 8w+4 .. 8w+7 in its high halves;
///  - F16: per element two bytes.
/// Elements between k and the end of its block are 0; what blocks behind it
/// hold never reaches a result.
struct MatrixView {
  MatrixFormat format = MatrixFormat::Q8_0;
  int32_t rows = 0;
  int32_t k = 0;
  /// Scales from one row to the next, a multiple of kBlockGroup.
  int32_t scaleStride = 0;
  int64_t rowBytes = 0;
  const uint8_t *codes = nullptr;
  /// f16 bits [rows][scaleStride]; null for F16.
  const uint16_t *scales = nullptr;
  /// While every scale (F16: magnitude) of an activation row is below this,
  /// no sum of this matrix' terms reaches 2^26, in any order; 0 if a weight is
  /// not finite.
  float activationLimit = 0;

  /// Blocks of 32 that a row has, the last one perhaps partly padding.
  __host__ __device__ int32_t blocks() const {
    return (k + numerics::kBlock - 1) / numerics::kBlock;
  }

  /// The signed code of an element; not for F16.
  __device__ int32_t code(int64_t row, int32_t column) const {
    const int32_t block = column / numerics::kBlock;
    const int32_t i = column % numerics::kBlock;
    const uint8_t *line = codes + row * rowBytes;
    if (format == MatrixFormat::Q8_0) {
      const int32_t group = block / kBlockGroup;
      const int32_t half = group * 2 + i / 16;
      const int32_t at = (half * kBlockGroup + block % kBlockGroup) * 16;
      return int8_t(line[at + i % 16]);
    }
    const uint8_t byte = line[block * 16 + i / 8 * 4 + i % 4];
    // Shifted up to the sign and back down.
    return int8_t(i % 8 < 4 ? byte << 4 : byte & 0xf0) / 16;
  }

  /// The value of an element: f32(scale) * f32(code), or the f16 value.
  __device__ float value(int64_t row, int32_t column) const {
    if (format == MatrixFormat::F16) {
      const auto *line =
          reinterpret_cast<const uint16_t *>(codes + row * rowBytes);
      return numerics::halfToFloat(line[column]);
    }
    const uint16_t d = scales[row * scaleStride + column / numerics::kBlock];
    return numerics::halfToFloat(d) * float(code(row, column));
  }
};

/// The bytes of a MatrixView on the host.
struct MatrixBytes {
  MatrixView shape; ///< its pointers are null
  std::vector<uint8_t> codes;
  std::vector<uint16_t> scales;

  /// `filler` goes where no result may come from (tests put NaN there).
  static MatrixBytes pack(const models::QuantizedMatrix &matrix,
                          uint8_t filler = 0);
  /// values [rows][k] f32, rounded to f16.
  static MatrixBytes packHalves(int64_t rows, int64_t k,
                                std::span<const float> values,
                                uint8_t filler = 0);
};

/// Owns a matrix in device memory.
class DeviceMatrix {
public:
  DeviceMatrix() = default;

  /// Copies `matrix` to the device. `what` names it in errors: out of memory, a
  /// failed copy, a shape that kernels do not take (no rows or columns, 2^24
  /// rows, or 2^24 columns and more).
  static Expected<DeviceMatrix> upload(const models::QuantizedMatrix &matrix,
                                       std::string_view what);
  /// values [rows][k] f32, rounded to f16 on the way. Fails as upload, and if
  /// there are not rows * k values.
  static Expected<DeviceMatrix> uploadHalves(int64_t rows, int64_t k,
                                             std::span<const float> values,
                                             std::string_view what);
  static Expected<DeviceMatrix> upload(const MatrixBytes &bytes,
                                       std::string_view what);

  /// Valid while this object lives.
  MatrixView view() const;
  /// Device memory held.
  size_t bytes() const { return codes.bytes() + scales.bytes(); }

private:
  MatrixView shape;
  Buffer<uint8_t> codes;
  Buffer<uint16_t> scales;
};

} // namespace orrery::gpu::ORRERY_GPU
