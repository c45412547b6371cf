// The element types a GGUF tensor can have.
//
// Every type number ggml has given out, with its block layout, so that a file
// can be listed and its sizes checked. Only a few of them can be loaded as
// weights: see isLoadable.
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery::models {

/// Numbers as stored in a tensor info; the gaps (4, 5, 31-33, 36-38) are types
/// that ggml removed. Source: enum ggml_type in ggml.h.
enum class TensorType : uint32_t {
  F32 = 0,
  F16 = 1,
  Q4_0 = 2,
  Q4_1 = 3,
  Q5_0 = 6,
  Q5_1 = 7,
  Q8_0 = 8,
  Q8_1 = 9,
  Q2_K = 10,
  Q3_K = 11,
  Q4_K = 12,
  Q5_K = 13,
  Q6_K = 14,
  Q8_K = 15,
  IQ2_XXS = 16,
  IQ2_XS = 17,
  IQ3_XXS = 18,
  IQ1_S = 19,
  IQ4_NL = 20,
  IQ3_S = 21,
  IQ2_S = 22,
  IQ4_XS = 23,
  I8 = 24,
  I16 = 25,
  I32 = 26,
  I64 = 27,
  F64 = 28,
  IQ1_M = 29,
  BF16 = 30,
  TQ1_0 = 34,
  TQ2_0 = 35,
  MXFP4 = 39,
  NVFP4 = 40,
  Q1_0 = 41,
  Q2_0 = 42,
};

/// `blockElements` consecutive elements of a row take `blockBytes` bytes.
struct TensorTypeLayout {
  TensorType type;
  std::string_view name;
  uint32_t blockElements;
  uint32_t blockBytes;
};

/// The layout of type number `number`, or null when ggml never had it or has
/// removed it.
const TensorTypeLayout *findTensorType(uint32_t number);

/// The layout of a type that is known to exist.
const TensorTypeLayout &layoutOf(TensorType type);

/// True for the types whose values models/ can read: F32, F16, BF16, Q8_0,
/// Q4_0.
bool isLoadable(TensorType type);

/// The loadable types for an error message: "F32, F16, BF16, Q8_0, Q4_0".
std::string_view loadableTypeNames();

} // namespace orrery::models
