// The ops of a token step in the interpreter's order, as numbers and as names:
// what faults and observers of the GPU reference are told in. The names are the
// locations that compiler/import gives; a test holds them against it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orrery::gpu {

/// The ops of a layer, in order.
enum class LayerOp : uint32_t {
  AttnNorm,
  AttnQ,
  AttnK,
  AttnV,
  RopeQ,
  RopeK,
  Attention,
  AttnOutput,
  AttnResidual,
  FfnNorm,
  FfnGate,
  FfnUp,
  FfnGated,
  FfnDown,
  FfnResidual,
};
inline constexpr uint32_t kLayerOps = 15;

/// Numbers ops from 0: the embedding, those of each layer, the three behind.
class StepOps {
public:
  explicit constexpr StepOps(int64_t layers) : layers(uint32_t(layers)) {}

  constexpr uint32_t embed() const { return 0; }
  constexpr uint32_t of(int64_t layer, LayerOp op) const {
    return 1 + uint32_t(layer) * kLayerOps + uint32_t(op);
  }
  constexpr uint32_t outputNorm() const { return 1 + layers * kLayerOps; }
  constexpr uint32_t output() const { return outputNorm() + 1; }
  constexpr uint32_t argmax() const { return outputNorm() + 2; }
  constexpr uint32_t count() const { return outputNorm() + 3; }

  /// "layer 3 attn_q".
  std::string name(uint32_t op) const;
  /// "llm.linear".
  std::string_view kind(uint32_t op) const;

private:
  uint32_t layers;
};

} // namespace orrery::gpu
