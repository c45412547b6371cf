// Lowers the ops of one stage to flow, one op at a time.
//
// Activations live in f32 buffers [T][vectors], token-major. What feeds a
// matrix unit is quantized on its way out of the VXM and kept twice, once a
// hemisphere, since a slice feeds the planes of its own side without crossing
// the VXM.
#pragma once

#include "compiler/lower/AxisLayout.h"
#include "compiler/lower/ChipLayout.h"
#include "compiler/lower/VectorBurst.h"
#include "dialects/llm/Llm.h"

#include "llvm/ADT/DenseMap.h"

namespace orrery {

/// Programs of a set differ in T; RoPE tables are long enough for any, since
/// rows past the last valid token are computed too.
constexpr int64_t kMostTokens = 32;

/// Attribute of an llm.argmax whose result nobody looks at: such a step may end
/// at any rows.
inline constexpr char kProbeAttr[] = "orrery.probe";

/// The rows of an llm value on the chip.
struct Rows {
  AxisLayout axis;
  mlir::Value f32 = {};          ///< [T][vectors], or none
  mlir::Value quantized[2] = {}; ///< a8, west and east, or none
  mlir::Value half[2] = {};      ///< f16, likewise
  mlir::Value loaded[2] = {};    ///< in the planes
  mlir::Value loadedHalf[2] = {};
  mlir::Value sumSquares = {}; ///< f32 [T], every lane; or none
};

class FlowBuilder {
public:
  FlowBuilder(mlir::OpBuilder &builder, const Machine &machine,
              const llm::StepInfo &step)
      : b(builder), machine(machine), layout(machine), tokens(step.tokens),
        bucket(step.bucket), context(step.context) {}

  /// Emits what `op` stands for. Fails with a diagnostic on the op when the
  /// chip cannot do it.
  mlir::LogicalResult lower(mlir::Operation *op);
  /// The step's results leave the chip.
  mlir::LogicalResult finish(mlir::Operation *terminator);

private:
  // Memory.
  mlir::Value alloc(int64_t vectors, flow::StreamType type, int32_t side = -1);
  mlir::Value table(llvm::StringRef name, const AxisLayout &axis);
  mlir::Value ropeTable(llvm::StringRef name, llm::RopeOp rope,
                        const AxisLayout &axis);
  flow::AccessAttr all(const Rows &rows);
  flow::AccessAttr plain(int64_t vectors);

  // VerifyOperands.cpp
  mlir::LogicalResult verifyOperands(mlir::Operation *op);
  mlir::LogicalResult verifyLinear(llm::LinearOp op);
  mlir::LogicalResult verifyRope(llm::RopeOp op);
  mlir::LogicalResult verifyAttention(llm::AttentionOp op);
  mlir::LogicalResult verifyLogits(llm::ArgmaxOp op);

  // Ops without position.
  mlir::LogicalResult lowerEmbed(llm::EmbedOp op);
  mlir::LogicalResult lowerNorm(llm::RmsNormOp op);
  mlir::LogicalResult lowerAdd(llm::AddOp op);
  mlir::LogicalResult lowerGated(llm::GatedOp op);
  mlir::LogicalResult lowerArgmax(llm::ArgmaxOp op);
  void emitRows(Rows &rows, mlir::Value value, VectorBurst &burst,
                uint32_t result, mlir::Location location);
  mlir::Value sumSquares(Rows &rows, mlir::Location location);

  // LowerLinear.cpp
  mlir::LogicalResult lowerLinear(llm::LinearOp op);
  mlir::LogicalResult emitShares(llm::LinearOp op, const Rows &in,
                                 const Rows &out, int32_t share, int32_t planes,
                                 int32_t step);
  AxisLayout resultAxis(llm::LinearOp op);
  void load(Rows &rows, bool half, mlir::Location location);
  void copyOut(Rows &rows, bool half, mlir::Location location);
  void emitPiece(llm::LinearOp op, const Rows &in, const Rows &out,
                 int32_t plane, int32_t first, int32_t count, int32_t low,
                 int32_t high, bool lastOfVector);

  // LowerAttention*.cpp
  mlir::LogicalResult lowerRope(llm::RopeOp op);
  mlir::LogicalResult lowerAttention(llm::AttentionOp op);

  friend class AttentionLowering;

  mlir::OpBuilder &b;
  const Machine &machine;
  ChipLayout layout;
  int64_t tokens, bucket, context;
  llvm::DenseMap<mlir::Value, Rows> values;
  llvm::StringMap<mlir::Value> tables;
  mlir::Value sent;      ///< what the host gets at the end
  bool received = false; ///< the host's input is in a buffer
  llm::RopeOp turning;   ///< the first; all others must turn alike
};

/// Wires the model's `op` result layout: heads for attention, dense otherwise.
bool feedsAttention(mlir::Value value);

} // namespace orrery
