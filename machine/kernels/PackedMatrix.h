// Weight and KV matrices in the order the host kernels read them: 16 rows
// interleaved, the reduced dimension in blocks. Not here: file formats
// (models/) and the arithmetic (Gemv.h).

#ifndef ORRERY_MACHINE_KERNELS_PACKEDMATRIX_H
#define ORRERY_MACHINE_KERNELS_PACKEDMATRIX_H

#include <cstdint>
#include <vector>

namespace orrery::numerics {

/// Rows that share a vector; a matrix is a sequence of row groups this high.
inline constexpr int kGroupRows = 16;

/// How elements are stored. `q` is the signed code that enters the dot product.
enum class PackedFormat : uint8_t {
  Q8,      ///< value d*q, q in [-128, 127], f16 d per 32.
  Q4,      ///< value d*q, q in [-8, 7], f16 d per 32, two codes a byte.
  Codes8,  ///< value q, q in [-128, 127], no scale (KV codes).
  Affine8, ///< value s*q + m, q in [-128, 127], f32 s (and m) per 32 or 16.
  Half,    ///< IEEE binary16 values, no blocks.
};

/// A packed matrix [rows, k] somewhere in memory, or a part of one. Layout per
/// row group:
///  - 8-bit formats: per 4 elements of k, [16 rows][4] bytes q + 128;
///  - Q4: per 8 elements, [16 rows][4] bytes, element j (0..3) in the low and
///    element 4 + j in the high nibble, as q + 8;
///  - Half: per element of k, [16 rows] uint16;
///  - scales, mins: per block, [16 rows].
/// 8-bit and 4-bit rows are padded to whole blocks, groups to 16 rows; what the
/// padding holds never reaches a result.
struct PackedView {
  PackedFormat format = PackedFormat::Q8;
  int block = 32; ///< elements per scale; 16 only for Affine8
  int64_t rows = 0;
  int64_t k = 0;
  const uint8_t *codes = nullptr;
  const uint16_t *halfScales = nullptr; ///< Q8, Q4
  const float *scales = nullptr;        ///< Affine8
  const float *mins = nullptr;          ///< Affine8, may be null
  int64_t groupBytes = 0;  ///< bytes of codes from one row group to the next
  int64_t groupScales = 0; ///< scales from one row group to the next

  int64_t groups() const { return (rows + kGroupRows - 1) / kGroupRows; }
  int64_t blocks() const { return (k + block - 1) / block; }

  /// Rows [firstRow, firstRow + count) and elements [firstK, firstK + length);
  /// firstRow a multiple of 16, firstK of 32, and no end past this view.
  PackedView slice(int64_t firstRow, int64_t count, int64_t firstK,
                   int64_t length) const;

  /// The signed code, integer formats.
  int32_t code(int64_t row, int64_t column) const;
  /// f32 scale of a block (1 for Codes8), integer formats.
  float scale(int64_t row, int64_t blockIndex) const;
  /// f32 minimum of a block, Affine8 with mins.
  float min(int64_t row, int64_t blockIndex) const;
  /// The f16 bits, Half.
  uint16_t half(int64_t row, int64_t column) const;
};

/// Owns the storage of a packed matrix, 64-byte aligned. Inputs are row-major.
class PackedMatrix {
public:
  /// A matrix of zeros (scales and minimums 0), to be filled by the setters.
  PackedMatrix(PackedFormat format, int64_t rows, int64_t k, int block = 32,
               bool withMins = false);

  /// codes [rows, k] int8, scales [rows, ceil(k/32)] f16 bits.
  static PackedMatrix packQ8(int64_t rows, int64_t k, const int8_t *codes,
                             const uint16_t *scales);
  /// codes [rows, k], one per byte, 0..15 meaning -8..7; scales as for packQ8.
  static PackedMatrix packQ4(int64_t rows, int64_t k, const uint8_t *codes,
                             const uint16_t *scales);
  /// codes [rows, k] int8.
  static PackedMatrix packCodes8(int64_t rows, int64_t k, const int8_t *codes);
  /// codes [rows, k] int8, scales and (or null) mins [rows, ceil(k/block)].
  static PackedMatrix packAffine8(int64_t rows, int64_t k, int block,
                                  const int8_t *codes, const float *scales,
                                  const float *mins);
  /// values [rows, k] f16 bits.
  static PackedMatrix packHalf(int64_t rows, int64_t k, const uint16_t *values);

  /// q as `PackedFormat` defines it; lets a KV cache grow in place.
  void setCode(int64_t row, int64_t column, int32_t q);
  void setHalfScale(int64_t row, int64_t blockIndex, uint16_t d);
  void setScale(int64_t row, int64_t blockIndex, float s);
  void setMin(int64_t row, int64_t blockIndex, float m);
  void setHalf(int64_t row, int64_t column, uint16_t bits);

  /// Valid while this object lives.
  PackedView view() const;
  /// Bytes of codes and scales, padding included.
  int64_t bytes() const;

private:
  struct alignas(64) Line {
    uint8_t byte[64];
  };
  int64_t scaleIndex(int64_t row, int64_t blockIndex) const;
  uint8_t *codeBytes() { return codes.empty() ? nullptr : codes[0].byte; }

  PackedView shape;
  std::vector<Line> codes;
  std::vector<uint16_t> halfScales;
  std::vector<float> scales;
  std::vector<float> mins;
};

} // namespace orrery::numerics

#endif // ORRERY_MACHINE_KERNELS_PACKEDMATRIX_H
