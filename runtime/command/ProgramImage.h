// The SRAM that a program file expects, made again from its model.
#pragma once

#include "models/Weights.h"
#include "runtime/StepHost.h"

namespace orrery::command {

struct ProgramImages {
  std::vector<SramImage> sram; ///< by chip
  runtime::HostInput host;
};

/// Finds the formats and layers with which `program` was compiled from this
/// model by its hash, compiles once more, split alike, and fills the SRAM of
/// each chip. Fails when the model is another one, or when what lasts would lie
/// elsewhere than the program says.
Expected<ProgramImages> programImages(const SystemProgram &program,
                                      const Machine &machine,
                                      const models::WeightFile &model);

} // namespace orrery::command
