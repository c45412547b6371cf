#include "gpu-reference/latency/Formats.h"

#include <array>
#include <utility>

namespace orrery::gpu::latency {
namespace {

constexpr std::array<std::pair<std::string_view, WeightKind>, 7> kWeights = {{
    {"bf16", WeightKind::Bf16},
    {"f16", WeightKind::F16},
    {"q8_0", WeightKind::Q8_0},
    {"q4_0", WeightKind::Q4_0},
    {"int8", WeightKind::Int8},
    {"int4", WeightKind::Int4},
    {"fp8", WeightKind::Fp8},
}};
constexpr std::array<std::pair<std::string_view, KvKind>, 4> kKv = {{
    {"f16", KvKind::F16},
    {"q8", KvKind::Q8},
    {"q4", KvKind::Q4},
    {"fp8", KvKind::Fp8},
}};

template <class Table>
auto named(const Table &table, std::string_view name)
    -> Expected<decltype(table[0].second)> {
  std::string expected;
  for (const auto &[text, kind] : table) {
    if (text == name) {
      return kind;
    }
    expected += (expected.empty() ? "" : ", ") + std::string(text);
  }
  return Error{"expected one of " + expected + ", found " + std::string(name)};
}

template <class Table, class Kind>
std::string nameIn(const Table &table, Kind kind) {
  for (const auto &[text, each] : table) {
    if (each == kind) {
      return std::string(text);
    }
  }
  return "?";
}

} // namespace

Expected<WeightKind> weightKindNamed(std::string_view name) {
  return named(kWeights, name);
}
Expected<KvKind> kvKindNamed(std::string_view name) { return named(kKv, name); }
std::string nameOf(WeightKind kind) { return nameIn(kWeights, kind); }
std::string nameOf(KvKind kind) { return nameIn(kKv, kind); }

int precisionBits(WeightKind kind) {
  switch (kind) {
  case WeightKind::Bf16:
  case WeightKind::F16:
    return 16;
  case WeightKind::Q8_0:
  case WeightKind::Int8:
  case WeightKind::Fp8:
    return 8;
  case WeightKind::Q4_0:
  case WeightKind::Int4:
    return 4;
  }
  return 0;
}

int64_t matrixBytes(int64_t rows, int64_t cols, WeightKind kind) {
  constexpr int64_t kBlock = 32, kScale = 2;
  int64_t blocks = rows * ((cols + kBlock - 1) / kBlock);
  switch (kind) {
  case WeightKind::Bf16:
  case WeightKind::F16:
    return rows * cols * 2;
  case WeightKind::Q8_0:
    return blocks * (kBlock + kScale);
  case WeightKind::Q4_0:
    return blocks * (kBlock / 2 + kScale);
  case WeightKind::Int8:
    return rows * cols + rows * kScale;
  case WeightKind::Int4:
    return blocks * (kBlock / 2 + 2 * kScale);
  case WeightKind::Fp8:
    return rows * cols;
  }
  return 0;
}

int64_t kvBytes(int64_t headDim, KvKind kind) {
  constexpr int64_t kScale = 2;
  switch (kind) {
  case KvKind::F16:
    return 2 * headDim * 2;
  case KvKind::Q8:
    return 2 * (headDim + kScale);
  case KvKind::Q4:
    return 2 * ((headDim + 1) / 2 + kScale);
  case KvKind::Fp8:
    return 2 * headDim;
  }
  return 0;
}

} // namespace orrery::gpu::latency
