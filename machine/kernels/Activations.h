// Activation rows as they enter a matrix unit (rule 4, mode a8): int8 codes and
// one f32 scale per block of 32.

#ifndef ORRERY_MACHINE_KERNELS_ACTIVATIONS_H
#define ORRERY_MACHINE_KERNELS_ACTIVATIONS_H

#include <cstdint>
#include <vector>

namespace orrery::numerics {

/// rows x k quantized activations in memory, or a part of them. Codes are in
/// [-127, 127]; codes past k are never read.
struct A8View {
  int64_t rows = 0;
  int64_t k = 0;
  const int8_t *codes = nullptr; ///< [rows, codeStride]
  int64_t codeStride = 0;
  const float *scales = nullptr; ///< [rows, scaleStride], one per 32 of k
  int64_t scaleStride = 0;

  /// Elements [firstK, firstK + length), firstK a multiple of 32.
  A8View sliceK(int64_t firstK, int64_t length) const;
  /// Rows [first, first + count).
  A8View sliceRows(int64_t first, int64_t count) const;
};

/// Owns the codes and scales of [rows, k] activations.
class A8Matrix {
public:
  A8Matrix(int64_t rows, int64_t k);

  /// Quantizes x [rows, k] f32, row r at x + r * stride. False if an element is
  /// NaN or infinite: such blocks get zeros and a NaN scale.
  [[nodiscard]] bool quantize(const float *x, int64_t stride);

  A8View view() const;

private:
  A8View shape;
  std::vector<int8_t> codes;
  std::vector<float> scales;
};

} // namespace orrery::numerics

#endif // ORRERY_MACHINE_KERNELS_ACTIVATIONS_H
