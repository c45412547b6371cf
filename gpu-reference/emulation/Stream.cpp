#include "gpu-reference/emulation/Stream.h"

#include "gpu-reference/emulation/LastError.h"

#include <chrono>
#include <memory>
#include <utility>

namespace orrery::gpu::emulated {

/// Streams that this OS thread captures.
static constinit thread_local int capturing = 0;

cudaError_t refuseInCapture(const char *call) {
  if (capturing == 0) {
    return cudaSuccess;
  }
  return fail(cudaErrorStreamCaptureUnsupported,
              std::string(call) + " while a stream is captured");
}

cudaError_t give(cudaStream_t stream, Work work) {
  if (stream != nullptr && stream->recording != nullptr) {
    stream->recording->work.push_back(std::move(work));
    return cudaSuccess;
  }
  if (stream == nullptr && capturing != 0) {
    return refuseInCapture("work on the default stream");
  }
  return work();
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  *stream = new CUstream_st;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  return cudaStreamCreate(stream);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) {
    return fail(cudaErrorInvalidResourceHandle, "cudaStreamDestroy of null");
  }
  if (stream->recording != nullptr) {
    --capturing;
    delete stream->recording;
  }
  delete stream;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return refuseInCapture("cudaStreamSynchronize");
}

cudaError_t cudaDeviceSynchronize() {
  return refuseInCapture("cudaDeviceSynchronize");
}

//===-- Graphs ------------------------------------------------------------===//

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (stream == nullptr || stream->recording != nullptr) {
    return fail(cudaErrorStreamCaptureUnsupported,
                stream == nullptr ? "capture of the default stream"
                                  : "capture of a stream that is captured");
  }
  stream->recording = new CUgraph_st;
  ++capturing;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  if (stream == nullptr || stream->recording == nullptr) {
    *graph = nullptr;
    return fail(cudaErrorInvalidValue, "end of a capture that was not begun");
  }
  *graph = std::exchange(stream->recording, nullptr);
  --capturing;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long) {
  if (graph == nullptr) {
    return fail(cudaErrorInvalidValue, "cudaGraphInstantiate of null");
  }
  *exec = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  if (exec == nullptr) {
    return fail(cudaErrorInvalidValue, "cudaGraphLaunch of null");
  }
  if (stream != nullptr && stream->recording != nullptr) {
    return fail(cudaErrorNotSupported, "a graph in a captured stream");
  }
  for (const Work &work : exec->work) {
    if (cudaError_t error = work(); error != cudaSuccess) {
      return error;
    }
  }
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}

//===-- Events ------------------------------------------------------------===//

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

cudaError_t cudaEventCreate(cudaEvent_t *event) {
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  return cudaEventCreate(event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return give(stream, [event] {
    event->time = std::chrono::steady_clock::now();
    event->recorded = true;
    return cudaSuccess;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return refuseInCapture("cudaEventSynchronize");
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
  if (!start->recorded || !end->recorded) {
    return fail(cudaErrorInvalidResourceHandle,
                "time between events that were not recorded");
  }
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

} // namespace orrery::gpu::emulated
