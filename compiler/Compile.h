// From a model's shape to a program, in one call: import, the pipeline, encode.
#pragma once

#include "compiler/image/ImagePlan.h"
#include "compiler/import/ImportModel.h"
#include "compiler/partition/ProductForms.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/schedule/Outcome.h"
#include "machine/SystemProgram.h"

#include "mlir/IR/OwningOpRef.h"

namespace orrery {

/// What to compile. `import` says T, bucket, context and formats.
struct CompileRequest {
  std::string machine = "lpu-v1"; ///< preset or file
  compiler::ImportOptions import;
  SplitOptions split;
  /// Positions that the longest step over the same SRAM reaches, for which the
  /// split is chosen; 0: the context. Less when a context is the caches of
  /// several users: no step attends to another user's.
  int64_t reach = 0;
  /// By part: vectors of instruction text of other programs over the same
  /// SRAM; empty: none.
  std::vector<int64_t> textBases;
};

/// What the programs of one part come from, beside SystemProgram::parts.
struct CompiledPart {
  ImagePlan image;
  /// Vectors of instruction text it takes.
  int64_t textVectors = 0;
  /// What its predicted end stands beside.
  schedule::LowerBounds bounds;
  /// How ranks share its products of shards, in order; none with one rank.
  std::vector<partition::SharedProduct> products = {};
};

/// A stage of the pipeline; all of its ranks run one part.
struct CompiledStage {
  uint32_t part;
  int64_t firstLayer;
  /// Has no section: third chips on the way to the next stage.
  bool relay;
};

struct CompiledStep {
  SystemProgram system;
  std::vector<CompiledPart> parts;
  std::vector<CompiledStage> stages; ///< relays in their places
  /// Elements of the logits that one rank of the last stage leaves.
  int64_t logitsEach = 0;
  /// Its split, as it must be asked for to come about again.
  SplitOptions split;
  /// The step in `llm`, as the interpreter runs it.
  mlir::OwningOpRef<mlir::ModuleOp> step;

  bool onOneChip() const { return system.chips.size() == 1; }
  /// The only part of a step on one chip.
  const Program &program() const { return system.parts.front(); }
  /// What a chip's image is filled with beyond its part's plan.
  ChipShare shareOf(const ChipProgram &chip) const {
    return {int32_t(chip.rank),
            stages[chip.stage].firstLayer - firstOfPart(chip.part).firstLayer};
  }
  const CompiledStage &firstOfPart(uint32_t part) const;
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
