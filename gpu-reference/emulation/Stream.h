// What streams and graphs are here: a list of work while captured, nothing
// otherwise.
#pragma once

#include "gpu-reference/emulation/Runtime.h"

#include <functional>
#include <vector>

namespace orrery::gpu::emulated {

/// A launch, copy or memset; what it reports is cudaGetLastError()'s.
using Work = std::function<cudaError_t()>;

struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st {
  std::vector<Work> work;
};
struct CUstream_st {
  CUgraph_st *recording = nullptr;
};

/// Does `work` now, or records it if `stream` is being captured. The default
/// stream may not be used while another one is captured.
cudaError_t give(cudaStream_t stream, Work work);

/// An error if this OS thread captures a stream: `call` is not allowed then.
cudaError_t refuseInCapture(const char *call);

} // namespace orrery::gpu::emulated
