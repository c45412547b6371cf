// The parts of `orrery inspect`, one a kind of file. Each gives the text to
// print, or the JSON document.
#pragma once

#include "models/ModelConfig.h"
#include "runtime/command/Console.h"
#include "runtime/command/Json.h"

namespace orrery::command {

Expected<std::string> inspectModel(const InspectArguments &arguments);
Expected<std::string> inspectShape(const InspectArguments &arguments);
Expected<std::string> inspectProgram(const InspectArguments &arguments);
Expected<std::string> inspectMachine(const InspectArguments &arguments);

// What a shape and the shape of a model file have in common.

/// Two lines: sizes; RoPE, norm and embeddings.
std::string shapeText(const models::ModelConfig &config);
/// The same, with accounting and what is not modelled.
Json shapeJson(const models::ModelConfig &config);
/// In the digits that an f32 has: most numbers of models are stored as one.
std::string floatText(double value);

} // namespace orrery::command
