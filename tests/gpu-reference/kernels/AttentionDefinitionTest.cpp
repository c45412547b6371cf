// What device tests of attention are held against, against the interpreter:
// every format, the same bits, NaN where there is no number.
#include "tests/gpu-reference/kernels/AttentionPair.h"

namespace orrery::gpu::emulated {
namespace {

TEST(AttentionDefinition, IsTheInterpreters) {
  for (KvFormat format : {KvFormat::F16, KvFormat::Q8, KvFormat::Q4}) {
    for (uint32_t seed = 1; seed <= 24; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      std::mt19937 random(seed);
      const auto kvHeads = int32_t(1 + random() % 3);
      const AttentionShape shape{kvHeads * int32_t(1 + random() % 3), kvHeads,
                                 int32_t(1 + random() % 100), format};
      const auto at = int32_t(random() % 150);
      const auto tokens = int32_t(1 + random() % 4);
      auto rows = [&](int32_t count, int32_t heads) {
        return randomValues(size_t(count * heads * shape.headDim), random);
      };
      DefinedAttention defined(shape);
      InterpretedAttention interpreted(shape);
      // Rows behind are written first, and dropped.
      for (int32_t count : {at + 7, at}) {
        if (count > 0) {
          const auto k = rows(count, kvHeads), v = rows(count, kvHeads);
          defined.append(k, v, 0);
          interpreted.append(k, v, 0);
        }
      }
      auto q = rows(tokens, shape.heads);
      auto k = rows(tokens, kvHeads), v = rows(tokens, kvHeads);
      const float bad[] = {NAN, INFINITY, 1e9f, -1e5f};
      if (seed % 2 == 0) {
        std::vector<float> &spoiled = seed % 3 == 0 ? q : seed % 3 == 1 ? k : v;
        spoiled[random() % spoiled.size()] = bad[seed / 2 % 4];
      }
      const auto expected = interpreted.attend(q, k, v, at);
      expectSame({defined.attend(q, k, v, at),
                  firstFault(expected, shape.heads * shape.headDim)},
                 expected, shape.heads * shape.headDim);
      if (HasFailure()) {
        return;
      }
    }
  }
}

} // namespace
} // namespace orrery::gpu::emulated
