// Published shapes, built in: the files of models/zoo/ travel inside the
// binaries, like the machine presets.
#pragma once

#include "machine/Result.h"
#include "models/ModelConfig.h"

#include <string>
#include <vector>

namespace orrery::models {

struct ZooModel {
  ModelConfig config; ///< its name is the file's
  std::string checkpoint;
  std::vector<std::string> sources; ///< of the shape
  int64_t parameters = 0;           ///< as published
};

/// All models, those of a family together, the smallest first.
Expected<std::vector<ZooModel>> zooModels();

/// Whether the zoo has a model of that name.
bool isZooName(const std::string &name);

/// A shape: the name of a zoo model, a config.json or a GGUF file (of which the
/// weights are not looked at). Names win over files.
Expected<ModelConfig> loadShape(const std::string &nameOrPath);

} // namespace orrery::models
