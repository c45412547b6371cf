// A model's imported step and an interpreter for it, for tests.
#pragma once

#include "compiler/import/ImportModel.h"
#include "dialects/llm/Interpreter.h"

#include <gtest/gtest.h>

namespace orrery::llm {

/// Context, module and step that live together.
class ImportedStep {
public:
  ImportedStep(const models::ModelConfig &config,
               const compiler::ImportOptions &options)
      : module(compiler::importModel(context, config, options)) {}

  mlir::func::FuncOp step() {
    return module->lookupSymbol<mlir::func::FuncOp>("step");
  }

private:
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Logits [ids, vocab] of reading `ids` from position 0, `chunk` at a time.
inline Tensor readAll(Interpreter &interpreter, mlir::func::FuncOp step,
                      std::span<const int32_t> ids, size_t chunk) {
  Tensor all;
  for (size_t first = 0; first < ids.size(); first += chunk) {
    const size_t count = std::min(chunk, ids.size() - first);
    auto output = interpreter.run(step, ids.subspan(first, count), first);
    EXPECT_TRUE(output) << output.error().message;
    if (!output) {
      return {};
    }
    const Tensor &logits = output->logits;
    all.rows += logits.rows;
    all.width = logits.width;
    all.values.insert(all.values.end(), logits.values.begin(),
                      logits.values.end());
  }
  return all;
}

} // namespace orrery::llm
