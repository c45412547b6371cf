// A stream, and the work recorded on it once to be replayed as one launch.
#pragma once

#include "gpu-reference/CudaStatus.h"

#include <utility>

namespace orrery::gpu::ORRERY_GPU {

/// A stream of its own; waits for its work before it goes.
class Stream {
public:
  Stream() = default;
  Stream(Stream &&other) noexcept
      : handle(std::exchange(other.handle, nullptr)) {}
  Stream &operator=(Stream &&other) noexcept {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Stream() {
    if (handle != nullptr) {
      (void)cudaStreamSynchronize(handle);
      (void)cudaStreamDestroy(handle);
    }
  }

  static Expected<Stream> create() {
    Stream stream;
    if (Status ok = cudaStatus(
            cudaStreamCreateWithFlags(&stream.handle, cudaStreamNonBlocking),
            "cudaStreamCreateWithFlags");
        !ok) {
      return ok.error();
    }
    return Expected<Stream>(std::move(stream));
  }

  Status wait() const {
    return cudaStatus(cudaStreamSynchronize(handle),
                      "cudaStreamSynchronize behind a step");
  }

  cudaStream_t get() const { return handle; }

private:
  cudaStream_t handle = nullptr;
};

/// A CUDA graph, instantiated.
class StepGraph {
public:
  StepGraph() = default;
  StepGraph(StepGraph &&other) noexcept
      : executable(std::exchange(other.executable, nullptr)) {}
  StepGraph &operator=(StepGraph &&other) noexcept {
    std::swap(executable, other.executable);
    return *this;
  }
  ~StepGraph() {
    if (executable != nullptr) {
      (void)cudaGraphExecDestroy(executable);
    }
  }

  /// Records what `give` gives to `stream`; nothing of it runs. Whatever
  /// fails, the stream is left as it was.
  template <class Give>
  static Expected<StepGraph> record(cudaStream_t stream, Give give) {
    if (Status ok = cudaStatus(
            cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
            "cudaStreamBeginCapture");
        !ok) {
      return ok.error();
    }
    const Status given = give();
    cudaGraph_t graph = nullptr;
    const Status ended = cudaStatus(cudaStreamEndCapture(stream, &graph),
                                    "cudaStreamEndCapture");
    StepGraph result;
    Status made = !given ? given : ended;
    if (made) {
      made = cudaStatus(cudaGraphInstantiate(&result.executable, graph, 0),
                        "cudaGraphInstantiate");
    }
    if (graph != nullptr) {
      (void)cudaGraphDestroy(graph);
    }
    if (!made) {
      (void)cudaGetLastError(); // reported here
      return made.error();
    }
    return Expected<StepGraph>(std::move(result));
  }

  Status launch(cudaStream_t stream) const {
    return cudaStatus(cudaGraphLaunch(executable, stream),
                      "cudaGraphLaunch of a step");
  }

private:
  cudaGraphExec_t executable = nullptr;
};

} // namespace orrery::gpu::ORRERY_GPU
