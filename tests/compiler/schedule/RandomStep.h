// Small random Llama shapes for lpu-small, by seed.
#pragma once

#include "compiler/Compile.h"

#include <random>

namespace orrery::testing {

struct RandomStep {
  models::ModelConfig config;
  CompileRequest request;
};

inline RandomStep randomStep(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto between = [&](int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  };
  RandomStep step;
  models::ModelConfig &c = step.config;
  c.name = "random " + std::to_string(seed);
  c.architecture = "llama";
  c.layers = between(1, 2);
  c.kvHeads = between(1, 4);
  c.heads = c.kvHeads * between(1, 3);
  c.headDim = 2 * between(1, 32);
  c.hidden = between(1, 200);
  c.intermediate = between(1, 200);
  c.vocab = between(2, 300);
  c.contextLength = between(24, 300);
  c.normEps = 1e-5f;
  c.ropePairing = models::RopePairing(between(0, 1));
  c.ropeDimension = 2 * between(1, c.headDim / 2);
  c.tiedEmbeddings = between(0, 1) == 1;
  step.request.machine = "lpu-small";
  step.request.import.tokens = between(1, 24);
  step.request.import.bucket = between(24, c.contextLength);
  step.request.import.weightFormat = llm::WeightFormat(between(0, 2));
  step.request.import.kvFormat = llm::KvFormat(between(0, 1));
  return step;
}

} // namespace orrery::testing
