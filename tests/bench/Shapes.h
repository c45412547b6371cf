// The model shapes that the speed targets name.
#pragma once

#include "models/ModelConfig.h"

namespace orrery::bench {

inline models::ModelConfig llamaShape(const char *name, int64_t layers,
                                      int64_t hidden, int64_t heads,
                                      int64_t kvHeads, int64_t headDim,
                                      int64_t intermediate, int64_t vocab,
                                      int64_t context) {
  models::ModelConfig c;
  c.name = name;
  c.architecture = "llama";
  c.layers = layers;
  c.hidden = hidden;
  c.heads = heads;
  c.kvHeads = kvHeads;
  c.headDim = headDim;
  c.ropeDimension = headDim;
  c.intermediate = intermediate;
  c.vocab = vocab;
  c.contextLength = context;
  c.normEps = 1e-5f;
  c.tiedEmbeddings = true;
  return c;
}

/// SmolLM2-135M (Hugging Face config), with a context that fits one chip.
inline models::ModelConfig smolLm2() {
  return llamaShape("SmolLM2-135M", 30, 576, 9, 3, 64, 1536, 49152, 1024);
}
/// `layers` layers of Llama-2-7B with a token head, at a short context.
inline models::ModelConfig llama7b(int64_t layers) {
  return llamaShape("Llama-2-7B", layers, 4096, 32, 32, 128, 11008, 320, 320);
}

} // namespace orrery::bench
