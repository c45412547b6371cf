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
#include "compiler/lower/LinkPieces.h"
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
  mlir::Value crossing = {}; ///< a8 or f16, to be sent to other chips; or none
};

/// Where the stage stands: its tensor-parallel group, and the link to others.
struct StageGroup {
  int32_t ranks = 1;
  bool ring = false;  ///< only the next and the last rank are linked
  int32_t cables = 1; ///< to the next stage, and from the one before
  /// Numbers 1 .. links() lead to other ranks.
  int32_t links() const { return grid::groupLinks(ranks, ring); }
  /// The link to the stage before and after, over one of the cables.
  int32_t pipelineLink(int32_t cable) const {
    return grid::pipelineLink(ranks, ring) + cable % cables;
  }
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
  /// `values`, which the stage before computes, come over the link, in that
  /// order.
  void receive(mlir::ValueRange values, mlir::Location location);
  /// The cosines and sines of the step's positions come, from the host or from
  /// the stage before, for `rope` of K heads that lie as `axis`.
  void receiveRope(llm::RopeOp rope, const AxisLayout &axis, bool fromHost);
  /// They go on to the next stage.
  void passRopeOn(mlir::Location location);
  /// The stage's results leave the chip: to the next stage, or to the host.
  mlir::LogicalResult finish(grid::StageOp stage);

private:
  /// The rows of a value that `define` was told of; they move with the next.
  Rows &rowsOf(mlir::Value value) {
    auto found = values.find(value);
    assert(found != values.end() && "not lowered");
    return found->second;
  }
  /// By value, as what `rowsOf` gave is in a table that may grow here.
  void define(mlir::Value value, Rows rows) { values[value] = rows; }

  // Memory.
  mlir::Value alloc(int64_t vectors, flow::StreamType type, int32_t side = -1);
  mlir::Value table(llvm::StringRef name, const AxisLayout &axis);
  flow::AccessAttr all(const Rows &rows);
  flow::AccessAttr plain(int64_t vectors) { return part(0, vectors); }
  flow::AccessAttr part(int64_t first, int64_t vectors);

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
  /// A gathered value, and its buffers: one, or one a hemisphere.
  struct Gathered {
    Rows rows;
    llvm::SmallVector<mlir::Value, 2> buffers;
  };
  Gathered beginGather(const Rows &in, grid::AllGatherOp op);
  mlir::LogicalResult lowerAllGather(grid::AllGatherOp op);
  mlir::LogicalResult lowerOwn(grid::OwnOp op);
  mlir::LogicalResult lowerBest(grid::ArgmaxOp op);
  void copyOwnShard(const Rows &in, const AxisLayout::Run &run,
                    const AxisLayout &axis, flow::StreamType type,
                    mlir::ArrayRef<mlir::Value> to, mlir::Location location);
  void exchange(mlir::Value own, const AxisLayout &axis,
                const AxisLayout::Run &run, mlir::ArrayRef<mlir::Value> to,
                mlir::Location location);
  mlir::Value carried(Rows &rows, flow::StreamType type, mlir::Location where);

  // LowerHop.cpp
  void receiveRows(mlir::ValueRange to, mlir::ArrayRef<mlir::Attribute> writes,
                   int32_t cable, mlir::Location location);
  llvm::SmallVector<LinkPiece> hopPieces(int64_t tokens, int64_t vectors) const;
  void receiveQuantized(Rows &rows, mlir::Value value, flow::StreamType type,
                        mlir::Location location);
  void sendToStage(Rows &rows, flow::StreamType type, mlir::Location location);
  mlir::LogicalResult verifyLinkRoom(grid::StageOp stage);

  // LowerLinear.cpp
  mlir::LogicalResult lowerLinear(llm::LinearOp op);
  mlir::LogicalResult cutShares(llm::LinearOp op, const Rows &in,
                                std::vector<RowPiece> &pieces);
  /// Which planes make which rows of `out`, in the order of their work.
  mlir::LogicalResult dealPieces(llm::LinearOp op, const Rows &in,
                                 const AxisLayout &out, int32_t planes,
                                 std::vector<RowPiece> &pieces);
  AxisLayout resultAxis(llm::LinearOp op);
  void load(Rows &rows, bool half, mlir::Location location);
  void copyOut(Rows &rows, bool half, mlir::Location location);
  void emitPiece(llm::LinearOp op, const Rows &in, const Rows &out,
                 const RowPiece &piece);
  mlir::LogicalResult verifyLoad(llm::LinearOp op, const Rows &in);

  flow::RegionOp weightsOf(llm::LinearOp op, const Rows &in,
                           const AxisLayout &rows, const RowPiece &piece);

  // LowerPartial.cpp
  mlir::LogicalResult lowerReduceScatter(grid::ReduceScatterOp op);
  mlir::LogicalResult lowerAllReduce(grid::AllReduceOp op);
  friend class PartialLowering;

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
  /// By what is gathered: the own shard is in its place, straight from the
  /// stage before.
  llvm::DenseMap<mlir::Value, Gathered> gathers;
  mlir::Value cosines, sines; ///< f32 [T], a row a token; or none
  mlir::Value sent;           ///< what the host gets at the end
  bool received = false;      ///< the host's input is in a buffer
};

/// How a value of `elements` that each of `ranks` ranks holds lies in lanes:
/// gathered from equal shards of whole blocks of 32; one rank: dense.
AxisLayout wholeAxis(int64_t elements, int32_t lanes, int32_t ranks);

/// How a gathered value, or one that a stage is given, crosses the links: as
/// matrix units take it, if nothing else reads it.
flow::StreamType crossingType(mlir::Value value);
/// Whether a stage's result is for a stage, and not for the host.
bool isPassedOn(mlir::Value result);

/// Wires the model's `op` result layout: heads for attention, dense otherwise.
bool feedsAttention(mlir::Value value);

} // namespace orrery
