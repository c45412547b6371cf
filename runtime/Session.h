// A model on a simulated system of chips, of which one is the least: compiles
// the programs it needs, keeps the KV cache in simulated SRAM, and steps tokens
// through it.
#pragma once

#include "models/WeightSource.h"
#include "runtime/EmbeddingTable.h"
#include "runtime/StepHost.h"
#include "runtime/StepSet.h"
#include "simulator/SystemSimulator.h"

#include <memory>
#include <span>
#include <vector>

namespace orrery::runtime {

/// What the programs have in common, and hooks into what the hosts do.
struct SessionOptions : StepSetOptions {
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

  const Machine &machine() const { return set->machine(); }
  int64_t contextLength() const { return set->positions(); }
  /// Formats and context of every program; T and bucket are the first's.
  compiler::ImportOptions importOptions() const {
    return set->requestFor(1, bucketFor(1)).import;
  }
  uint32_t currentPosition() const { return position; }
  /// All programs compiled so far.
  std::vector<const SystemProgram *> programs() const {
    return set->programs();
  }
  /// What a program of this session was compiled to, beside itself.
  const CompiledStep &compiledOf(const SystemProgram &program) const;
  /// The step of a compiled program in `llm`, for the interpreter.
  mlir::ModuleOp stepModule(const SystemProgram &program) const {
    return *compiledOf(program).step;
  }
  const sim::SystemSimulator &simulator() const { return *sim; }
  sim::SystemSimulator &simulator() { return *sim; }

  /// The smallest bucket that holds `positions`.
  int64_t bucketFor(int64_t positions) const {
    return set->bucketFor(positions);
  }
  /// The program for T tokens and a bucket, compiled on first use.
  Expected<const SystemProgram *> program(int64_t tokens, int64_t bucket);

private:
  Session(const models::WeightSource &weights, SessionOptions options,
          std::unique_ptr<StepSet> set);
  Status start(bool &tooBig);
  Expected<EmbeddingTable> openEmbedding() const;
  Status checkRoom(int64_t ids) const;
  Expected<StepRecord> step(std::span<const int32_t> ids,
                            const CompiledStep &with);

  const models::WeightSource &weights;
  SessionOptions options;
  std::unique_ptr<StepSet> set;
  std::unique_ptr<HostInput> hostInput;
  std::unique_ptr<sim::SystemSimulator> sim;
  uint32_t position = 0;
};

} // namespace orrery::runtime
