// Shapes that splits are asked for in tests, and how a refusal reads.
#pragma once

#include "compiler/partition/Partition.h"

namespace orrery::partition {

inline models::ModelConfig llama(int64_t layers, int64_t hidden, int64_t heads,
                                 int64_t kvHeads, int64_t ffn) {
  models::ModelConfig c;
  c.name = "llama";
  c.architecture = "llama";
  c.layers = layers;
  c.hidden = hidden;
  c.heads = heads;
  c.kvHeads = kvHeads;
  c.headDim = 128;
  c.intermediate = ffn;
  c.vocab = 32'000;
  return c;
}
inline StepShape llama7b(WeightFormat format = WeightFormat::Q8,
                         int64_t context = 4096) {
  return uniformShape(llama(32, 4096, 32, 32, 11'008), format, false, context);
}
inline StepShape llama70b(WeightFormat format) {
  return uniformShape(llama(80, 8192, 64, 8, 28'672), format, false, 4096);
}
inline StepShape small(int64_t layers = 4) {
  models::ModelConfig c = llama(layers, 192, 6, 2, 512);
  c.headDim = 32;
  c.vocab = 1024;
  return uniformShape(c, WeightFormat::Q8, false, 512);
}
inline Machine preset(const char *name) { return *loadMachine(name); }

inline std::string refusal(const Machine &machine, const StepShape &shape,
                           const SplitRequest &request = {}) {
  Expected<Split> split = chooseSplit(machine, shape, request);
  return split ? "tp=" + std::to_string(split->tp) + " is chosen"
               : split.error().message;
}

} // namespace orrery::partition
