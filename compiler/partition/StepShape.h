// A token step as partitioning sees it: sizes and formats, no ops. Plain C++,
// so that a split can be chosen for a shape that nobody compiles.
#pragma once

#include "machine/Instruction.h"
#include "models/ModelConfig.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::partition {

/// A weight matrix as the model file has it: rows outputs of columns inputs.
struct Matrix {
  int64_t rows = 0, columns = 0;
  WeightFormat format = WeightFormat::Q8;
  bool operator==(const Matrix &) const = default;
};

/// The matrices of one decoder layer, in the order of their use.
struct LayerShape {
  Matrix q, k, v, output, gate, up, down;
  bool operator==(const LayerShape &) const = default;
};

/// The two sublayers of a decoder layer, each with its norm and its residual
/// sum. Sublayer s of a model is the attention of layer s / 2 or, odd, its
/// feed-forward network.
enum class Sublayer : uint8_t { Attention, FeedForward };
inline constexpr int64_t kSublayers = 2;
inline Sublayer kindOf(int64_t sublayer) {
  return Sublayer(sublayer % kSublayers);
}

/// A dense decoder: embedding, layers, head. Every layer has the same sizes;
/// formats may differ.
struct StepShape {
  std::string model;
  int64_t tokens = 1;  ///< T, new tokens a step
  int64_t bucket = 0;  ///< positions the step may reach
  int64_t context = 0; ///< positions the KV caches hold
  int64_t hidden = 0, heads = 0, kvHeads = 0, headDim = 0, ffn = 0, vocab = 0;
  bool halfKv = false; ///< f16 KV caches, else q8
  std::vector<LayerShape> layers;
  Matrix head;
  bool operator==(const StepShape &) const = default;
};

/// The step of all of `config`'s layers with one weight format.
StepShape uniformShape(const models::ModelConfig &config, WeightFormat format,
                       bool halfKv, int64_t context);

/// Bytes of a matrix of `rows` rows: codes and one f16 scale a block of 32.
/// Without padding to lanes.
Bytes nominalBytes(const Matrix &matrix, int64_t rows);
/// K and V of `kvHeads` heads of one layer at full context. Without padding.
Bytes nominalKvBytes(const StepShape &shape, int64_t kvHeads);

} // namespace orrery::partition
