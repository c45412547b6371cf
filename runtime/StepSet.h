// The programs of one model on one system, compiled as they are asked for:
// split alike, with weights and KV cache in the same places, each with text of
// its own. Needs a shape, no weights.
#pragma once

#include "compiler/Compile.h"

#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace orrery::runtime {

/// What all programs of a set have in common.
struct StepSetOptions {
  std::string machine = "lpu-v1"; ///< preset or file
  /// Chips of a stage, and stages; 0: as the compiler chooses for the first
  /// program.
  SplitOptions split;
  llm::WeightFormat weights = llm::WeightFormat::Q8_0;
  llm::KvFormat kv = llm::KvFormat::Q8;
  /// Formats of tensors that keep their own, by name.
  std::map<std::string, llm::WeightFormat> tensorFormats;
  int64_t context = 0; ///< positions with room; 0: the model's
  int64_t chunk = 0;   ///< T of prompt chunks; 0: what fills the matrix unit
  /// A probe: the step ends behind the `llm` op at this location, whose value
  /// comes in place of the logits. Empty: the whole step.
  std::string upTo;
  /// Told what takes long, before it starts.
  std::function<void(const std::string &)> progress;
};

/// One step of reading a prompt.
struct PromptStep {
  const CompiledStep *step;
  int64_t tokens; ///< valid ones; the others are padding
};

class StepSet {
public:
  /// Fails when the machine does not load.
  static Expected<std::unique_ptr<StepSet>> open(models::ModelConfig config,
                                                 StepSetOptions options);

  const models::ModelConfig &config() const { return model; }
  const Machine &machine() const { return system; }
  mlir::MLIRContext &context() { return *mlir; }
  int64_t positions() const { return options.context; }

  /// The smallest bucket that holds `positions`: one position tile, or twice as
  /// many as the one before, or all.
  int64_t bucketFor(int64_t positions) const;

  /// The program for T tokens and a bucket.
  Expected<const CompiledStep *> step(int64_t tokens, int64_t bucket);
  /// The longest chunk, up to a full one, whose values have room at a bucket.
  Expected<const CompiledStep *> chunk(int64_t bucket);
  /// The step at position `at` with `left` tokens to read: a chunk that stays
  /// inside one position tile, or a step for one token.
  Expected<PromptStep> next(int64_t at, int64_t left);
  CompileRequest requestFor(int64_t tokens, int64_t bucket) const;

  /// All that were compiled, in that order.
  const std::vector<const CompiledStep *> &steps() const { return order; }
  std::vector<const SystemProgram *> programs() const;

private:
  StepSet(models::ModelConfig config, StepSetOptions options, Machine machine);
  Expected<CompiledStep> compile(int64_t tokens, int64_t bucket);
  Status goesWithOthers(const CompiledStep &step) const;

  models::ModelConfig model;
  StepSetOptions options;
  Machine system;
  std::unique_ptr<mlir::MLIRContext> mlir;
  std::map<std::pair<int64_t, int64_t>, CompiledStep> compiled;
  std::vector<const CompiledStep *> order;
  std::map<int64_t, int64_t> chunkOfBucket;
  std::vector<int64_t> textVectors; ///< of all programs, by part
};

/// The steps that read `tokens` tokens from position 0 on.
Expected<std::vector<PromptStep>> promptSteps(StepSet &set, int64_t tokens);

} // namespace orrery::runtime
