// Builds one flow.vector: inputs first, then steps, then outputs.
#pragma once

#include "dialects/flow/Flow.h"

#include "mlir/IR/Builders.h"

namespace orrery {

/// A buffer and the vectors of it that a burst touches.
struct Operand {
  mlir::Value buffer;
  flow::AccessAttr access;
};

/// The access {extents} by {steps}, from `offset`.
flow::AccessAttr access(mlir::MLIRContext *context,
                        llvm::ArrayRef<int64_t> extents,
                        llvm::ArrayRef<int64_t> steps, uint32_t offset = 0);
flow::AccessAttr withDynamic(flow::AccessAttr a, flow::Dynamic dynamic,
                             uint32_t step);
flow::AccessAttr withLanes(flow::AccessAttr a, uint32_t low, uint32_t high);
flow::AccessAttr withTokens(flow::AccessAttr a, flow::Mask mask,
                            uint32_t tokenDim);
flow::AccessAttr withStripe(flow::AccessAttr a, uint32_t bytes, uint32_t step,
                            uint32_t tokenDim);

class VectorBurst {
public:
  VectorBurst(mlir::OpBuilder &builder, uint32_t count, uint32_t group = 1)
      : builder(builder), count(count), group(group) {}

  /// Value number of a new input.
  uint32_t input(Operand operand);
  /// Value number of a new step's result.
  uint32_t step(flow::AluOp op, uint32_t a, uint32_t b);
  uint32_t step(flow::AluOp op, uint32_t a) { return step(op, a, 0); }
  uint32_t constant(float value);
  /// a below the limit, else `otherwise`; see AluOp::Keep.
  uint32_t keep(uint32_t a, float otherwise, uint32_t bound, bool position,
                BurstIndex token, BurstIndex tile);
  /// Window and Splat: lane group chosen by `tile`.
  uint32_t grouped(flow::AluOp op, uint32_t a, uint32_t width,
                   BurstIndex tile = {});
  /// One output, written to each of `to`.
  void output(uint32_t value, flow::StreamType type, llvm::ArrayRef<Operand> to,
              flow::Reduction reduction = flow::Reduction::None);
  void emit(mlir::Location location);

private:
  uint32_t add(flow::StepAttr step);
  mlir::OpBuilder &builder;
  uint32_t count, group, values = 0;
  llvm::SmallVector<mlir::Value> inputs, outs;
  llvm::SmallVector<mlir::Attribute> steps, outputs, reads, writes;
  llvm::SmallVector<int32_t> routes;
};

} // namespace orrery
