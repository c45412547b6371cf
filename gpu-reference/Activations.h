// Rows of f32 and how they enter a matrix product: a8 codes with scales, or
// f16.
#pragma once

#include "gpu-reference/Buffer.h"
#include "machine/numerics.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::gpu::ORRERY_GPU {

/// What a8 scales are hardly ever as great as: 127 times this is an activation
/// of 1016. A product whose matrix takes any scale below it need not look at
/// the scales while ActivationView::large is 0.
inline constexpr float kLargeScale = 8;

/// Rows in device memory, in up to three forms; given to kernels by value. A
/// kernel that makes rows writes each form that is not null, one that takes
/// them reads the form it needs.
struct ActivationView {
  int32_t rows = 0;
  int32_t k = 0; ///< elements of a row
  /// f32 [rows][k].
  float *values = nullptr;
  /// a8 codes [rows][blocks() * 32], elements past k are 0; rows and blocks
  /// start at multiples of 32 bytes.
  int8_t *codes = nullptr;
  /// a8 scales f32 [rows][blocks()].
  float *scales = nullptr;
  /// f16 bits [rows][blocks() * 32], elements past k are 0; rows start at
  /// multiples of 64 bytes.
  uint16_t *halves = nullptr;
  /// One word for all rows: not 0 from the moment a scale was written here that
  /// is not below kLargeScale (or is NaN), until its owner clears it, which is
  /// right before all rows are written anew. Null: nothing is known.
  uint32_t *large = nullptr;

  /// Blocks of 32 a row, the last one padded.
  __host__ __device__ int32_t blocks() const {
    return (k + numerics::kBlock - 1) / numerics::kBlock;
  }
  __host__ __device__ int64_t paddedK() const {
    return int64_t(blocks()) * numerics::kBlock;
  }
};

/// Which forms of rows there is memory for.
struct ActivationForms {
  bool values = false;
  bool codes = false;
  bool halves = false;
};

/// Owns rows of up to `rows` tokens.
class DeviceActivations {
public:
  DeviceActivations() = default;

  static Expected<DeviceActivations> allocate(int32_t rows, int32_t k,
                                              ActivationForms forms,
                                              std::string_view what) {
    DeviceActivations result;
    result.shape.rows = rows;
    result.shape.k = k;
    const auto count = size_t(rows);
    const size_t padded = count * size_t(result.shape.paddedK());
    const size_t blocks = count * size_t(result.shape.blocks());
    const std::string name(what);
    Expected<Buffer<float>> values = Buffer<float>::allocate(
        forms.values ? count * size_t(k) : 0, name + " (f32)");
    if (!values) {
      return values.error();
    }
    Expected<Buffer<int8_t>> codes = Buffer<int8_t>::allocate(
        forms.codes ? padded : 0, name + " (a8 codes)");
    if (!codes) {
      return codes.error();
    }
    Expected<Buffer<float>> scales = Buffer<float>::allocate(
        forms.codes ? blocks : 0, name + " (a8 scales)");
    if (!scales) {
      return scales.error();
    }
    Expected<Buffer<uint16_t>> halves =
        Buffer<uint16_t>::allocate(forms.halves ? padded : 0, name + " (f16)");
    if (!halves) {
      return halves.error();
    }
    Expected<Buffer<uint32_t>> large = Buffer<uint32_t>::copyOf(
        std::vector<uint32_t>(forms.codes ? 1 : 0, 0), name + " (a8 range)");
    if (!large) {
      return large.error();
    }
    result.values = std::move(*values);
    result.codes = std::move(*codes);
    result.scales = std::move(*scales);
    result.halves = std::move(*halves);
    result.large = std::move(*large);
    return Expected<DeviceActivations>(std::move(result));
  }

  /// The first `rows` rows; at most as many as were allocated.
  ActivationView view(int32_t rows) {
    return {rows,          shape.k,       values.data(), codes.data(),
            scales.data(), halves.data(), large.data()};
  }
  ActivationView view() { return view(shape.rows); }

  size_t bytes() const {
    return values.bytes() + codes.bytes() + scales.bytes() + halves.bytes() +
           large.bytes();
  }

private:
  ActivationView shape;
  Buffer<float> values;
  Buffer<int8_t> codes;
  Buffer<float> scales;
  Buffer<uint16_t> halves;
  Buffer<uint32_t> large;
};

} // namespace orrery::gpu::ORRERY_GPU
