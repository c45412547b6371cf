// CUDA's error codes as the project's errors.
#pragma once

#include "gpu-reference/Cuda.h"
#include "machine/Result.h"

#include <string>
#include <string_view>

namespace orrery::gpu::ORRERY_GPU {

/// Success, or "CALL: what CUDA says"; `call` names the function and what it
/// was called for ("cudaMemcpyAsync of the logits").
inline Status cudaStatus(cudaError_t error, std::string_view call) {
  if (error == cudaSuccess) {
    return Success();
  }
  Error reported{std::string(call) + ": " + cudaGetErrorString(error)};
  // Not once more, by whoever asks next what launches left behind.
  (void)cudaGetLastError();
  return reported;
}

/// What launches since the last such call left behind.
inline Status launchStatus(std::string_view what) {
  return cudaStatus(cudaGetLastError(), what);
}

} // namespace orrery::gpu::ORRERY_GPU
