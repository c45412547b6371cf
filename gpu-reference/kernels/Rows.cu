// A block of threads takes a row, or a piece of one; thread l of a warp always
// element l of a block of 32, as quantization wants it.
#include "gpu-reference/kernels/Rows.h"

#include "gpu-reference/kernels/StoreRow.cuh"
#include "gpu-reference/kernels/WarpReduce.cuh"
#include "machine/numerics.h"

#include <cstdint>

namespace orrery::gpu::ORRERY_GPU {

namespace {

constexpr int32_t kThreads = 256;
/// Elements of a row that a thread of argmax looks at.
constexpr int32_t kArgmaxPerThread = 16;

int32_t piecesOf(int64_t count, int64_t size) {
  return int32_t((count + size - 1) / size);
}

/// Threads for pieces of rows of `width` elements.
dim3 threadsFor(int64_t width) {
  return dim3(unsigned(width < kThreads ? (width + 31) / 32 * 32 : kThreads));
}

/// A block of the grid per row and kThreads elements.
dim3 gridFor(int32_t rows, int64_t width) {
  return dim3(unsigned(rows), unsigned(piecesOf(width, kThreads)));
}

/// This thread's element of its row, in such a grid.
__device__ int32_t elementOfThread() {
  return int32_t(blockIdx.y * kThreads + threadIdx.x);
}

__device__ void reportUnlessFinite(const FaultSite &site, int32_t row,
                                   int32_t element, float value) {
  if (!numerics::isFinite(value)) {
    site.report(uint32_t(row), uint32_t(element));
  }
}

__global__ void embedKernel(MatrixView table, const int32_t *ids,
                            ActivationView out, FaultSite site) {
  const auto row = int32_t(blockIdx.x);
  const int32_t i = elementOfThread();
  if (i >= out.paddedK()) {
    return;
  }
  const float value = i < out.k ? table.value(ids[row], i) : 0.0f;
  reportUnlessFinite(site, row, i, value);
  storeElement(out, row, i, value);
}

//===-- RMSNorm -----------------------------------------------------------===//

using numerics::WideAccumulator;

__device__ WideAccumulator fromOtherLane(const WideAccumulator &sum,
                                         int lanes) {
  const auto low = static_cast<unsigned long long>(sum.sum);
  const auto high = static_cast<unsigned long long>(sum.sum >> 64);
  WideAccumulator other;
  const auto otherLow = __shfl_xor_sync(kWholeWarp, low, lanes);
  const auto otherHigh = __shfl_xor_sync(kWholeWarp, high, lanes);
  other.sum = WideAccumulator::Int128(
      WideAccumulator::UInt128(otherHigh) << 64 | otherLow);
  other.saturated = __shfl_xor_sync(kWholeWarp, int(sum.saturated), lanes) != 0;
  return other;
}

/// All lanes get the sum over the warp. Squares are not negative, so that a
/// partial sum leaves the range only if the whole does: order-free.
__device__ WideAccumulator warpSum(WideAccumulator sum) {
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    sum.add(fromOtherLane(sum, lanes));
  }
  return sum;
}

/// Parts of a WideAccumulator in shared memory, which cannot be constructed.
struct WideWords {
  unsigned long long low;
  unsigned long long high;
  int saturated;
};

__device__ WideWords wordsOf(const WideAccumulator &sum) {
  return {static_cast<unsigned long long>(sum.sum),
          static_cast<unsigned long long>(sum.sum >> 64), int(sum.saturated)};
}

__device__ WideAccumulator accumulatorOf(const WideWords &words) {
  WideAccumulator sum;
  sum.sum = WideAccumulator::Int128(WideAccumulator::UInt128(words.high) << 64 |
                                    words.low);
  sum.saturated = words.saturated != 0;
  return sum;
}

/// Sum of squares of x [n], read out, for every thread of the block.
__device__ float sumOfSquares(const float *x, int32_t n) {
  ORRERY_SHARED(WideWords, parts, [32]);
  WideAccumulator sum;
  for (auto i = int32_t(threadIdx.x); i < n; i += int32_t(blockDim.x)) {
    sum.add(x[i] * x[i]);
  }
  sum = warpSum(sum);
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0) {
    parts[threadIdx.x / 32] = wordsOf(sum);
  }
  __syncthreads();
  const unsigned warps = blockDim.x / 32;
  sum = lane < warps ? accumulatorOf(parts[lane]) : WideAccumulator();
  return warpSum(sum).read();
}

