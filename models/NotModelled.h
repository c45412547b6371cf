// What figures of a shape leave out.
//
// Some published models have more than the decoder that is compiled
// (ModelExtras). Their shapes can be counted, and those of dense models timed
// without it; whoever prints such a figure prints what is missing.
#pragma once

#include "models/ModelConfig.h"

#include <span>
#include <string>
#include <vector>

namespace orrery::models {

/// One thing that is left out.
struct Omission {
  std::string what;   ///< "q, k and v biases"
  std::string effect; ///< what it does to figures
};

/// All that is left out of the model's figures; empty for a plain decoder.
std::vector<Omission> omissions(const ModelConfig &config);

/// "qwen2.5-7b (without q, k and v biases)": the name that figures stand
/// under; the plain name when nothing is left out.
std::string titleOf(const ModelConfig &config);

/// "not modelled: what: effect", one line each. Of several models: each thing
/// once, with the names of those that have it.
std::string omissionText(std::span<const ModelConfig> configs);

/// Fails for models that are another model without what is left out (experts):
/// they are counted, not compiled.
Status verifyCompiled(const ModelConfig &config);

} // namespace orrery::models
