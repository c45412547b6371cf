#include "compiler/partition/RankBuilder.h"

#include "compiler/partition/ShardSizes.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace orrery::partition {

static RankedTensorType rowsLike(Value value, int64_t width) {
  auto type = cast<RankedTensorType>(value.getType());
  return RankedTensorType::get({type.getDimSize(0), width},
                               type.getElementType());
}
static int64_t widthOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getDimSize(1);
}

// "layer 3 attn_output" is gathered at "layer 3 attn_output gather".
static Location placed(Value value, StringRef what) {
  auto name = dyn_cast<NameLoc>(value.getLoc());
  return name ? Location(NameLoc::get(StringAttr::get(
                    value.getContext(), name.getName().str() + what.str())))
              : value.getLoc();
}

RankBuilder::RankBuilder(MLIRContext *context, Block &block, int64_t tp,
                         FormOf formOf)
    : b(context), tp(tp), formOf(std::move(formOf)) {
  b.setInsertionPointToEnd(&block);
}

void RankBuilder::enterWhole(Value value) { held[value] = {value, {}}; }

void RankBuilder::enterFromStage(Value value, Value given) {
  held[value] = tp == 1 ? Held{given, {}} : Held{{}, given};
}

Value RankBuilder::whole(Value value) {
  Held &h = held[value];
  if (!h.whole) {
    assert(h.shard && "an operand that no op before it gave");
    h.whole = b.create<grid::AllGatherOp>(placed(value, " gather"),
                                          value.getType(), h.shard);
  }
  return h.whole;
}

// Of a value's elements, not of heads: both summands must lie alike.
Value RankBuilder::ownShard(Value value) {
  if (Held h = held[value]; h.shard && !h.heads) {
    return h.shard;
  }
  Value all = whole(value);
  return b.create<grid::OwnOp>(placed(value, " own"),
                               rowsLike(value, shardWidth(widthOf(value), tp)),
                               all);
}

bool RankBuilder::onlyShard(Value value) const {
  Held h = held.lookup(value);
  return h.shard && !h.whole;
}

void RankBuilder::keep(mlir::Operation *op, mlir::Operation *made, bool shard,
                       bool heads) {
  for (auto [was, is] : llvm::zip_equal(op->getResults(), made->getResults())) {
    held[was] = shard ? Held{{}, is, heads} : Held{is, {}};
  }
}

Value RankBuilder::passOn(Value value) {
  return tp == 1 ? whole(value) : ownShard(value);
}

Value RankBuilder::result(Value value, grid::ShardAttr &shard) {
  if (!onlyShard(value)) {
    return whole(value);
  }
  Value own = held[value].shard;
  shard =
      grid::ShardAttr::get(value.getContext(), widthOf(own), widthOf(value), 1);
  return own;
}

LogicalResult RankBuilder::addWhole(mlir::Operation *op) {
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    mapping.map(operand, whole(operand));
  }
  keep(op, b.clone(*op, mapping), false);
  return success();
}

LogicalResult RankBuilder::add(mlir::Operation *op, bool passedOn) {
  if (tp == 1) {
    return addWhole(op);
  }
  return llvm::TypeSwitch<mlir::Operation *, LogicalResult>(op)
      .Case<llm::EmbedOp, llm::RmsNormOp>([&](auto o) { return addWhole(o); })
      .Case([&](llm::LinearOp o) { return addLinear(o); })
      .Case([&](llm::RopeOp o) { return addRope(o); })
      .Case([&](llm::AttentionOp o) { return addAttention(o); })
      .Case([&](llm::GatedOp o) { return addGated(o); })
      .Case([&](llm::AddOp o) { return addSum(o, passedOn); })
      .Case([&](llm::ArgmaxOp o) { return addArgmax(o); })
      .Default([](mlir::Operation *o) {
        return o->emitOpError("cannot be shared by tensor-parallel ranks");
      });
}

/// The attention that a product's rows are heads of, directly or turned by
/// RoPE; null: none.
static llm::AttentionOp attentionOf(Value rows, bool &query) {
  for (OpOperand &use : rows.getUses()) {
    if (auto rope = dyn_cast<llm::RopeOp>(use.getOwner())) {
      if (auto attention = attentionOf(rope.getResult(), query)) {
        return attention;
      }
    }
    if (auto attention = dyn_cast<llm::AttentionOp>(use.getOwner())) {
      query = use.getOperandNumber() == 0;
      return attention;
    }
  }
  return {};
}

static HeadShard localHeads(llm::AttentionOp op, int64_t tp) {
  return shardHeads(op.getHeads(), op.getKvHeads(), op.getHeadDim(), tp);
}

