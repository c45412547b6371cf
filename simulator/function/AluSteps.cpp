#include "simulator/function/AluSteps.h"

#include "machine/kernels/Rows.h"
#include "machine/numerics.h"

#include <algorithm>
#include <cmath>

namespace orrery::sim {
namespace {

/// The greater; NaN if either is; of -0 and +0 the first.
float greater(float a, float b) {
  if (a != a || b != b) {
    return a != a ? a : b;
  }
  return a < b ? b : a;
}

/// numerics::silu with the exponential of the row kernels.
void silu(const float *a, uint32_t lanes, float *out) {
  for (uint32_t i = 0; i < lanes; ++i) {
    out[i] = -a[i];
  }
  numerics::expRow(out, 0.0f, out, lanes);
  for (uint32_t i = 0; i < lanes; ++i) {
    out[i] = a[i] / (1.0f + out[i]);
  }
}

void keep(const AluStep &step, const StepRegisters &r, uint32_t vector,
          const float *a, float *out) {
  uint64_t limit = step.bound;
  if (step.position) {
    limit += uint64_t(r.position) + step.token(vector) + 1;
  }
  uint64_t first = uint64_t(step.tile(vector)) * r.lanes;
  uint32_t kept =
      limit <= first ? 0 : uint32_t(std::min<uint64_t>(limit - first, r.lanes));
  std::copy(a, a + kept, out);
  std::fill(out + kept, out + r.lanes, step.immediate);
}

void window(const AluStep &step, uint32_t lanes, uint32_t vector,
            const float *a, float *out) {
  uint64_t first = uint64_t(step.tile(vector)) * step.width;
  for (uint32_t i = 0; i < lanes; ++i) {
    out[i] = i >= first && i < first + step.width ? a[i] : 0.0f;
  }
}

/// Both KV steps: `scales` selects which of scale and code is wanted.
void quantizeKv(const AluStep &step, uint32_t lanes, bool scales,
                const float *a, float *out) {
  uint32_t width = step.width;
  std::vector<int8_t> codes(width);
  for (uint32_t base = 0; base + width <= lanes; base += width) {
    uint16_t d = 0;
    numerics::quantizeKvRow(a + base, int(width), codes.data(), &d);
    for (uint32_t i = 0; i < width; ++i) {
      out[base + i] = scales ? numerics::halfToFloat(d) : float(codes[i]);
    }
  }
  // Lanes of a last, partial group belong to nothing.
  std::fill(out + lanes / width * width, out + lanes, 0.0f);
}

} // namespace

void runStep(const AluStep &step, const StepRegisters &registers,
             uint32_t vector, const float *a, const float *b, float *out) {
  uint32_t lanes = registers.lanes;
  auto each = [&](auto f) {
    for (uint32_t i = 0; i < lanes; ++i) {
      out[i] = f(a[i], b[i]);
    }
  };
  switch (step.op) {
  case AluOp::Add:
    return each([](float x, float y) { return x + y; });
  case AluOp::Sub:
    return each([](float x, float y) { return x - y; });
  case AluOp::Mul:
    return each([](float x, float y) { return x * y; });
  case AluOp::Div:
    return each([](float x, float y) { return x / y; });
  case AluOp::Max:
    return each(greater);
  case AluOp::Exp:
    return numerics::expRow(a, 0.0f, out, lanes);
  case AluOp::Sqrt:
    return each([](float x, float) { return std::sqrt(x); });
  case AluOp::Silu:
    return silu(a, lanes, out);
  case AluOp::Keep:
    return keep(step, registers, vector, a, out);
  case AluOp::Window:
    return window(step, lanes, vector, a, out);
  case AluOp::Splat: {
    float x = a[uint64_t(step.tile(vector)) * step.width % lanes];
    return std::fill(out, out + lanes, x);
  }
  case AluOp::KvScale:
    return quantizeKv(step, lanes, true, a, out);
  case AluOp::KvCode:
    return quantizeKv(step, lanes, false, a, out);
  case AluOp::Immediate:
    return std::fill(out, out + lanes, step.immediate);
  case AluOp::AddBits:
    return each([](float x, float y) {
      return numerics::bitsToFloat(numerics::floatToBits(x) +
                                   numerics::floatToBits(y));
    });
  }
}

} // namespace orrery::sim
