// What weights and KV cache come to without padding: beside it, the chips'
// bytes show what whole vectors, tiles and slots cost, and what ranks hold
// twice.
#pragma once

#include "compiler/import/ImportModel.h"
#include "models/ModelConfig.h"
#include "runtime/SramUse.h"

namespace orrery::runtime {

/// Codes and block scales of all matrices a step reads (the embedding is the
/// host's, unless it is tied), and KV bytes of `options.context` positions.
/// Fills `use.nominal` of weights and KV; `use` is that of all chips.
void addNominal(SramUse &use, const models::ModelConfig &config,
                const compiler::ImportOptions &options);

} // namespace orrery::runtime
