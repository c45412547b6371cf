// The part of the CUDA runtime that the reference uses, over host memory. Work
// on a stream is done when it is given, except while the stream is captured.
//
// Stricter than CUDA where that finds mistakes: copies must lie in one
// allocation on the sides that their kind says, and memory is poison when
// allocated. Less strict: an error of a kernel does not spoil later calls.
#pragma once

#include <cstddef>

namespace orrery::gpu::emulated {

// Numbers as CUDA's.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorLaunchTimeout = 702,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorStreamCaptureUnsupported = 900,
};

/// The error of the last call or launch of this OS thread that failed; get
/// forgets it, peek does not.
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
/// One line; for the thread's last error, what exactly went wrong.
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

//===-- Devices -----------------------------------------------------------===//

struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
  size_t sharedMemPerBlock;
  size_t sharedMemPerBlockOptin;
  int major;
  int minor;
  int multiProcessorCount;
  int warpSize;
  int maxThreadsPerBlock;
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute,
                                   int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaDeviceSynchronize();

//===-- Memory ------------------------------------------------------------===//

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
};

using cudaStream_t = struct CUstream_st *;

cudaError_t cudaMalloc(void **memory, size_t bytes);
template <class T> cudaError_t cudaMalloc(T **memory, size_t bytes) {
  return cudaMalloc(reinterpret_cast<void **>(memory), bytes);
}
cudaError_t cudaFree(void *memory);
cudaError_t cudaMallocHost(void **memory, size_t bytes);
template <class T> cudaError_t cudaMallocHost(T **memory, size_t bytes) {
  return cudaMallocHost(reinterpret_cast<void **>(memory), bytes);
}
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes,
                       cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes,
                            cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void *memory, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes,
                            cudaStream_t stream = nullptr);

//===-- Streams and events ------------------------------------------------===//

inline constexpr unsigned cudaStreamDefault = 0;
inline constexpr unsigned cudaStreamNonBlocking = 1;

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

using cudaEvent_t = struct CUevent_st *;
inline constexpr unsigned cudaEventDefault = 0;
inline constexpr unsigned cudaEventDisableTiming = 2;

cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
/// Time of this host between two records.
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start,
                                 cudaEvent_t end);

//===-- Graphs: what one stream was given between begin and end -----------===//

using cudaGraph_t = struct CUgraph_st *;
using cudaGraphExec_t = struct CUgraphExec_st *;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};

/// Until the end, launches, copies and memsets on the stream are recorded, and
/// calls that CUDA does not allow meanwhile (allocation, waiting) fail.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);

//===-- Kernels -----------------------------------------------------------===//

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};

/// A kernel needs cudaFuncAttributeMaxDynamicSharedMemorySize before it may be
/// given more than 48 KiB.
cudaError_t setFunctionAttribute(const void *function,
                                 cudaFuncAttribute attribute, int value);
template <class Function>
cudaError_t cudaFuncSetAttribute(Function *function,
                                 cudaFuncAttribute attribute, int value) {
  return setFunctionAttribute(reinterpret_cast<const void *>(function),
                              attribute, value);
}

} // namespace orrery::gpu::emulated