__global__ void rmsNormKernel(const float *x, const float *weight, float eps,
                              ActivationView out, FaultSite site) {
  const auto row = int32_t(blockIdx.x);
  const float *line = x + int64_t(row) * out.k;
  const float r = numerics::inverseNorm(sumOfSquares(line, out.k), out.k, eps);
  for (auto i = int32_t(threadIdx.x); i < out.paddedK();
       i += int32_t(blockDim.x)) {
    const float value = i < out.k ? (line[i] * r) * weight[i] : 0.0f;
    reportUnlessFinite(site, row, i, value);
    storeElement(out, row, i, value);
  }
}

//===-- Element by element ------------------------------------------------===//

__global__ void quantizeKernel(const float *x, ActivationView out) {
  const auto row = int32_t(blockIdx.x);
  const int32_t i = elementOfThread();
  if (i < out.paddedK()) {
    storeElement(out, row, i, i < out.k ? x[int64_t(row) * out.k + i] : 0.0f);
  }
}

__global__ void ropeKernel(float *x, int64_t stride, RotaryShape shape,
                           const float *cos, const float *sin, FaultSite site) {
  const auto row = int32_t(blockIdx.x);
  const int32_t pairs = shape.ropeDim / 2;
  const int32_t i = elementOfThread();
  if (i >= shape.heads * pairs) {
    return;
  }
  const int32_t pair = i % pairs;
  const bool adjacent = shape.pairs == RotaryPairs::Adjacent;
  const int32_t first =
      i / pairs * shape.headDim + (adjacent ? 2 * pair : pair);
  const int32_t second = first + (adjacent ? 1 : pairs);
  float *line = x + row * stride;
  const int64_t turn = int64_t(row) * pairs + pair;
  numerics::ropePair(line[first], line[second], cos[turn], sin[turn]);
  reportUnlessFinite(site, row, first, line[first]);
  reportUnlessFinite(site, row, second, line[second]);
}

__global__ void gatedKernel(const float *gate, const float *up, int64_t stride,
                            ActivationView out, FaultSite site) {
  const auto row = int32_t(blockIdx.x);
  const int32_t i = elementOfThread();
  if (i >= out.paddedK()) {
    return;
  }
  const int64_t at = row * stride + i;
  const float value = i < out.k ? numerics::silu(gate[at]) * up[at] : 0.0f;
  reportUnlessFinite(site, row, i, value);
  storeElement(out, row, i, value);
}

__global__ void addKernel(const float *a, const float *b, int32_t width,
                          float *out, FaultSite site) {
  const auto row = int32_t(blockIdx.x);
  const int32_t i = elementOfThread();
  if (i < width) {
    const int64_t at = int64_t(row) * width + i;
    const float value = a[at] + b[at];
    reportUnlessFinite(site, row, i, value);
    out[at] = value;
  }
}

//===-- Greedy token ------------------------------------------------------===//

/// Grows with the value, and among equal ones falls with the index; 0 for NaN,
/// less than that of any number.
__device__ unsigned long long argmaxKey(float value, int32_t index) {
  if (value != value) {
    return 0;
  }
  // -0 ties +0.
  const uint32_t ordered = orderedBits(value == 0.0f ? 0.0f : value);
  return static_cast<unsigned long long>(ordered) << 32 | ~uint32_t(index);
}

