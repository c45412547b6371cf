// The interpreter on steps as the GPU reference takes them: chunks of a prompt,
// tokens behind it.
#pragma once

#include "compiler/import/ImportModel.h"
#include "dialects/llm/Interpreter.h"
#include "models/WeightSource.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <span>

namespace orrery::runtime {

/// Tokens of a prompt's chunk: what fills the reference's matrix units, and no
/// more, since the emulation computes every row.
inline constexpr int64_t kReferenceChunk = 32;

class ChunkInterpreter {
public:
  /// Formats, context and layers of `options`; `weights` must outlive it. Fails
  /// for a model that does not import.
  static Expected<std::unique_ptr<ChunkInterpreter>>
  open(const models::WeightSource &weights, compiler::ImportOptions options);

  /// Interpreter::run; up to kReferenceChunk ids.
  Expected<llm::StepOutput> run(std::span<const int32_t> ids,
                                uint32_t position);
  void reset() { interpreter.reset(); }
  void setObserver(llm::Interpreter::Observer function) {
    interpreter.setObserver(std::move(function));
  }

private:
  explicit ChunkInterpreter(const models::WeightSource &weights)
      : interpreter(weights) {}

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llm::Interpreter interpreter;
};

} // namespace orrery::runtime
