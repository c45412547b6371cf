// Around attention: caches, RoPE's swapped pairs, and appending K and V.
#include "compiler/lower/AttentionLowering.h"

#include "machine/Timing.h"

using namespace mlir;

namespace orrery {

// The rotation itself is done where attention reads q and k.
LogicalResult FlowBuilder::lowerRope(llm::RopeOp op) {
  define(op.getResult(), rowsOf(op.getX()));
  return success();
}

LogicalResult FlowBuilder::lowerAttention(llm::AttentionOp op) {
  AttentionLowering lowering(*this, op);
  return lowering.run();
}

AttentionLowering::AttentionLowering(FlowBuilder &f, llm::AttentionOp op)
    : f(f), b(f.b), op(op), ropeQ(op.getQ().getDefiningOp<llm::RopeOp>()),
      ropeK(op.getK().getDefiningOp<llm::RopeOp>()),
      q(AxisLayout::ofHeads(int32_t(op.getHeads()), int32_t(op.getKvHeads()),
                            int32_t(op.getHeadDim()), f.layout.lanes)),
      kv(AxisLayout::ofHeads(int32_t(op.getKvHeads()), int32_t(op.getKvHeads()),
                             int32_t(op.getHeadDim()), f.layout.lanes)),
      group(q.group()), slot(q.slot()), layer(int32_t(op.getLayer())),
      tiles(f.bucket / f.layout.lanes),
      allTiles((f.context + f.layout.lanes - 1) / f.layout.lanes),
      half(op.getKvFormat() == llm::KvFormat::F16),
      element(half ? flow::StreamType::F16 : flow::StreamType::I8),
      location(op.getLoc()) {}

LogicalResult AttentionLowering::verifyFits() {
  if (slot > f.layout.lanes) {
    return op.emitOpError("head_dim ")
           << op.getHeadDim() << " needs " << slot << " lanes, the chip has "
           << f.layout.lanes;
  }
  if (f.bucket % f.layout.lanes != 0 || tiles < 1) {
    return op.emitOpError("bucket ") << f.bucket << " is not a multiple of "
                                     << f.layout.lanes << " lanes";
  }
  if (!ropeQ || !ropeK || !f.cosines) {
    return op.emitOpError("expects q and k straight from llm.rope");
  }
  int64_t entries = rowsOf(0) * std::max<int64_t>(tiles, 1);
  if (entries > f.machine.matrix.activationVectors) {
    return op.emitOpError("needs ")
           << entries << " activation vectors, a plane holds "
           << f.machine.matrix.activationVectors;
  }
  return success();
}

LogicalResult AttentionLowering::run() {
  if (failed(verifyFits())) {
    return failure();
  }
  xq = f.rowsOf(op.getQ()).f32;
  xk = f.rowsOf(op.getK()).f32;
  xv = f.rowsOf(op.getV()).f32;
  out.axis = op.getHeadDim() % 32 == 0
                 ? q
                 : AxisLayout::dense(q.elements, f.layout.lanes);
  out.f32 = f.alloc(f.tokens * out.axis.vectors(), flow::StreamType::F32);
  openCaches();
  swapPairs();
  for (int32_t v = 0; v < kv.vectors(); ++v) {
    appendKeys(v);
  }
  attend();
  VectorBurst burst(b, uint32_t(f.tokens * out.axis.vectors()));
  uint32_t x = burst.input({out.f32, f.all(out)});
  Rows rows{.axis = out.axis};
  f.emitRows(rows, op.getResult(), burst, x, location);
  f.define(op.getResult(), rows);
  return success();
}

// Cosines and sines are rows of the step, not a table of all positions: that
// would take two f32 vectors a position in every chip.
void FlowBuilder::receiveRope(llm::RopeOp rope, const AxisLayout &axis,
                              bool fromHost) {
  int32_t cable = 0;
  for (auto [rows, name] : {std::pair(&cosines, "cos"), {&sines, "sin"}}) {
    *rows = alloc(tokens, flow::StreamType::F32);
    rows->getDefiningOp<flow::AllocOp>().setHeld(true);
    if (fromHost) {
      auto op = b.create<flow::ReceiveOp>(rope.getLoc(), *rows,
                                          axis.attr(b.getContext()));
      op.setRope(StringRef(name));
      op.setRopeThetaAttr(b.getF64FloatAttr(rope.getTheta().convertToDouble()));
      op.setRopeDim(int32_t(rope.getRopeDim()));
      op.setRopeHalf(rope.getPairing() == llm::RopePairing::Half);
    } else {
      receiveRows(*rows, {plain(tokens)}, cable++, rope.getLoc());
    }
  }
}

void FlowBuilder::passRopeOn(Location location) {
  int32_t cable = 0;
  for (Value rows : {cosines, sines}) {
    b.create<flow::LinkSendOp>(
        location, rows, b.getDenseI32ArrayAttr({group.pipelineLink(cable++)}),
        plain(tokens));
  }
}

// Scale caches: vector (chunk, KV head), lane = position in the chunk.
void AttentionLowering::openCaches() {
  if (half) {
    return;
  }
  auto type = flow::BufferType::get(b.getContext(),
                                    uint32_t(allTiles * op.getKvHeads()),
                                    flow::StreamType::F16);
  std::string layer = "kv." + std::to_string(op.getLayer());
  keyScales = b.create<flow::RegionOp>(location, type, layer + ".k_scale",
                                       flow::Kind::Kv);
  valueScales = b.create<flow::RegionOp>(location, type, layer + ".v_scale",
                                         flow::Kind::Kv);
}

// Each lane gets the other element of its pair.
void AttentionLowering::swapPairs() {
  SmallVector<int32_t> map(size_t(f.layout.lanes), -1);
  auto dim = int32_t(ropeK.getRopeDim());
  bool halves = ropeK.getPairing() == llm::RopePairing::Half;
  for (int32_t lane = 0; lane < kv.slots() * slot; ++lane) {
    int32_t d = lane % slot;
    int32_t partner =
        halves ? (d < dim / 2 ? d + dim / 2 : d - dim / 2) : d ^ 1;
    map[size_t(lane)] = d < dim ? lane - d + partner : lane;
  }
  auto swap = [&](Value x, int64_t vectors, int32_t at) {
    Value swapped = f.alloc(vectors, flow::StreamType::F32);
    b.create<flow::PermuteOp>(
        location, x, swapped, b.getDenseI32ArrayAttr(map), f.plain(vectors),
        b.getArrayAttr({f.plain(vectors)}), b.getI32IntegerAttr(at));
    return swapped;
  };
  swappedK = swap(xk, f.tokens * kv.vectors(), 1);
  swappedQ = swap(xq, f.tokens * q.vectors(), 0);
}

// x * cos + swapped * sin, where the table's sine carries the pair's sign.
uint32_t AttentionLowering::rotated(VectorBurst &burst, Value x, Value swapped,
                                    flow::AccessAttr read,
                                    flow::AccessAttr position) {
  uint32_t a = burst.input({x, read}), s = burst.input({swapped, read});
  uint32_t c = burst.input({f.cosines, position});
  uint32_t n = burst.input({f.sines, position});
  uint32_t turned = burst.step(flow::AluOp::Mul, a, c);
  return burst.step(flow::AluOp::Add, turned,
                    burst.step(flow::AluOp::Mul, s, n));
}

void AttentionLowering::appendKeys(int32_t v) {
  auto *context = b.getContext();
  auto width = uint32_t(f.layout.kvWidth);
  auto lanes = uint32_t(f.layout.lanes);
  auto format = half ? flow::Format::F16 : flow::Format::I8;
  auto region = b.create<flow::RegionOp>(
      location,
      flow::TilesType::get(context, uint32_t(allTiles), format, lanes, width),
      "kv." + std::to_string(op.getLayer()) + ".k." + std::to_string(v),
      flow::Kind::Kv);
  region.setSide(sideOf(v));
  keys.push_back(region.getMemory());
  int64_t vectors = kv.vectors(), tokens = f.tokens;
  VectorBurst burst(b, uint32_t(tokens));
  uint32_t y = rotated(burst, xk, swappedK,
                       access(context, {tokens}, {vectors}, uint32_t(v)),
                       access(context, {tokens}, {1}));
  uint32_t code =
      half ? y : burst.grouped(flow::AluOp::KvCode, y, uint32_t(slot));
  auto write =
      withStripe(access(context, {tokens}, {0}), half ? 2 : 1,
                 tileCycles(flow::machineFormat(format), lanes, width), 0);
  burst.output(code, element, {{keys.back(), write}});
  burst.emit(location);
  if (!half) {
    appendScales(v, true);
  }
}

void AttentionLowering::appendValues(int32_t v) {
  auto *context = b.getContext();
  auto format = half ? flow::Format::F16 : flow::Format::I8;
  int32_t rows = kv.used(v);
  auto region = b.create<flow::RegionOp>(
      location,
      flow::TilesType::get(context, uint32_t(allTiles), format, uint32_t(rows),
                           uint32_t(f.layout.kvWidth)),
      "kv." + std::to_string(op.getLayer()) + ".v." + std::to_string(v),
      flow::Kind::Kv);
  region.setSide(sideOf(v));
  values.push_back(region.getMemory());
  int64_t tokens = f.tokens;
  Value codes = f.alloc(tokens, element, sideOf(v));
  VectorBurst burst(b, uint32_t(tokens));
  uint32_t x =
      burst.input({xv, access(context, {tokens}, {kv.vectors()}, uint32_t(v))});
  uint32_t code =
      half ? x : burst.grouped(flow::AluOp::KvCode, x, uint32_t(slot));
  burst.output(code, element, {{codes, f.plain(tokens)}});
  burst.emit(location);
  b.create<flow::TransposeOp>(location, codes, values.back(),
                              b.getI32IntegerAttr(int32_t(tokens)),
                              b.getI32IntegerAttr(rows),
                              b.getI32IntegerAttr(sideOf(v)), f.plain(tokens));
  if (!half) {
    appendScales(v, false);
  }
}

// Row (k, t): the scale of slot k of token t in every lane, of which the write
// keeps the token's.
void AttentionLowering::appendScales(int32_t v, bool key) {
  auto *context = b.getContext();
  int64_t tokens = f.tokens, slots = kv.slotsIn(v), vectors = kv.vectors();
  VectorBurst burst(b, uint32_t(tokens * slots));
  auto read = access(context, {tokens, slots}, {vectors, 0}, uint32_t(v));
  uint32_t y = key ? rotated(burst, xk, swappedK, read,
                             access(context, {tokens, slots}, {1, 0}))
                   : burst.input({xv, read});
  uint32_t scale = burst.grouped(flow::AluOp::KvScale, y, uint32_t(slot));
  uint32_t row = burst.grouped(flow::AluOp::Splat, scale, uint32_t(slot),
                               {uint32_t(tokens), uint32_t(slots)});
  auto write =
      access(context, {tokens, slots}, {0, 1}, uint32_t(v * kv.slots()));
  write = withDynamic(write, flow::Dynamic::Chunk, uint32_t(op.getKvHeads()));
  write = withTokens(write, flow::Mask::TokenLane, 0);
  burst.output(row, flow::StreamType::F16,
               {{key ? keyScales : valueScales, write}});
  burst.emit(location);
}

} // namespace orrery
