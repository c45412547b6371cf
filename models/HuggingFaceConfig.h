// A model's shape from the config.json of a Hugging Face checkpoint.
//
// For counting, compiling and timing a published shape without its weights;
// models/zoo/ holds such files. What a shape has beyond a plain decoder is read
// into ModelExtras where that has a place for it, else refused: see
// HuggingFaceConfig.cpp for families and keys.
#pragma once

#include "machine/Result.h"
#include "models/ModelConfig.h"

#include <string>
#include <string_view>

namespace orrery::models {

/// Reads the text of a config.json; `where` names it in errors. Fails at the
/// first missing or mistyped key, at keys that would change the result and have
/// no place in ModelExtras (other biases, other RoPE scalings, windows of some
/// layers, …), at another model_type than "llama", "mistral", "qwen2", "qwen3"
/// or "mixtral", and at numbers that do not go together. Keys that say nothing
/// about the shape (torch_dtype, …) are known by name; any other key is an
/// error.
Expected<ModelConfig> parseHuggingFaceConfig(std::string_view json,
                                             const std::string &where);

/// The same for a file.
Expected<ModelConfig> readHuggingFaceConfig(const std::string &path);

} // namespace orrery::models
