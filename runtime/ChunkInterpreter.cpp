#include "runtime/ChunkInterpreter.h"

#include <algorithm>

namespace orrery::runtime {

Expected<std::unique_ptr<ChunkInterpreter>>
ChunkInterpreter::open(const models::WeightSource &weights,
                       compiler::ImportOptions options) {
  std::unique_ptr<ChunkInterpreter> made(new ChunkInterpreter(weights));
  if (options.context == 0) {
    options.context = weights.config().contextLength;
  }
  options.tokens = std::min(kReferenceChunk, options.context);
  options.bucket = 0;
  made->module =
      compiler::importModel(made->context, weights.config(), options);
  if (!made->module) {
    return Error{"the model does not import"};
  }
  return Expected<std::unique_ptr<ChunkInterpreter>>(std::move(made));
}

Expected<llm::StepOutput> ChunkInterpreter::run(std::span<const int32_t> ids,
                                                uint32_t position) {
  auto step = interpreter.run(*module->getOps<mlir::func::FuncOp>().begin(),
                              ids, position);
  return step ? std::move(step) : Error{"interpreter: " + step.error().message};
}

} // namespace orrery::runtime
