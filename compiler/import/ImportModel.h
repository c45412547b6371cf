// From the shape of a model to its token step in the llm dialect.
//
// Needs no weights: a published shape imports as well as a model file. What is
// imported is a dense decoder with RMSNorm, RoPE, grouped-query attention and a
// SiLU-gated MLP ("llama").
#pragma once

#include "dialects/llm/Llm.h"
#include "models/ModelConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace orrery::compiler {

/// What a step is made for. Zeros mean "as the model says".
struct ImportOptions {
  /// T, new tokens a run takes at most.
  int64_t tokens = 1;
  /// Positions a run may reach; 0: the context.
  int64_t bucket = 0;
  /// Positions the KV caches hold; 0: what the model was trained for.
  int64_t context = 0;
  /// Leading layers to keep; 0: all.
  int64_t layers = 0;
  /// Format of every weight matrix that tensorFormats does not name.
  llm::WeightFormat weightFormat = llm::WeightFormat::Q8_0;
  std::map<std::string, llm::WeightFormat> tensorFormats;
  llm::KvFormat kvFormat = llm::KvFormat::Q8;
};

/// The formats of the matrices that `file` stores in one the machine takes;
/// float tensors are not listed.
std::map<std::string, llm::WeightFormat>
storedFormats(const models::GgufFile &file);

/// A module with one function `step` that returns the logits [T, vocab] and
/// their argmax [T]. Every op has a location named after its place in the
/// model, such as "layer 3 attn_q". Null, with a diagnostic, when the config
/// does not verify or the options do not fit it.
mlir::OwningOpRef<mlir::ModuleOp>
importModel(mlir::MLIRContext &context, const models::ModelConfig &config,
            const ImportOptions &options = {});

} // namespace orrery::compiler
