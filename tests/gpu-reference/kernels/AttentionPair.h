// Attention on both sides, kernels over pages and what they must give, with the
// same rows.
#pragma once

#include "gpu-reference/kernels/Attention.h"

#include "tests/gpu-reference/kernels/DefinedAttention.h"
#include "tests/gpu-reference/kernels/PagedCache.h"

// Who is not given MLIR: nvcc, and the build under sanitizers.
#if defined(__CUDACC__) || defined(ORRERY_WITHOUT_MLIR)
#define ORRERY_DEFINED_ATTENTION
#else
#include "tests/gpu-reference/kernels/InterpretedAttention.h"
#endif

#include <cmath>
#include <optional>

namespace orrery::gpu::ORRERY_GPU {

/// The other side: the interpreter, or without MLIR the same formulas as plain
/// loops (AttentionDefinitionTest.cpp holds one against the other).
#ifdef ORRERY_DEFINED_ATTENTION
using ExpectedAttention = DefinedAttention;
#else
using ExpectedAttention = InterpretedAttention;
#endif

/// What the kernels gave.
struct Outcome {
  std::vector<float> values;
  std::optional<FaultPlace> fault;
};

/// Both sides over the same rows.
class AttentionPair {
public:
  AttentionPair(const AttentionShape &shape, int32_t pagePositions,
                int32_t room, std::mt19937 &random)
      : shape(shape), room(room), random(random),
        cache({3, shape.kvHeads, shape.headDim, shape.format, pagePositions},
              room, random),
        expected(shape) {}

  std::vector<float> values(int32_t tokens, int32_t heads) {
    return randomValues(size_t(tokens) * size_t(heads * shape.headDim), random);
  }
  /// Positions 0 .. count-1 on both sides.
  void fill(int32_t count) {
    if (count > 0) {
      const auto k = values(count, shape.kvHeads);
      const auto v = values(count, shape.kvHeads);
      cache.append(kLayer, 0, k, v);
      expected.append(k, v, 0);
    }
  }
  AttentionPlan plan(int32_t tokens, int32_t splitPositions = 0) const {
    return must(
        planAttention(cache.layout, shape.heads, tokens, room, splitPositions));
  }
  Outcome run(const std::vector<float> &q, int32_t tokens, int32_t at,
              const AttentionPlan &plan) {
    return must(tryRun(q, tokens, at, plan));
  }
  /// Or what the launch reports.
  Expected<Outcome> tryRun(const std::vector<float> &q, int32_t tokens,
                           int32_t at, const AttentionPlan &plan) {
    const Buffer<float> queries = must(Buffer<float>::copyOf(q, "q"));
    Buffer<float> out = must(Buffer<float>::allocate(q.size(), "out"));
    Buffer<uint8_t> scratch = must(Buffer<uint8_t>::allocate(
        attentionScratchBytes(plan, cache.layout), "scratch"));
    Buffer<Fault> fault =
        must(Buffer<Fault>::copyOf(std::vector<Fault>{{kNoFault}}, "fault"));
    cache.moveTo(at, tokens);
    attention(queries.data(), out.data(), tokens, cache.position.data(),
              cache.view(kLayer), plan, scratch.data(), {fault.data(), kOp},
              nullptr);
    if (Status ok = launchStatus("attention"); !ok) {
      return ok.error();
    }
    return Outcome{must(out.read()), faultPlace(must(fault.read())[0])};
  }

  static constexpr int32_t kLayer = 1;
  static constexpr uint32_t kOp = 17;
  AttentionShape shape;
  int32_t room;
  std::mt19937 &random;
  PagedCache cache;
  ExpectedAttention expected;
};

/// The first element that is not finite, as the interpreter looks for it.
inline std::optional<FaultPlace> firstFault(const std::vector<float> &values,
                                            int32_t width) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      return FaultPlace{AttentionPair::kOp, uint32_t(i / size_t(width)),
                        uint32_t(i % size_t(width))};
    }
  }
  return std::nullopt;
}

/// Equal bits, any NaN equal to any.
inline void expectSame(const Outcome &found, const std::vector<float> &expected,
                       int32_t width) {
  ASSERT_EQ(found.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    const float a = found.values[i];
    const float b = expected[i];
    ASSERT_TRUE((std::isnan(a) && std::isnan(b)) ||
                numerics::floatToBits(a) == numerics::floatToBits(b))
        << "row " << i / size_t(width) << ", element " << i % size_t(width)
        << ": " << a << ", expected " << b;
  }
  EXPECT_EQ(found.fault, firstFault(expected, width));
}

} // namespace orrery::gpu::ORRERY_GPU
