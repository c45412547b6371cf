// Kernels with one barrier ignored by every thread: some order of threads must
// give other results, or a launch that fails. So that what finds a barrier
// missing in ReductionTest.cpp's kernels finds it in those that are used.
#include "gpu-reference/kernels/Gemm.h"
#include "gpu-reference/kernels/Rows.h"
#include "tests/gpu-reference/Orders.h"
#include "tests/gpu-reference/kernels/AttentionPair.h"
#include "tests/gpu-reference/kernels/ProductCase.h"

namespace orrery::gpu::emulated {
namespace {

/// `run` gives Expected<bits>; its kernels come to `count` barriers in `file`.
/// One more is none, and must change nothing.
template <class Run>
void expectEachMatters(std::string_view file, unsigned count, Run run) {
  const auto expected = run();
  ASSERT_TRUE(expected) << expected.error().message;
  for (unsigned number = 0; number <= count; ++number) {
    bool shown = false;
    for (Settings order : severalOrders()) {
      order.ignored = {file, number};
      const SettingsScope scope(order);
      const auto found = run();
      shown = shown || !found || *found != *expected;
    }
    EXPECT_EQ(shown, number < count)
        << "barrier " << number << " of " << file << " ignored";
  }
}

using Bits = std::vector<uint32_t>;

TEST(IgnoredBarrier, OfRmsNorm) {
  constexpr int32_t kRows = 2, kWidth = 300;
  std::mt19937 random(1);
  const auto x =
      must(Buffer<float>::copyOf(randomValues(kRows * kWidth, random), "x"));
  const auto weight =
      must(Buffer<float>::copyOf(randomValues(kWidth, random), "weight"));
  expectEachMatters("Rows.cu", 1, [&]() -> Expected<Bits> {
    auto y = must(
        Buffer<float>::copyOf(std::vector<float>(size_t(kRows * kWidth)), "y"));
    ActivationView out{};
    out.rows = kRows;
    out.k = kWidth;
    out.values = y.data();
    rmsNorm(x.data(), weight.data(), 1e-5f, out, {}, nullptr);
    if (Status ok = launchStatus("rmsNorm"); !ok) {
      return ok.error();
    }
    return bitsOf(must(y.read()));
  });
}

void expectOfProduct(std::string_view file, ProductCase::Kernel kernel,
                     const ProductCase &product) {
  expectEachMatters(file, 1, [&]() -> Expected<Bits> {
    auto result = product.tryRun(kernel);
    if (!result) {
      return result.error();
    }
    return bitsOf(result->y);
  });
}

TEST(IgnoredBarrier, OfGemm) {
  for (MatrixFormat format : {MatrixFormat::Q8_0, MatrixFormat::Q4_0}) {
    expectOfProduct("Gemm.cu", gemm, ProductCase(format, 33, 700, 20, 5));
  }
}

// It joins what threads found about the scales, so some must be unsafe.
TEST(IgnoredBarrier, OfGemv) {
  for (MatrixFormat format : {MatrixFormat::Q8_0, MatrixFormat::Q4_0}) {
    ProductCase product(format, 33, 700, 2, 5);
    product.xScales[3] = 3e8f;
    expectOfProduct("Gemv.cu", gemv, product);
  }
}

TEST(IgnoredBarrier, OfKvAppend) {
  for (KvFormat format : {KvFormat::Q8, KvFormat::Q4}) {
    expectEachMatters("KvAppend.cu", 1, [&]() -> Expected<Bits> {
      std::mt19937 random(2);
      PagedCache cache({1, 2, 40, format, 32}, 64, random);
      const auto k =
          must(Buffer<float>::copyOf(randomValues(400, random), "k"));
      const auto v =
          must(Buffer<float>::copyOf(randomValues(400, random), "v"));
      cache.moveTo(7, 5);
      kvAppend(k.data(), v.data(), 5, cache.position.data(), cache.view(0),
               nullptr);
      if (Status ok = launchStatus("kvAppend"); !ok) {
        return ok.error();
      }
      const auto pool = must(cache.pool.read());
      return Bits(pool.begin(), pool.end());
    });
  }
}

TEST(IgnoredBarrier, OfAttention) {
  for (KvFormat format : {KvFormat::Q8, KvFormat::Q4, KvFormat::F16}) {
    for (const char *file : {"AttentionScores.cu", "AttentionValues.cu"}) {
      expectEachMatters(file, 2, [&]() -> Expected<Bits> {
        std::mt19937 random(3);
        AttentionPair pair({4, 2, 40, format}, 32, 192, random);
        {
          Settings all = settings(); // what comes before stays whole
          all.ignored = {};
          const SettingsScope scope(all);
          pair.fill(150);
        }
        AttentionPlan plan = pair.plan(2, 96);
        plan.threads = 96;
        auto out = pair.tryRun(pair.values(2, 4), 2, 148, plan);
        if (!out) {
          return out.error();
        }
        return bitsOf(out->values);
      });
    }
  }
}

} // namespace
} // namespace orrery::gpu::emulated
