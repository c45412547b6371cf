// Single kernels timed: matrix products of decode, and a plain copy to hold
// them against. Whole steps are timed by Reference::time. Plain C++.
#pragma once

#include "gpu-reference/Reference.h"

namespace orrery::gpu {

/// A product of a matrix [rows][k] with `batch` activation rows.
struct GemvCase {
  int64_t rows = 0, k = 0;
  StoredFormat weights = StoredFormat::Q8_0;
  int32_t batch = 1;
};

struct TimingOptions {
  int warmUp = 3;   ///< fewer than 1 is taken as 1
  int repeats = 20; ///< at least 1
  /// Products go over matrices of at least so many bytes in turn, so that none
  /// is still in the cache when its turn comes again.
  int64_t workingSetBytes = int64_t(1) << 30;
};

namespace emulated {
/// Times of one product, made-up values; `bytes` are the matrix' own, as it is
/// stored, and those of the activations.
Expected<StepTimes> timeGemv(const GemvCase &shape,
                             const TimingOptions &options);
/// Times of copying `bytes` within device memory; StepTimes::bytes are those
/// read and those written.
Expected<StepTimes> timeCopy(int64_t bytes, const TimingOptions &options);
} // namespace emulated

/// Only linked where the build found CUDA.
namespace device {
Expected<StepTimes> timeGemv(const GemvCase &shape,
                             const TimingOptions &options);
Expected<StepTimes> timeCopy(int64_t bytes, const TimingOptions &options);
} // namespace device

} // namespace orrery::gpu
