// Large activations inside a model: products whose sums leave what GEMV holds
// without looking at scales. Emulated; the interpreter says what is right.
#include "gpu-reference/Activations.h"

#include "tests/gpu-reference/OneModel.h"

#include <cmath>
#include <functional>
#include <map>

namespace orrery::gpu {
namespace {

using Factors = std::map<std::string, float, std::less<>>;

/// Weights with some matrices times factors.
class ScaledWeights : public models::WeightSource {
public:
  ScaledWeights(const models::WeightSource &weights, Factors factors)
      : weights(weights), factors(std::move(factors)) {}

  const models::ModelConfig &config() const override {
    return weights.config();
  }
  Expected<models::QuantizedMatrix>
  matrix(std::string_view name, models::WeightFormat format) const override {
    auto matrix = weights.matrix(name, format);
    const auto found = factors.find(name);
    if (matrix && found != factors.end()) {
      for (uint16_t &scale : matrix->scales) {
        scale =
            numerics::floatToHalf(numerics::halfToFloat(scale) * found->second);
      }
    }
    return matrix;
  }
  Expected<std::vector<float>> vector(std::string_view name) const override {
    return weights.vector(name);
  }

private:
  const models::WeightSource &weights;
  Factors factors;
};

struct Large {
  Factors factors;     ///< make activations large
  const char *product; ///< takes them
};

void PrintTo(const Large &large, std::ostream *out) { *out << large.product; }

class LargeActivations : public testing::TestWithParam<Large> {
protected:
  /// The interpreter's and the reference's bits for a prompt and tokens.
  void compare(const models::WeightSource &weights, bool graph) {
    ReferenceOptions options;
    options.chunk = 4;
    options.graph = graph;
    Golden golden(weights, options);
    float greatest = 0;
    golden.interpreter.setObserver(
        [&](mlir::Operation *op, const llm::Tensor &value) {
          std::string place;
          llvm::raw_string_ostream(place) << op->getLoc();
          if (place.find(GetParam().product) != std::string::npos) {
            for (float x : value.values) {
              greatest = std::max(greatest, std::fabs(x));
            }
          }
        });
    const std::vector<int32_t> ids = {1, 2, 3, 4, 5, 6, 7};
    const std::vector<size_t> sizes = {4, 1, 1, 1};
    const ReadOut expected = golden.read(ids, sizes);
    // Past what two warp reductions hold (kNarrowBits), within the accumulator.
    EXPECT_GT(greatest, 0x1p22f);
    EXPECT_LT(greatest, 0x1p27f);
    auto reference = openReference(weights, options);
    ASSERT_TRUE(reference);
    EXPECT_TRUE(read(*reference, ids, sizes) == expected);
  }
};

TEST_P(LargeActivations, AsTheInterpreter) {
  std::mt19937 shape(3);
  models::ModelConfig config = oddConfig(shape);
  config.layers = 2;
  config.contextLength = 40;
  // Rows of more than 48 blocks: shorter ones are summed without that limit.
  config.intermediate = 1600;
  config.headDim = 80;
  config.ropeDimension = 80;
  config.kvHeads = 10;
  config.heads = 20;
  const models::RandomWeights random(config, 5);
  const ScaledWeights weights(random, GetParam().factors);
  for (bool graph : {false, true}) {
    compare(weights, graph);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Products, LargeActivations,
    testing::Values(Large{{{"blk.0.ffn_up.weight", 0x1p23f}},
                          "layer 0 ffn_down"},
                    Large{{{"blk.0.attn_v.weight", 0x1p21f},
                           {"blk.0.attn_output.weight", 4.0f}},
                          "layer 0 attn_output"}));

} // namespace
} // namespace orrery::gpu
