// Writes the step of a llama-like decoder op by op. Used by ImportModel.cpp,
// which has checked config and options and put values in place of zeros.
#pragma once

#include "compiler/import/ImportModel.h"

#include "mlir/IR/Builders.h"

namespace orrery::compiler {

class StepBuilder {
public:
  StepBuilder(mlir::ModuleOp module, const models::ModelConfig &config,
              const ImportOptions &options);

  /// Appends the function `step` to the module.
  void build();

private:
  /// What precedes names of tensors and locations: a layer's, or nothing.
  struct Place {
    std::string tensorPrefix;
    std::string locationPrefix;
  };

  mlir::func::FuncOp createFunction();
  mlir::Value layer(int64_t index, mlir::Value stream);
  mlir::Value attention(const Place &place, int64_t index, mlir::Value stream);
  mlir::Value feedForward(const Place &place, mlir::Value stream);
  mlir::Value head(mlir::Value stream);

  mlir::Value norm(const Place &place, llvm::StringRef name, mlir::Value x);
  mlir::Value linear(const Place &place, llvm::StringRef name, mlir::Value x,
                     int64_t width);
  mlir::Value rope(const Place &place, llvm::StringRef name, mlir::Value x,
                   int64_t heads);

  /// [tokens, width] f32 and [tokens] i32.
  mlir::RankedTensorType rows(int64_t width);
  mlir::RankedTensorType ids();
  static std::string tensorOf(const Place &place, llvm::StringRef name);
  mlir::Location at(const Place &place, llvm::StringRef name);
  llm::WeightFormat formatOf(const std::string &tensor) const;

  mlir::OpBuilder builder;
  const models::ModelConfig &config;
  const ImportOptions &options;
};

} // namespace orrery::compiler
