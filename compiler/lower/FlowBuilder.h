// Lowers the ops of one stage to flow, one op at a time.
//
// Activations live in f32 buffers [T][vectors], token-major. What feeds a
// matrix unit is quantized on its way out of the VXM and kept twice, once a
// hemisphere, since a slice feeds the planes of its own side without crossing
// the VXM.
#pragma once

#include "compiler/lower/AxisLayout.h"
#include "compiler/lower/ChipLayout.h"
#include "compiler/lower/DealRows.h"
#include "compiler/lower/VectorBurst.h"
#include "dialects/grid/Grid.h"
#include "dialects/llm/Llm.h"

#include "llvm/ADT/DenseMap.h"

namespace orrery {

/// Attribute of a step function: for each kind of stage, vectors of instruction
/// text that other programs of the set have there.
inline constexpr char kTextBasesAttr[] = "grid.text_bases";

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
  mlir::Value crossing = {}; ///< a8 or f16, to be sent to other ranks; or none
};

/// Where the stage stands: its tensor-parallel group, and the link to others.
struct StageGroup {
  int32_t ranks = 1;
  bool ring = false; ///< only the next and the last rank are linked
  /// Numbers 1 .. links() lead to other ranks.
  int32_t links() const { return ring ? 1 : ranks - 1; }
  /// The link to the stage before and after.
  int32_t pipelineLink() const { return links() + 1; }
};

class FlowBuilder {
public:
  FlowBuilder(mlir::OpBuilder &builder, const Machine &machine,
              const llm::StepInfo &step, StageGroup group = {})
      : b(builder), machine(machine), layout(machine), group(group),
        tokens(step.tokens), bucket(step.bucket), context(step.context) {}

  /// Emits what `op` stands for. Fails with a diagnostic on the op when the
  /// chip cannot do it.
  mlir::LogicalResult lower(mlir::Operation *op);
  /// `value`, which the stage before computes, comes over the link.
  void receive(mlir::Value value, mlir::Location location);
  /// The cosines and sines of the step's positions come, from the host or from
  /// the stage before, for `rope` of K heads that lie as `axis`.
  void receiveRope(llm::RopeOp rope, const AxisLayout &axis, bool fromHost);
  /// They go on to the next stage.
  void passRopeOn(mlir::Location location);
  /// The stage's results leave the chip: to the next stage, or to the host.
  mlir::LogicalResult finish(grid::StageOp stage);

private:
  // Memory.
  mlir::Value alloc(int64_t vectors, flow::StreamType type, int32_t side = -1);
  mlir::Value table(llvm::StringRef name, const AxisLayout &axis);
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

  // LowerCollective.cpp
  mlir::LogicalResult lowerAllGather(grid::AllGatherOp op);
  mlir::LogicalResult lowerOwn(grid::OwnOp op);
  mlir::LogicalResult lowerBest(grid::ArgmaxOp op);
  void copyOwnShard(const Rows &in, const AxisLayout::Run &run,
                    const AxisLayout &axis, flow::StreamType type,
                    mlir::ArrayRef<mlir::Value> to, mlir::Location location);
  void exchange(mlir::Value own, const AxisLayout &axis,
                const AxisLayout::Run &run, mlir::ArrayRef<mlir::Value> to,
                mlir::Location location);
  void receiveRows(mlir::Value to, int64_t vectors, mlir::Location location);
  mlir::LogicalResult sendToStage(mlir::Value value, mlir::Location location);

  // LowerLinear.cpp
  mlir::LogicalResult lowerLinear(llm::LinearOp op);
  mlir::LogicalResult cutShares(llm::LinearOp op, const Rows &in,
                                std::vector<RowPiece> &pieces);
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
  StageGroup group;
  int64_t tokens, bucket, context;
  llvm::DenseMap<mlir::Value, Rows> values;
  llvm::StringMap<mlir::Value> tables;
  mlir::Value cosines, sines; ///< f32 [T], a row a token; or none
  mlir::Value sent;           ///< what the host gets at the end
  bool received = false;      ///< the host's input is in a buffer
  llm::RopeOp turning;        ///< the first; all others must turn alike
};

/// How a value of `elements` that each of `ranks` ranks holds lies in lanes:
/// gathered from equal shards of whole blocks of 32; one rank: dense.
AxisLayout wholeAxis(int64_t elements, int32_t lanes, int32_t ranks);

/// How a gathered value crosses the links.
flow::StreamType crossingType(mlir::Value gathered);

/// Wires the model's `op` result layout: heads for attention, dense otherwise.
bool feedsAttention(mlir::Value value);

} // namespace orrery
