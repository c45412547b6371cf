// A model on a simulated system of chips, of which one is the least: compiles
// the programs it needs, keeps the KV cache in simulated SRAM, and steps tokens
// through it.
#pragma once

#include "compiler/Compile.h"
#include "models/WeightSource.h"
#include "runtime/EmbeddingTable.h"
#include "runtime/StepHost.h"
#include "simulator/SystemSimulator.h"

#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace orrery::runtime {

struct SessionOptions {
  std::string machine = "lpu-v1"; ///< preset or file
  /// Chips of a stage, and stages; 0: as the compiler chooses for the first
  /// program. All programs of the session are split alike.
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
  AfterFill afterFill;
  AfterRows afterRows;
};

/// One step that was simulated.
struct StepRecord {
  const SystemProgram *program;
  uint32_t position, validTokens;
  sim::SystemResult result;
  std::vector<std::vector<float>> logits; ///< [validTokens][vocab]
  std::vector<int32_t> greedy;            ///< as sent to the host, by token

  /// After the last token.
  int32_t next() const { return greedy.back(); }
};

class Session {
public:
  /// `weights` must outlive the session. After an error, `tooBig` says whether
  /// the machine's limits are the reason, and not a file or a value.
  static Expected<std::unique_ptr<Session>>
  open(const models::WeightSource &weights, const SessionOptions &options,
       bool *tooBig = nullptr);

  /// Reads `ids` at the current position, in chunks; one record a step. Fails
  /// before anything runs when they do not fit the context.
  Expected<std::vector<StepRecord>> read(std::span<const int32_t> ids);
  /// One step over the first of `ids`, as many as it takes; they go from `ids`.
  Expected<StepRecord> readSome(std::span<const int32_t> &ids);
  /// Compiles what reading `ids` tokens and then, one by one, those up to
  /// `positions` in all needs, so that nothing fails half way.
  Status prepare(int64_t ids, int64_t positions);
  /// Forgets all positions.
  void reset() { position = 0; }

  const Machine &machine() const { return chip; }
  int64_t contextLength() const { return context; }
  /// Formats and context of every program; T and bucket are the first's.
  compiler::ImportOptions importOptions() const {
    return requestFor(1, bucketFor(1)).import;
  }
  uint32_t currentPosition() const { return position; }
  /// All programs compiled so far.
  std::vector<const SystemProgram *> programs() const;
  /// What a program of this session was compiled to, beside itself.
  const CompiledStep &compiledOf(const SystemProgram &program) const;
  /// The step of a compiled program in `llm`, for the interpreter.
  mlir::ModuleOp stepModule(const SystemProgram &program) const {
    return *compiledOf(program).step;
  }
  const sim::SystemSimulator &simulator() const { return *sim; }
  sim::SystemSimulator &simulator() { return *sim; }

  /// The smallest bucket that holds `positions`.
  int64_t bucketFor(int64_t positions) const;
  /// The program for T tokens and a bucket, compiled on first use.
  Expected<const SystemProgram *> program(int64_t tokens, int64_t bucket);

private:
  Session(const models::WeightSource &weights, SessionOptions options,
          Machine machine);
  /// A program, and how many tokens it is to read.
  struct Chunk {
    CompiledStep *step;
    int64_t tokens;
  };

  Status start(bool &tooBig);
  Expected<EmbeddingTable> openEmbedding() const;
  Status checkRoom(int64_t ids) const;
  Expected<Chunk> nextChunk(int64_t at, int64_t left);
  CompileRequest requestFor(int64_t tokens, int64_t bucket) const;
  Expected<CompiledStep *> compiled(int64_t tokens, int64_t bucket);
  Status goesWithOthers(const CompiledStep &step) const;
  Expected<CompiledStep *> compiledChunk(int64_t bucket);
  Expected<StepRecord> step(std::span<const int32_t> ids, CompiledStep &with);

  const models::WeightSource &weights;
  SessionOptions options;
  Machine chip;
  std::unique_ptr<mlir::MLIRContext> context_;
  std::map<std::pair<int64_t, int64_t>, CompiledStep> steps;
  std::map<int64_t, int64_t> chunkOfBucket;
  std::unique_ptr<HostInput> hostInput;
  std::unique_ptr<sim::SystemSimulator> sim;
  std::vector<int64_t> textVectors; ///< of all programs, by part
  int64_t context = 0;
  uint32_t position = 0;
};

} // namespace orrery::runtime
