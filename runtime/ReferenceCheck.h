// The CUDA reference beside the interpreter: the same ids through both, logits
// bit for bit, and which op parts first when they are not.
//
// Finding the op is plainer than on the chip (FirstDifference.h): both sides
// show the value of every op, so they read once more and are compared op by op.
#pragma once

#include "compiler/import/ImportModel.h"
#include "dialects/llm/Interpreter.h"
#include "gpu-reference/Reference.h"
#include "runtime/BitCompare.h"
#include "runtime/FirstDifference.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace orrery::runtime {

/// Formats, context and layers of `options` for the reference, and the chunks
/// that ChunkInterpreter reads.
gpu::ReferenceOptions referenceOptions(const compiler::ImportOptions &options);

class ReferenceCheck {
public:
  static Expected<ReferenceCheck> open(const models::WeightSource &weights,
                                       const compiler::ImportOptions &options,
                                       gpu::Backend backend);

  /// By the own sequence of a reference that was opened with
  /// referenceOptions(options). Others may use it between add() and
  /// firstDifference(), and may forget that sequence then.
  ReferenceCheck(compiler::ImportOptions options, gpu::Backend backend,
                 std::shared_ptr<gpu::Reference> reference)
      : options(std::move(options)), backend(backend),
        reference(std::move(reference)) {}

  /// Reads `ids` at `position` in chunks of the reference's, and compares with
  /// what the interpreter has for them.
  Status add(std::span<const int32_t> ids, uint32_t position,
             const llm::StepOutput &expected);

  /// The first op that differs in the first step that has one, of everything
  /// added, read again by both sides from the start; none if no op does.
  /// `expected` are the interpreter's weights.
  Expected<std::optional<OpDifference>>
  firstDifference(const models::WeightSource &expected) const;

  const BitCompare &bits() const { return compared; }
  /// "emulated on the host", or the device's name.
  std::string backendText() const { return gpu::backendText(backend); }

private:
  /// One step of the reference.
  struct Step {
    std::vector<int32_t> ids;
    uint32_t position;
  };

  compiler::ImportOptions options;
  gpu::Backend backend;
  std::shared_ptr<gpu::Reference> reference;
  std::vector<Step> steps;
  BitCompare compared;
};

} // namespace orrery::runtime
