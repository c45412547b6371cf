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

/// The sections of a decoder layer, the least that a stage may have of it:
/// attention with its norm and residual sum; gate and up with the norm before
/// them and the gated product; down with its residual sum. Section s of a model
/// is of layer s / 3. Behind the last one comes the head.
enum class Section : uint8_t { Attention, Gated, Down };
inline constexpr int64_t kSections = 3;
inline Section kindOf(int64_t section) { return Section(section % kSections); }

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
