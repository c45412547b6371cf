// A shape and the formats of its weights, from whatever names it: a model of
// the zoo, a config.json, or a GGUF file, of which no weights are read.
#pragma once

#include "models/ModelConfig.h"
#include "runtime/StepSet.h"
#include "runtime/command/Console.h"

#include <string>

namespace orrery::command {

struct ShapeSubject {
  models::ModelConfig config;
  runtime::StepSetOptions options;
  std::string weights; ///< "q8_0, shape only"
};

/// Fails for what does not load, is not compiled, or has fewer positions than
/// the target asks for.
Expected<ShapeSubject> openSubject(const std::string &nameOrPath,
                                   const Target &target);

} // namespace orrery::command
