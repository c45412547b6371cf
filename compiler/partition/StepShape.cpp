#include "compiler/partition/StepShape.h"

namespace orrery::partition {

StepShape uniformShape(const models::ModelConfig &config, WeightFormat format,
                       bool halfKv, int64_t context) {
  StepShape s;
  s.model = config.name;
  s.bucket = s.context = context;
  s.hidden = config.hidden;
  s.heads = config.heads;
  s.kvHeads = config.kvHeads;
  s.headDim = config.headDim;
  s.ffn = config.intermediate;
  s.vocab = config.vocab;
  s.halfKv = halfKv;
  auto matrix = [&](int64_t rows, int64_t columns) {
    return Matrix{rows, columns, format};
  };
  LayerShape layer;
  layer.q = matrix(config.queryWidth(), s.hidden);
  layer.k = layer.v = matrix(config.kvWidth(), s.hidden);
  layer.output = matrix(s.hidden, config.queryWidth());
  layer.gate = layer.up = matrix(s.ffn, s.hidden);
  layer.down = matrix(s.hidden, s.ffn);
  s.layers.assign(size_t(config.layers), layer);
  s.head = matrix(s.vocab, s.hidden);
  return s;
}

Bytes nominalBytes(const Matrix &matrix, int64_t rows) {
  int64_t blocks = (matrix.columns + 31) / 32;
  switch (matrix.format) {
  case WeightFormat::Q8:
    return rows * blocks * 34;
  case WeightFormat::Q4:
    return rows * blocks * 18;
  case WeightFormat::F16:
    return rows * matrix.columns * 2;
  case WeightFormat::I8: // caches only
    return rows * matrix.columns;
  }
  return 0;
}

Bytes nominalKvBytes(const StepShape &shape, int64_t kvHeads) {
  int64_t row = shape.halfKv ? 2 * shape.headDim : shape.headDim + 2;
  return 2 * shape.context * kvHeads * row;
}

} // namespace orrery::partition
