// Times work on a stream by events: a warm-up, then each repetition between two
// events, all given before any is waited for. So the host is in no figure as
// long as it gives work faster than the device does it; work of many launches
// should be a graph.
#pragma once

#include "gpu-reference/CudaStatus.h"
#include "gpu-reference/Reference.h"

#include <algorithm>
#include <string>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

/// Events that destroy themselves.
class Events {
public:
  Events() = default;
  Events(const Events &) = delete;
  Events &operator=(const Events &) = delete;
  ~Events() {
    for (cudaEvent_t event : all) {
      (void)cudaEventDestroy(event);
    }
  }

  Status record(cudaStream_t stream) {
    cudaEvent_t event = nullptr;
    if (Status ok = cudaStatus(cudaEventCreate(&event), "cudaEventCreate");
        !ok) {
      return ok;
    }
    all.push_back(event);
    return cudaStatus(cudaEventRecord(event, stream), "cudaEventRecord");
  }

  /// Microseconds from event `first` to the one behind it.
  Expected<double> between(size_t first) const {
    float milliseconds = 0;
    if (Status ok = cudaStatus(
            cudaEventElapsedTime(&milliseconds, all[first], all[first + 1]),
            "cudaEventElapsedTime");
        !ok) {
      return ok.error();
    }
    return double(milliseconds) * 1e3;
  }

private:
  std::vector<cudaEvent_t> all;
};

/// The value below which `part` of the sorted `values` lie.
inline double quantile(const std::vector<double> &sorted, double part) {
  const double at = part * double(sorted.size() - 1);
  const auto low = size_t(at);
  const size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - double(low));
}

/// Times `repeats` of what `give` gives to `stream`, at least once without
/// being timed, as what is given first may still be recorded. `bytes` is the
/// caller's to fill. Fails for fewer than 1 repeat.
template <class Give>
Expected<StepTimes> timeOnStream(cudaStream_t stream, int warmUp, int repeats,
                                 Give give) {
  if (repeats < 1) {
    return Error{"expected at least 1 repeat, found " +
                 std::to_string(repeats)};
  }
  for (int i = 0; i < std::max(warmUp, 1); ++i) {
    if (Status ok = give(); !ok) {
      return ok.error();
    }
  }
  Events events;
  for (int i = 0; i < repeats; ++i) {
    for (int part = 0; part < 3; ++part) {
      Status ok = part == 1 ? give() : events.record(stream);
      if (!ok) {
        return ok.error();
      }
    }
  }
  if (Status ok = cudaStatus(cudaStreamSynchronize(stream),
                             "cudaStreamSynchronize behind timed work");
      !ok) {
    return ok.error();
  }
  std::vector<double> us;
  for (int i = 0; i < repeats; ++i) {
    Expected<double> one = events.between(size_t(2 * i));
    if (!one) {
      return one.error();
    }
    us.push_back(*one);
  }
  std::ranges::sort(us);
  StepTimes times;
  times.medianUs = quantile(us, 0.5);
  times.p10Us = quantile(us, 0.1);
  times.p90Us = quantile(us, 0.9);
  return times;
}

} // namespace orrery::gpu::ORRERY_GPU
