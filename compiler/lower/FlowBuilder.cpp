// Ops that act on each element alone: embedding, norms, residuals, gates.
#include "compiler/lower/FlowBuilder.h"

#include "compiler/lower/Crossing.h"

#include "llvm/ADT/TypeSwitch.h"

#include <limits>

using namespace mlir;

namespace orrery {

static bool usedByLinear(Value value, bool half) {
  return llvm::any_of(value.getUsers(), [&](mlir::Operation *user) {
    auto linear = dyn_cast<llm::LinearOp>(user);
    return linear && (linear.getFormat() == llm::WeightFormat::F16) == half;
  });
}

// A relay's result for what it takes.
static Value passedOnAs(Value value, mlir::Operation *user) {
  auto stage = dyn_cast<grid::StageOp>(user->getParentOp());
  if (!stage || !stage.isRelay()) {
    return {};
  }
  auto operands = user->getOperands();
  return stage.getResult(
      unsigned(llvm::find(operands, value) - operands.begin()));
}

flow::StreamType crossingType(Value value) {
  std::optional<flow::StreamType> type;
  for (mlir::Operation *user : value.getUsers()) {
    auto wanted = flow::StreamType::F32;
    if (auto linear = dyn_cast<llm::LinearOp>(user)) {
      wanted = linear.getFormat() == llm::WeightFormat::F16
                   ? flow::StreamType::F16
                   : flow::StreamType::A8;
    } else if (auto gather = dyn_cast<grid::AllGatherOp>(user)) {
      wanted = crossingType(gather.getResult());
    } else if (Value on = passedOnAs(value, user)) {
      wanted = crossingType(on);
    }
    if (type && *type != wanted) {
      return flow::StreamType::F32;
    }
    type = wanted;
  }
  return type.value_or(flow::StreamType::F32);
}

bool isPassedOn(Value result) {
  return llvm::any_of(result.getUsers(), [](mlir::Operation *user) {
    return user->getParentOfType<grid::StageOp>() != nullptr;
  });
}

// How a use wants a value to leave the chip; none: it stays.
static std::optional<flow::StreamType> leavesAs(OpOperand &use) {
  if (auto gather = dyn_cast<grid::AllGatherOp>(use.getOwner())) {
    return crossingType(gather.getResult());
  }
  if (isa<grid::YieldOp>(use.getOwner())) {
    Value result =
        use.getOwner()->getParentOp()->getResult(use.getOperandNumber());
    return isPassedOn(result) ? crossingType(result) : flow::StreamType::F32;
  }
  return std::nullopt;
}

bool feedsAttention(Value value) {
  return usedBy<llm::RopeOp>(value) || usedBy<llm::AttentionOp>(value);
}

LogicalResult FlowBuilder::lower(mlir::Operation *op) {
  if (failed(verifyOperands(op))) {
    return failure();
  }
  return llvm::TypeSwitch<mlir::Operation *, LogicalResult>(op)
      .Case([&](llm::EmbedOp o) { return lowerEmbed(o); })
      .Case([&](llm::RmsNormOp o) { return lowerNorm(o); })
      .Case([&](llm::LinearOp o) { return lowerLinear(o); })
      .Case([&](llm::RopeOp o) { return lowerRope(o); })
      .Case([&](llm::AttentionOp o) { return lowerAttention(o); })
      .Case([&](llm::AddOp o) { return lowerAdd(o); })
      .Case([&](llm::GatedOp o) { return lowerGated(o); })
      .Case([&](llm::ArgmaxOp o) { return lowerArgmax(o); })
      .Case([&](grid::AllGatherOp o) { return lowerAllGather(o); })
      .Case([&](grid::OwnOp o) { return lowerOwn(o); })
      .Case([&](grid::ReduceScatterOp o) { return lowerReduceScatter(o); })
      .Case([&](grid::AllReduceOp o) { return lowerAllReduce(o); })
      .Case([&](grid::ArgmaxOp o) { return lowerBest(o); })
      .Default([](mlir::Operation *o) {
        return o->emitOpError("has no lowering to flow");
      });
}

Value FlowBuilder::alloc(int64_t vectors, flow::StreamType type, int32_t side) {
  auto buffer = flow::BufferType::get(b.getContext(), uint32_t(vectors), type);
  return b.create<flow::AllocOp>(b.getUnknownLoc(), buffer,
                                 b.getI32IntegerAttr(side), UnitAttr(),
                                 flow::PlaceAttr());
}

Value FlowBuilder::table(StringRef name, const AxisLayout &axis) {
  Value &memory = tables[name];
  if (!memory) {
    auto op = b.create<flow::RegionOp>(
        b.getUnknownLoc(),
        flow::BufferType::get(b.getContext(), uint32_t(axis.vectors()),
                              flow::StreamType::F32),
        name, flow::Kind::Table);
    op.setRowsAttr(axis.attr(b.getContext()));
    memory = op.getMemory();
  }
  return memory;
}

flow::AccessAttr FlowBuilder::part(int64_t first, int64_t vectors) {
  return access(b.getContext(), {vectors}, {1}, uint32_t(first));
}
flow::AccessAttr FlowBuilder::all(const Rows &rows) {
  return plain(tokens * rows.axis.vectors());
}

LogicalResult FlowBuilder::lowerEmbed(llm::EmbedOp op) {
  auto width = op.getResult().getType().getDimSize(1);
  Rows rows{.axis = wholeAxis(width, layout.lanes, group.ranks)};
  rows.f32 = alloc(tokens * rows.axis.vectors(), flow::StreamType::F32);
  b.create<flow::ReceiveOp>(op.getLoc(), rows.f32,
                            rows.axis.attr(b.getContext()));
  define(op.getResult(), rows);
  return success();
}

// Adds outputs for every form in which `value` is used, and emits the burst.
void FlowBuilder::emitRows(Rows &rows, Value value, VectorBurst &burst,
                           uint32_t result, Location location) {
  int64_t vectors = tokens * rows.axis.vectors();
  auto both = [&](Value(&sides)[2], flow::StreamType type) {
    for (int32_t side : {0, 1}) {
      sides[side] = alloc(vectors, type, side);
      burst.output(result, type, {{sides[side], plain(vectors)}});
    }
  };
  if (usedByLinear(value, false)) {
    both(rows.quantized, flow::StreamType::A8);
  }
  if (usedByLinear(value, true)) {
    both(rows.half, flow::StreamType::F16);
  }
  bool elsewhere = value.use_empty();
  for (OpOperand &use : value.getUses()) {
    auto type = leavesAs(use).value_or(flow::StreamType::F32);
    if (type != flow::StreamType::F32 && !rows.crossing) {
      rows.crossing = alloc(vectors, type, kLinkSide);
      burst.output(result, type, {{rows.crossing, plain(vectors)}});
    }
    // A gather copies the own shard out of the f32 rows.
    bool sent = isa<grid::YieldOp>(use.getOwner()) && rows.crossing &&
                typeOf(rows.crossing) == type;
    elsewhere |= !sent && !isa<llm::LinearOp>(use.getOwner());
  }
  if (elsewhere) {
    rows.f32 = alloc(vectors, flow::StreamType::F32);
    burst.output(result, flow::StreamType::F32, {{rows.f32, plain(vectors)}});
  }
  burst.emit(location);
}

Value FlowBuilder::sumSquares(Rows &rows, Location location) {
  if (!rows.sumSquares) {
    auto vectors = uint32_t(rows.axis.vectors());
    rows.sumSquares = alloc(tokens, flow::StreamType::F32);
    VectorBurst burst(b, uint32_t(tokens) * vectors, vectors);
    uint32_t x = burst.input({rows.f32, all(rows)});
    burst.output(burst.step(flow::AluOp::Mul, x, x), flow::StreamType::F32,
                 {{rows.sumSquares, plain(tokens)}}, flow::Reduction::SumWide);
    burst.emit(location);
  }
  return rows.sumSquares;
}

// y = (x * 1/sqrt(sum/n + eps)) * w, in the order of 3-numerics.md, rule 7.
LogicalResult FlowBuilder::lowerNorm(llm::RmsNormOp op) {
  Rows &in = rowsOf(op.getX());
  int64_t vectors = in.axis.vectors();
  Value sum = sumSquares(in, op.getLoc());
  Value weight = table(op.getWeight(), in.axis);
  auto *context = b.getContext();
  VectorBurst burst(b, uint32_t(tokens * vectors));
  uint32_t x = burst.input({in.f32, all(in)});
  uint32_t w =
      burst.input({weight, access(context, {vectors, tokens}, {1, 0})});
  uint32_t s = burst.input({sum, access(context, {vectors, tokens}, {0, 1})});
  uint32_t mean =
      burst.step(flow::AluOp::Div, s, burst.constant(float(in.axis.count())));
  uint32_t shifted = burst.step(flow::AluOp::Add, mean,
                                burst.constant(op.getEps().convertToFloat()));
  uint32_t root = burst.step(flow::AluOp::Sqrt, shifted);
  uint32_t r = burst.step(flow::AluOp::Div, burst.constant(1.0f), root);
  uint32_t y =
      burst.step(flow::AluOp::Mul, burst.step(flow::AluOp::Mul, x, r), w);
  Rows out{.axis = in.axis};
  emitRows(out, op.getResult(), burst, y, op.getLoc());
  define(op.getResult(), out);
  return success();
}

// The residual sum also gives the sum of squares the next norm needs.
LogicalResult FlowBuilder::lowerAdd(llm::AddOp op) {
  Rows &a = rowsOf(op.getA());
  Rows &c = rowsOf(op.getB());
  bool norm = usedBy<llm::RmsNormOp>(op.getResult());
  auto vectors = uint32_t(a.axis.vectors());
  VectorBurst burst(b, uint32_t(tokens) * vectors, norm ? vectors : 1);
  uint32_t x = burst.input({a.f32, all(a)});
  uint32_t y = burst.input({c.f32, all(c)});
  uint32_t sum = burst.step(flow::AluOp::Add, x, y);
  Rows out{.axis = a.axis};
  if (norm) {
    out.sumSquares = alloc(tokens, flow::StreamType::F32);
    burst.output(burst.step(flow::AluOp::Mul, sum, sum), flow::StreamType::F32,
                 {{out.sumSquares, plain(tokens)}}, flow::Reduction::SumWide);
  }
  emitRows(out, op.getResult(), burst, sum, op.getLoc());
  define(op.getResult(), out);
  return success();
}

LogicalResult FlowBuilder::lowerGated(llm::GatedOp op) {
  Rows &gate = rowsOf(op.getGate());
  Rows &up = rowsOf(op.getUp());
  VectorBurst burst(b, uint32_t(tokens * gate.axis.vectors()));
  uint32_t g = burst.input({gate.f32, all(gate)});
  uint32_t u = burst.input({up.f32, all(up)});
  uint32_t y =
      burst.step(flow::AluOp::Mul, burst.step(flow::AluOp::Silu, g), u);
  Rows out{.axis = gate.axis};
  emitRows(out, op.getResult(), burst, y, op.getLoc());
  define(op.getResult(), out);
  return success();
}

// Padded lanes may never win: they are put at minus infinity.
LogicalResult FlowBuilder::lowerArgmax(llm::ArgmaxOp op) {
  Rows &in = rowsOf(op.getLogits());
  auto vectors = uint32_t(in.axis.vectors());
  Value best = alloc(tokens, flow::StreamType::F32);
  VectorBurst burst(b, uint32_t(tokens) * vectors, vectors);
  uint32_t x = burst.input({in.f32, all(in)});
  uint32_t kept =
      burst.keep(x, -std::numeric_limits<float>::infinity(),
                 uint32_t(in.axis.elements), false, {}, {1, vectors});
  burst.output(kept, flow::StreamType::F32, {{best, plain(tokens)}},
               flow::Reduction::ArgMax);
  burst.emit(op.getLoc());
  sent = best;
  return success();
}

// A value that somebody needs leaves for the next stage; the step's own results
// are read by the host.
LogicalResult FlowBuilder::finish(grid::StageOp stage) {
  mlir::Operation *terminator = stage.getBody().front().getTerminator();
  if (failed(verifyLinkRoom(stage))) {
    return failure();
  }
  for (auto [result, value] :
       llvm::zip_equal(stage.getResults(), terminator->getOperands())) {
    auto found = values.find(value);
    if (found == values.end()) {
      continue; // argmax: sent below
    }
    Rows &rows = found->second;
    if (isPassedOn(result)) {
      sendToStage(rows, crossingType(result), terminator->getLoc());
      continue;
    }
    // Heads lie apart in their slots: whoever asked for them gets all lanes.
    int32_t vectors = rows.axis.vectors();
    int32_t elements = rows.axis.isDense() && rows.axis.ranks == 1
                           ? rows.axis.elements
                           : vectors * layout.lanes;
    b.create<flow::LogitsOp>(terminator->getLoc(), rows.f32,
                             b.getI32IntegerAttr(vectors),
                             b.getI32IntegerAttr(elements));
    if (!sent) {
      return terminator->emitOpError("a step must return an llm.argmax");
    }
  }
  if (sent) {
    b.create<flow::SendOp>(terminator->getLoc(), sent);
  }
  return success();
}

} // namespace orrery