// The result is a partial on each rank, as wide as the whole.
LogicalResult RankBuilder::addPartial(llm::LinearOp op, ProductForm form) {
  Value x = held[op.getX()].shard;
  auto product =
      b.create<llm::LinearOp>(op.getLoc(), op.getResult().getType(), x,
                              op.getWeightAttr(), op.getFormatAttr());
  product->setAttr(
      grid::kColumnsAttr,
      grid::ShardAttr::get(op.getContext(), widthOf(x), widthOf(op.getX()), 1));
  Location location = placed(op.getResult(), " sum");
  Value partial = product.getResult();
  if (form == ProductForm::Reduce) {
    keep(op, b.create<grid::AllReduceOp>(location, partial.getType(), partial),
         false);
    return success();
  }
  auto shard = rowsLike(x, shardWidth(widthOf(op.getResult()), tp));
  keep(op, b.create<grid::ReduceScatterOp>(location, shard, partial), true);
  return success();
}

LogicalResult RankBuilder::addLinear(llm::LinearOp op) {
  if (formOf && onlyShard(op.getX())) {
    if (ProductForm form = formOf(op); form != ProductForm::Column) {
      return addPartial(op, form);
    }
  }
  int64_t rows = widthOf(op.getResult()), own = shardWidth(rows, tp);
  int64_t replicas = 1;
  bool query = false;
  auto attention = attentionOf(op.getResult(), query);
  if (attention) {
    HeadShard local = localHeads(attention, tp);
    own = (query ? local.heads : local.kvHeads) * attention.getHeadDim();
    replicas = query ? 1 : local.replicas;
  }
  Value x = whole(op.getX());
  auto made = b.create<llm::LinearOp>(op.getLoc(), rowsLike(x, own), x,
                                      op.getWeightAttr(), op.getFormatAttr());
  made->setAttr(grid::kShardAttr,
                grid::ShardAttr::get(op.getContext(), own, rows, replicas));
  keep(op, made, true, bool(attention));
  return success();
}

LogicalResult RankBuilder::addRope(llm::RopeOp op) {
  Held x = held[op.getX()];
  if (!x.shard || !x.heads) {
    return op.emitOpError("cannot be shared by tensor-parallel ranks: its rows "
                          "are not the heads of one llm.attention, straight "
                          "from an llm.linear");
  }
  auto made = cast<llm::RopeOp>(b.clone(*op));
  made.getXMutable().assign(x.shard);
  made.getResult().setType(cast<RankedTensorType>(x.shard.getType()));
  made.setHeads(widthOf(x.shard) / op.getHeadDim());
  keep(op, made, true, true);
  return success();
}

LogicalResult RankBuilder::addAttention(llm::AttentionOp op) {
  HeadShard local = localHeads(op, tp);
  Held q = held[op.getQ()], k = held[op.getK()], v = held[op.getV()];
  auto isHeads = [&](const Held &h, int64_t count) {
    return h.shard && h.heads && widthOf(h.shard) == count * op.getHeadDim();
  };
  if (!isHeads(q, local.heads) || !isHeads(k, local.kvHeads) ||
      !isHeads(v, local.kvHeads)) {
    return op.emitOpError("cannot be shared by tensor-parallel ranks: q, k and "
                          "v are not its own heads, from an llm.linear");
  }
  auto made = b.create<llm::AttentionOp>(
      op.getLoc(), q.shard.getType(), q.shard, k.shard, v.shard,
      op.getLayerAttr(), b.getI64IntegerAttr(local.heads),
      b.getI64IntegerAttr(local.kvHeads), op.getHeadDimAttr(),
      op.getKvFormatAttr(), op.getContextAttr());
  keep(op, made, true, true);
  return success();
}

LogicalResult RankBuilder::addGated(llm::GatedOp op) {
  Held gate = held[op.getGate()], up = held[op.getUp()];
  if (!gate.shard || !up.shard || gate.heads || up.heads) {
    return addWhole(op);
  }
  keep(op, b.create<llm::GatedOp>(op.getLoc(), gate.shard, up.shard), true);
  return success();
}

// Inside a stage the sum is what all ranks go on with, so all sum all of it.
LogicalResult RankBuilder::addSum(llm::AddOp op, bool passedOn) {
  if (!passedOn) {
    return addWhole(op);
  }
  Value a = ownShard(op.getA()), c = ownShard(op.getB());
  keep(op, b.create<llm::AddOp>(op.getLoc(), a, c), true);
  return success();
}

LogicalResult RankBuilder::addArgmax(llm::ArgmaxOp op) {
  if (!onlyShard(op.getLogits())) {
    return addWhole(op);
  }
  auto made = b.create<grid::ArgmaxOp>(
      op.getLoc(), op.getResult().getType(), held[op.getLogits()].shard,
      b.getI64IntegerAttr(widthOf(op.getLogits())));
  keep(op, made, false);
  return success();
}

} // namespace orrery::partition
