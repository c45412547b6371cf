// llm.linear: rows of the weight matrix divided over the planes.
//
// Output vector j needs the weight rows of its lanes; DealRows.h says which
// plane makes which. No row is computed twice and no sum is cut.
#include "compiler/lower/FlowBuilder.h"

#include "machine/Timing.h"

#include <algorithm>
#include <map>

using namespace mlir;

namespace orrery {

AxisLayout FlowBuilder::resultAxis(llm::LinearOp op) {
  auto width = int32_t(op.getResult().getType().getDimSize(1));
  for (mlir::Operation *user : op.getResult().getUsers()) {
    if (auto rope = dyn_cast<llm::RopeOp>(user)) {
      for (mlir::Operation *next : rope.getResult().getUsers()) {
        if (auto attention = dyn_cast<llm::AttentionOp>(next)) {
          return AxisLayout::ofHeads(int32_t(rope.getHeads()),
                                     int32_t(attention.getKvHeads()),
                                     int32_t(rope.getHeadDim()), layout.lanes);
        }
      }
    }
    if (auto attention = dyn_cast<llm::AttentionOp>(user)) {
      bool query = attention.getQ() == op.getResult();
      return AxisLayout::ofHeads(
          int32_t(query ? attention.getHeads() : attention.getKvHeads()),
          int32_t(attention.getKvHeads()), int32_t(attention.getHeadDim()),
          layout.lanes);
    }
  }
  return AxisLayout::dense(width, layout.lanes);
}

// Rows that no VXM op made for a matrix unit: an embedding's, a matrix's own.
void FlowBuilder::copyOut(Rows &rows, bool half, Location location) {
  Value(&copies)[2] = half ? rows.half : rows.quantized;
  auto type = half ? flow::StreamType::F16 : flow::StreamType::A8;
  int64_t vectors = tokens * rows.axis.vectors();
  VectorBurst burst(b, uint32_t(vectors));
  uint32_t x = burst.input({rows.f32, all(rows)});
  for (int32_t side : {0, 1}) {
    copies[side] = alloc(vectors, type, side);
    burst.output(x, type, {{copies[side], plain(vectors)}});
  }
  burst.emit(location);
}

// Both hemispheres' planes get the same rows; once per value and format.
void FlowBuilder::load(Rows &rows, bool half, Location location) {
  Value(&loaded)[2] = half ? rows.loadedHalf : rows.loaded;
  Value(&source)[2] = half ? rows.half : rows.quantized;
  if (loaded[0]) {
    return;
  }
  if (!source[0]) {
    copyOut(rows, half, location);
  }
  int64_t inner = rows.axis.vectors();
  for (int32_t side : {0, 1}) {
    auto read = access(b.getContext(), {tokens, inner}, {inner, 1});
    loaded[side] = b.create<flow::LoadOp>(
        location, flow::LoadedType::get(b.getContext()), source[side], read,
        b.getI32IntegerAttr(int32_t(tokens)),
        b.getI32IntegerAttr(int32_t(inner)), b.getI32IntegerAttr(side));
  }
}

static flow::Format tileFormat(llm::WeightFormat format) {
  switch (format) {
  case llm::WeightFormat::Q8_0:
    return flow::Format::Q8;
  case llm::WeightFormat::Q4_0:
    return flow::Format::Q4;
  case llm::WeightFormat::F16:
    return flow::Format::F16;
  }
  llvm_unreachable("covered");
}

// Vectors that each slice of a group holds of one output vector's weights.
static int64_t vectorsPerSlice(const Machine &machine, llm::LinearOp op,
                               int32_t rows, int32_t inner) {
  return int64_t(inner) *
         tileCycles(flow::machineFormat(tileFormat(op.getFormat())),
                    uint32_t(rows), uint32_t(machine.matrix.installStreams));
}

// The weights of lanes [low, high) of `count` vectors from `first` of `rows`.
flow::RegionOp FlowBuilder::weightsOf(llm::LinearOp op, const Rows &in,
                                      const AxisLayout &rows,
                                      const RowPiece &piece) {
  int32_t inner = in.axis.vectors();
  auto type = flow::TilesType::get(
      b.getContext(), uint32_t(piece.count * inner), tileFormat(op.getFormat()),
      uint32_t(piece.high - piece.low), uint32_t(layout.groupWidth));
  auto weights = b.create<flow::RegionOp>(op.getLoc(), type, op.getWeight(),
                                          flow::Kind::Weight);
  weights.setSide(layout.sideOfPlane(piece.plane));
  weights.setRowsAttr(rows.attr(b.getContext()));
  weights.setColumnsAttr(in.axis.attr(b.getContext()));
  weights.setFirst(piece.first);
  weights.setLow(piece.low);
  if (grid::ShardAttr shard = grid::shardOf(op)) {
    weights.setShardOf(int32_t(shard.getOf()));
    weights.setReplicas(int32_t(shard.getReplicas()));
  }
  return weights;
}

// On one plane. The last piece of a vector also writes the zeros beyond it.
void FlowBuilder::emitPiece(llm::LinearOp op, const Rows &in, const Rows &out,
                            const RowPiece &p) {
  bool half = op.getFormat() == llm::WeightFormat::F16;
  int32_t side = layout.sideOfPlane(p.plane);
  auto write = access(b.getContext(), {tokens, p.count},
                      {out.axis.vectors(), 1}, uint32_t(p.first));
  int32_t end = p.lastOfVector ? layout.lanes : p.high;
  if (p.low != 0 || end != layout.lanes) {
    write = withLanes(write, uint32_t(p.low), uint32_t(end));
  }
  b.create<flow::MatmulOp>(
      op.getLoc(), half ? in.loadedHalf[side] : in.loaded[side],
      weightsOf(op, in, out.axis, p).getMemory(), out.f32,
      b.getI32IntegerAttr(p.plane), b.getI32IntegerAttr(0),
      b.getI32IntegerAttr(p.count), b.getI32IntegerAttr(p.low),
      b.getI32IntegerAttr(p.high), write);
}

LogicalResult FlowBuilder::verifyLoad(llm::LinearOp op, const Rows &in) {
  int64_t entries = tokens * in.axis.vectors();
  if (entries > machine.matrix.activationVectors) {
    return op.emitOpError("needs ")
           << entries << " activation vectors, a plane holds "
           << machine.matrix.activationVectors;
  }
  return success();
}

// Regions lie in one bank each; small ones pack better, so about an eighth of a
// bank.
LogicalResult FlowBuilder::cutShares(llm::LinearOp op, const Rows &in,
                                     std::vector<RowPiece> &pieces) {
  std::vector<RowPiece> cut;
  for (const RowPiece &piece : pieces) {
    int64_t each =
        vectorsPerSlice(machine, op, piece.high - piece.low, in.axis.vectors());
    int64_t depth = machine.sram.vectorsPerBank;
    if (each > depth) {
      return op.emitOpError("needs ")
             << each << " vectors a slice for the weights of one output "
             << "vector, a bank has " << depth;
    }
    auto chunk = int32_t(std::max<int64_t>(1, depth / 8 / each));
    for (int32_t j = 0; j < piece.count; j += chunk) {
      cut.push_back(piece);
      cut.back().first += j;
      cut.back().count = std::min(chunk, piece.count - j);
    }
  }
  pieces = std::move(cut);
  return success();
}

// The first of each plane, then the second of each: planes work at once, on
// weights that allocation puts into groups of slices by turns.
static void takeTurns(std::vector<RowPiece> &pieces) {
  std::map<int32_t, int32_t> turnOf; // by plane
  std::vector<std::pair<int32_t, RowPiece>> byTurn;
  for (const RowPiece &piece : pieces) {
    byTurn.push_back({turnOf[piece.plane]++, piece});
  }
  std::ranges::sort(byTurn, {}, [](const auto &entry) {
    return std::pair(entry.first, entry.second.plane);
  });
  for (size_t k = 0; k < pieces.size(); ++k) {
    pieces[k] = byTurn[k].second;
  }
}

LogicalResult FlowBuilder::dealPieces(llm::LinearOp op, const Rows &in,
                                      const AxisLayout &out, int32_t planes,
                                      std::vector<RowPiece> &pieces) {
  pieces = dealRows(out, planes);
  if (failed(cutShares(op, in, pieces))) {
    return failure();
  }
  takeTurns(pieces);
  return success();
}

LogicalResult FlowBuilder::lowerLinear(llm::LinearOp op) {
  if (grid::columnsOf(op)) { // with what adds its partials: LowerPartial.cpp
    define(op.getResult(), {.axis = resultAxis(op)});
    return success();
  }
  Rows &in = rowsOf(op.getX());
  bool half = op.getFormat() == llm::WeightFormat::F16;
  // An f16 tile takes both planes of a pair: one plane a hemisphere works.
  int32_t step = half ? layout.planesPerHemisphere : 1;
  int32_t planes = layout.planes() / step;
  if (failed(verifyLoad(op, in))) {
    return failure();
  }
  Rows out{.axis = resultAxis(op)};
  int32_t vectors = out.axis.vectors();
  out.f32 = alloc(tokens * vectors, flow::StreamType::F32);
  load(in, half, op.getLoc());

  std::vector<RowPiece> pieces;
  if (failed(dealPieces(op, in, out.axis, planes, pieces))) {
    return failure();
  }
  for (RowPiece p : pieces) {
    p.plane *= step;
    emitPiece(op, in, out, p);
  }
  define(op.getResult(), out);
  return success();
}

} // namespace orrery
