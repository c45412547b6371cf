// A GPU as data: what it has, and what its kernels were measured to take.
//
// gpus/*.json, one a GPU, built into the binaries; each number stands beside
// its source. Nothing here is from a run of a whole model: those are what the
// model is held against (HeldOut.h).
#pragma once

#include "gpu-reference/latency/Curve.h"
#include "gpu-reference/latency/Formats.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpu::latency {

/// A matrix product of few rows takes t0 + bytes / bandwidth; of many, t0 +
/// operations / rate.
struct MatmulFit {
  double t0Us = 0;
  double bytesPerUs = 0; ///< effective
  double opsPerUs = 0;   ///< effective, a multiply-accumulate is two
  std::string source;
  bool assumed() const { return source.starts_with("assumed"); }
};

/// Microseconds of one product, as measured.
struct GemmSample {
  std::string weights; ///< "bf16", "fp8-block": as its source says
  WeightKind fit;      ///< of the same t0
  int64_t rows, cols, batch;
  double us;
};

/// Of `bytes` over all GPUs of a group. Between group sizes that were measured:
/// a straight line; below the smallest and above the greatest: as that one.
class AllReduce {
public:
  explicit AllReduce(std::map<int64_t, Curve> tables)
      : tables(std::move(tables)) {}
  /// 0 for a single GPU.
  double us(double bytes, int64_t gpus) const;

private:
  std::map<int64_t, Curve> tables; ///< not empty
};

struct Gpu {
  std::string name, title;
  int64_t hbmBytes = 0;
  double hbmBytesPerUs = 0; ///< peak
  int64_t nodeGpus = 0;     ///< in reach of each other's NVLink
  double vectorOpUs = 0, vectorOpBytesPerUs = 0;
  std::map<WeightKind, MatmulFit> matmul; ///< f16 is bf16's
  std::vector<GemmSample> samples;
  /// Of one layer over the bytes of K and V that a GPU reads.
  Curve attention;
  /// For one KV head on each GPU, where that was measured.
  std::optional<Curve> oneHeadAttention;
  AllReduce allReduce{{}};
  std::optional<AllReduce> nccl;

  const MatmulFit *fit(WeightKind kind) const {
    auto found = matmul.find(kind == WeightKind::F16 ? WeightKind::Bf16 : kind);
    return found == matmul.end() ? nullptr : &found->second;
  }
};

/// Reads a description; `where` names it in errors, which are one line: place,
/// expected, found. Keys that are not known are errors, numbers without a
/// source too.
Expected<Gpu> parseGpu(std::string_view json, const std::string &where);

/// "a100", "b200", …
std::vector<std::string> gpuNames();
/// One that is built in, or a file.
Expected<Gpu> loadGpu(const std::string &nameOrPath);

} // namespace orrery::gpu::latency
