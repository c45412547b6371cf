// Rows belong to lanes as in Gemv.cu, in pieces of 8 elements, one load of 16
// bytes each. Blocks of the grid's second dimension take kTokens rows of
// activations each.
#include "gpu-reference/kernels/GemvHalf.h"

#include "gpu-reference/kernels/Product.cuh"

namespace orrery::gpu::ORRERY_GPU {

namespace {

constexpr int kWarps = 4; ///< of a thread block
constexpr int kPiece = 8; ///< elements of one load

/// Eight f16 values as f32.
struct Halves {
  float value[kPiece];

  __device__ explicit Halves(const int4 &bits) {
    const int words[kPiece / 2] = {bits.x, bits.y, bits.z, bits.w};
    for (int i = 0; i < kPiece / 2; ++i) {
      value[2 * i] = halfValue(uint16_t(words[i]));
      value[2 * i + 1] = halfValue(uint16_t(unsigned(words[i]) >> 16));
    }
  }
};

__device__ const int4 *pieces(const uint8_t *row) {
  return reinterpret_cast<const int4 *>(row);
}
__device__ const int4 *pieces(const ActivationView &x, int32_t t) {
  return reinterpret_cast<const int4 *>(x.halves + t * x.paddedK());
}

/// The definition, for what the fast sums cannot be trusted with.
template <int kLanes>
__device__ CheckedSum checkedHalves(const ProductArguments &a, int32_t row,
                                    int32_t t, int32_t lane) {
  CheckedSum result;
  const int4 *w = pieces(a.weight.codes + row * a.weight.rowBytes);
  const int4 *x = pieces(a.x, t);
#pragma unroll 1
  for (int32_t first = lane * kPiece; first < a.weight.k;
       first += kLanes * kPiece) {
    const Halves left(w[first / kPiece]);
    const Halves right(x[first / kPiece]);
    for (int i = 0; i < kPiece && first + i < a.weight.k; ++i) {
      result.add(numerics::halfTerm(left.value[i], right.value[i]));
    }
  }
  return result;
}

template <class Sum, int kLanes, int kTokens>
__global__ void __launch_bounds__(kWarps * 32)
    gemvHalves(const ProductArguments a) {
  const auto thread = int32_t(blockIdx.x * (kWarps * 32) + threadIdx.x);
  const int32_t lane = thread % kLanes;
  const int32_t row = thread / kLanes;
  // Behind the last row or token, the last one again.
  const int32_t loaded = min(row, a.weight.rows - 1);
  const auto firstToken = int32_t(blockIdx.y) * kTokens;
  const int4 *w = pieces(a.weight.codes + loaded * a.weight.rowBytes);
  const int4 *x[kTokens];
  for (int t = 0; t < kTokens; ++t) {
    x[t] = pieces(a.x, min(firstToken + t, a.x.rows - 1));
  }
  Sum sum[kTokens];
  bool unsafe = false;
  const int32_t end = (a.weight.k + kPiece - 1) / kPiece;
#pragma unroll 2
  for (int32_t piece = lane; piece < end; piece += kLanes) {
    const Halves left(__ldg(w + piece));
    for (int t = 0; t < kTokens; ++t) {
      const Halves right(__ldg(x[t] + piece));
      for (int i = 0; i < kPiece; ++i) {
        unsafe |= !(::fabsf(right.value[i]) < a.weight.activationLimit);
        // A product of two f16 values is exact in f32, so the steps may come
        // first.
        sum[t].add(right.value[i] * 0x1p36f, left.value[i]);
      }
    }
  }

  const bool again = __any_sync(kAllLanes, unsafe);
  for (int t = 0; t < kTokens; ++t) {
    const int32_t token = firstToken + t;
    if (token < a.x.rows && !again) {
      sum[t].template combine<kLanes>();
      if (lane == 0 && row < a.weight.rows) {
        a.store(row, token, sum[t].read());
      }
    }
  }
  for (int32_t t = firstToken; again && t < min(firstToken + kTokens, a.x.rows);
       ++t) {
    const CheckedSum checked =
        combine<kLanes>(checkedHalves<kLanes>(a, loaded, t, lane));
    if (lane == 0 && row < a.weight.rows) {
      a.store(row, t, checked);
    }
  }
}

template <int kLanes, int kTokens>
void launch(const ProductArguments &a, cudaStream_t stream) {
  constexpr int kBlockRows = kWarps * 32 / kLanes;
  const dim3 grid(unsigned((a.weight.rows + kBlockRows - 1) / kBlockRows),
                  unsigned((a.x.rows + kTokens - 1) / kTokens));
  ORRERY_LAUNCH((gemvHalves<ExactSum, kLanes, kTokens>), grid, kWarps * 32, 0,
                stream, a);
}

template <int kLanes>
void launchTokens(const ProductArguments &a, cudaStream_t stream) {
  if (a.x.rows == 1) {
    launch<kLanes, 1>(a, stream);
  } else if (a.x.rows == 2) {
    launch<kLanes, 2>(a, stream);
  } else {
    launch<kLanes, 4>(a, stream);
  }
}

} // namespace

void gemvHalf(const MatrixView &weight, const ActivationView &x, float *y,
              int64_t stride, FaultSite site, cudaStream_t stream) {
  const ProductArguments a{weight, x, y, stride, site};
  constexpr int32_t kShort = 1024; ///< elements: 4 pieces a lane of 32
  if (weight.k <= kShort) {
    launchTokens<8>(a, stream);
  } else {
    launchTokens<32>(a, stream);
  }
}

} // namespace orrery::gpu::ORRERY_GPU