__global__ void argmaxKernel(const float *logits, int32_t width,
                             unsigned long long *keys) {
  const auto row = int32_t(blockIdx.x);
  const float *line = logits + int64_t(row) * width;
  const auto start = int64_t(blockIdx.y) * kThreads * kArgmaxPerThread;
  unsigned long long best = 0;
  for (int32_t j = 0; j < kArgmaxPerThread; ++j) {
    const int64_t i = start + j * kThreads + threadIdx.x;
    if (i < width) {
      const unsigned long long key = argmaxKey(line[i], int32_t(i));
      best = key > best ? key : best;
    }
  }
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    const unsigned long long other = __shfl_xor_sync(kWholeWarp, best, lanes);
    best = other > best ? other : best;
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(&keys[row], best);
  }
}

__global__ void greedyIdsKernel(const unsigned long long *keys, int32_t rows,
                                int32_t *ids) {
  const auto row = int32_t(blockIdx.x * kThreads + threadIdx.x);
  if (row < rows) {
    ids[row] = keys[row] == 0 ? -1 : int32_t(~uint32_t(keys[row]));
  }
}

} // namespace

//===-- Launches ----------------------------------------------------------===//

void embed(const MatrixView &table, const int32_t *ids,
           const ActivationView &out, FaultSite site, cudaStream_t stream) {
  ORRERY_LAUNCH(embedKernel, gridFor(out.rows, out.k), threadsFor(out.k), 0,
                stream, table, ids, out, site);
}

void rmsNorm(const float *x, const float *weight, float eps,
             const ActivationView &out, FaultSite site, cudaStream_t stream) {
  // One block of threads a row, as all of it must be known.
  const int64_t padded = out.paddedK();
  const dim3 threads(unsigned(padded < 1024 ? padded : 1024));
  ORRERY_LAUNCH(rmsNormKernel, dim3(unsigned(out.rows)), threads, 0, stream, x,
                weight, eps, out, site);
}

void quantize(const float *x, const ActivationView &out, cudaStream_t stream) {
  ORRERY_LAUNCH(quantizeKernel, gridFor(out.rows, out.k), threadsFor(out.k), 0,
                stream, x, out);
}

void rope(float *x, int64_t stride, int32_t rows, const RotaryShape &shape,
          const float *cos, const float *sin, FaultSite site,
          cudaStream_t stream) {
  const int64_t turned = int64_t(shape.heads) * (shape.ropeDim / 2);
  if (turned != 0) {
    ORRERY_LAUNCH(ropeKernel, gridFor(rows, turned), threadsFor(turned), 0,
                  stream, x, stride, shape, cos, sin, site);
  }
}

void gated(const float *gate, const float *up, int64_t stride,
           const ActivationView &out, FaultSite site, cudaStream_t stream) {
  ORRERY_LAUNCH(gatedKernel, gridFor(out.rows, out.k), threadsFor(out.k), 0,
                stream, gate, up, stride, out, site);
}

void add(const float *a, const float *b, int32_t rows, int32_t width,
         float *out, FaultSite site, cudaStream_t stream) {
  ORRERY_LAUNCH(addKernel, gridFor(rows, width), threadsFor(width), 0, stream,
                a, b, width, out, site);
}

void argmax(const float *logits, int32_t rows, int32_t width,
            unsigned long long *keys, int32_t *ids, cudaStream_t stream) {
  if (cudaMemsetAsync(keys, 0, size_t(rows) * sizeof(*keys), stream) !=
      cudaSuccess) {
    return; // cudaGetLastError has it
  }
  const dim3 grid(unsigned(rows),
                  unsigned(piecesOf(width, kThreads * kArgmaxPerThread)));
  ORRERY_LAUNCH(argmaxKernel, grid, dim3(kThreads), 0, stream, logits, width,
                keys);
  ORRERY_LAUNCH(greedyIdsKernel, dim3(unsigned(piecesOf(rows, kThreads))),
                dim3(kThreads), 0, stream, keys, rows, ids);
}

} // namespace orrery::gpu::ORRERY_GPU
