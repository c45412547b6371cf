// A model on a simulated chip: compiles the programs it needs, keeps the KV
// cache in simulated SRAM, and steps tokens through it.
#pragma once

#include "compiler/Compile.h"
#include "models/WeightSource.h"
#include "simulator/Simulator.h"

#include "mlir/IR/MLIRContext.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery::runtime {

struct SessionOptions {
  std::string machine = "lpu-v1"; ///< preset or file
  llm::WeightFormat weights = llm::WeightFormat::Q8_0;
  llm::KvFormat kv = llm::KvFormat::Q8;
  /// Formats of tensors that keep their own, by name.
  std::map<std::string, llm::WeightFormat> tensorFormats;
  int64_t context = 0; ///< positions with room; 0: the model's
  int64_t chunk = 0;   ///< T of prompt chunks; 0: what fills the matrix unit
};

/// One step that was simulated.
struct StepRecord {
  const Program *program;
  uint32_t position, validTokens;
  sim::StepResult result;
  std::vector<std::vector<float>> logits; ///< [validTokens][vocab]
  int32_t next = 0;                       ///< greedy, after the last token
};

class Session {
public:
  /// `weights` must outlive the session.
  static Expected<std::unique_ptr<Session>>
  open(const models::WeightSource &weights, const SessionOptions &options);

  /// Reads `ids` at the current position, in chunks; one record a step. Fails
  /// before anything runs when they do not fit the context.
  Expected<std::vector<StepRecord>> read(std::span<const int32_t> ids);
  /// Forgets all positions.
  void reset() { position = 0; }

  const Machine &machine() const { return chip; }
  int64_t contextLength() const { return context; }
  uint32_t currentPosition() const { return position; }
  /// All programs compiled so far.
  std::vector<const Program *> programs() const;
  /// The step of a compiled program in `llm`, for the interpreter.
  mlir::ModuleOp stepModule(const Program &program) const;
  const sim::Simulator &simulator() const { return *sim; }
  sim::Simulator &simulator() { return *sim; }

  /// The smallest bucket that holds `positions`.
  int64_t bucketFor(int64_t positions) const;
  /// The program for T tokens and a bucket, compiled on first use.
  Expected<const Program *> program(int64_t tokens, int64_t bucket);

private:
  Session(const models::WeightSource &weights, SessionOptions options,
          Machine machine);
  Status start();
  Expected<CompiledStep *> compiled(int64_t tokens, int64_t bucket);
  Expected<CompiledStep *> compiledChunk(int64_t bucket);
  Expected<StepRecord> step(std::span<const int32_t> ids, CompiledStep &with);
  std::vector<float> embed(std::span<const int32_t> ids,
                           const Program &program) const;

  const models::WeightSource &weights;
  SessionOptions options;
  Machine chip;
  std::unique_ptr<mlir::MLIRContext> context_;
  models::QuantizedMatrix embedding;
  std::map<std::pair<int64_t, int64_t>, CompiledStep> steps;
  std::map<int64_t, int64_t> chunkOfBucket;
  std::unique_ptr<sim::Simulator> sim;
  int64_t context = 0, textVectors = 0;
  uint32_t position = 0;
};

} // namespace orrery::runtime
