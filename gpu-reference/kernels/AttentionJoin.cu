// Last launch of attention: the parts' sums added, read out and divided. A
// block of threads takes a row, a thread its elements.
#include "gpu-reference/kernels/AttentionStep.cuh"

namespace orrery::gpu::ORRERY_GPU {

namespace {

__global__ void joinKernel(AttentionStep step) {
  const int32_t headDim = step.cache.layout.headDim;
  const int64_t row = int64_t(blockIdx.x);
  const int32_t token = int32_t(row) / step.heads;
  const int32_t head = int32_t(row) % step.heads;
  const int32_t parts = step.partsOf(step.visibleTo(token));
  const bool inBucket = step.seenBy(token) <= step.bucket;
  TermSum z;
  for (int32_t s = 0; s < parts; ++s) {
    z.add(step.sums[int64_t(s) * step.rows() + row]);
  }
  for (int32_t i = int32_t(threadIdx.x); i < headDim;
       i += int32_t(blockDim.x)) {
    TermSum sum;
    for (int32_t s = 0; s < parts; ++s) {
      sum.add(step.mixed[(int64_t(s) * step.rows() + row) * headDim + i]);
    }
    const float value =
        inBucket ? sum.read() / z.read() : numerics::bitsToFloat(0x7fc00000u);
    step.out[row * headDim + i] = value;
    if (!numerics::isFinite(value)) {
      step.fault.report(uint32_t(step.firstToken + token),
                        uint32_t(head * headDim + i));
    }
  }
}

} // namespace

void launchJoin(const AttentionStep &step, cudaStream_t stream) {
  const int32_t whole = (step.cache.layout.headDim + 31) / 32 * 32;
  const unsigned threads = unsigned(whole < 128 ? whole : 128);
  ORRERY_LAUNCH(joinKernel, dim3(unsigned(step.rows())), dim3(threads), 0,
                stream, step);
}

} // namespace orrery::gpu::ORRERY_GPU
