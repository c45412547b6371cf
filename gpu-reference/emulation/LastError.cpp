#include "gpu-reference/emulation/LastError.h"

#include <utility>

namespace orrery::gpu::emulated {

namespace {
struct LastError {
  cudaError_t pending = cudaSuccess;
  /// Of the last failure, forgotten or not.
  cudaError_t described = cudaSuccess;
  std::string text;
};
} // namespace

static LastError &lastError() {
  static thread_local LastError error;
  return error;
}

cudaError_t fail(cudaError_t error, std::string text) {
  lastError() = {error, error, std::move(text)};
  return error;
}

cudaError_t cudaGetLastError() {
  return std::exchange(lastError().pending, cudaSuccess);
}

cudaError_t cudaPeekAtLastError() { return lastError().pending; }

const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
  case cudaSuccess:
    return "cudaSuccess";
  case cudaErrorInvalidValue:
    return "cudaErrorInvalidValue";
  case cudaErrorMemoryAllocation:
    return "cudaErrorMemoryAllocation";
  case cudaErrorInvalidConfiguration:
    return "cudaErrorInvalidConfiguration";
  case cudaErrorInsufficientDriver:
    return "cudaErrorInsufficientDriver";
  case cudaErrorNoDevice:
    return "cudaErrorNoDevice";
  case cudaErrorInvalidDevice:
    return "cudaErrorInvalidDevice";
  case cudaErrorInvalidResourceHandle:
    return "cudaErrorInvalidResourceHandle";
  case cudaErrorNotReady:
    return "cudaErrorNotReady";
  case cudaErrorLaunchTimeout:
    return "cudaErrorLaunchTimeout";
  case cudaErrorLaunchFailure:
    return "cudaErrorLaunchFailure";
  case cudaErrorNotSupported:
    return "cudaErrorNotSupported";
  case cudaErrorStreamCaptureUnsupported:
    return "cudaErrorStreamCaptureUnsupported";
  }
  return "an error without a name";
}

const char *cudaGetErrorString(cudaError_t error) {
  const LastError &last = lastError();
  return error != cudaSuccess && error == last.described
             ? last.text.c_str()
             : cudaGetErrorName(error);
}

} // namespace orrery::gpu::emulated
