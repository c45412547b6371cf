// The SRAM that a program file expects, made again from its model.
#pragma once

#include "machine/Program.h"
#include "machine/SramImage.h"
#include "models/Weights.h"
#include "runtime/EmbeddingTable.h"

namespace orrery::command {

struct ProgramImage {
  SramImage sram;
  runtime::EmbeddingTable embedding;
};

/// Finds the formats and layers with which `program` was compiled from this
/// model by its hash, compiles once more and fills SRAM. Fails when the model
/// is another one, or when what lasts would lie elsewhere than the program
/// says.
Expected<ProgramImage> programImage(const Program &program,
                                    const Machine &machine,
                                    const models::WeightFile &model);

} // namespace orrery::command
