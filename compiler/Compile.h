// From a model's shape to a program, in one call: import, the pipeline, encode.
#pragma once

#include "compiler/image/ImagePlan.h"
#include "compiler/import/ImportModel.h"
#include "compiler/schedule/Outcome.h"
#include "machine/Program.h"

#include "mlir/IR/OwningOpRef.h"

namespace orrery {

/// What to compile. `import` says T, bucket, context and formats.
struct CompileRequest {
  std::string machine = "lpu-v1"; ///< preset or file
  compiler::ImportOptions import;
  /// Vectors of instruction text of other programs over the same SRAM.
  int64_t textBase = 0;
};

struct CompiledStep {
  Program program;
  ImagePlan image;
  /// The step in `llm`, as the interpreter runs it.
  mlir::OwningOpRef<mlir::ModuleOp> step;
  /// Vectors of instruction text this program takes.
  int64_t textVectors = 0;
  /// What the predicted end stands beside.
  schedule::LowerBounds bounds;
};

/// Compiles one step. The error is the first diagnostic, as one line.
Expected<CompiledStep> compileStep(mlir::MLIRContext &context,
                                   const models::ModelConfig &config,
                                   const CompileRequest &request);
/// The same for a step that is already in `llm`. `request.import` is not looked
/// at but for the hash, which names the model and its formats.
Expected<CompiledStep> compileModule(mlir::OwningOpRef<mlir::ModuleOp> step,
                                     const models::ModelConfig &config,
                                     const CompileRequest &request);

/// The greatest context, in whole position tiles, at which the step for one
/// token at full context compiles; below `request.import.context`, which does
/// not. 0 when none does. Compiles the step once for each halving.
int64_t largestContext(mlir::MLIRContext &context,
                       const models::ModelConfig &config,
                       CompileRequest request);

/// `refusal`, with the context that would have had room added, if there is one.
Error withRoomFor(Error refusal, mlir::MLIRContext &context,
                  const models::ModelConfig &config,
                  const CompileRequest &request);

/// The context with every dialect the compiler uses.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Names config and formats: programs and weights of different models or
/// formats never mix.
uint64_t modelHash(const models::ModelConfig &config,
                   const compiler::ImportOptions &options);

} // namespace orrery
