// Attention proper over one KV vector: scores, softmax, P.V, heads together.
#include "compiler/lower/AttentionLowering.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace orrery {

// Phase by phase over all KV vectors, not one after another: a plane takes its
// tiles in program order, and scores must not wait for another vector's P.V.
void AttentionLowering::attend() {
  int32_t count = kv.vectors();
  SmallVector<Value> s;
  for (int32_t v = 0; v < count; ++v) {
    s.push_back(scores(v, loadQueries(v)));
  }
  for (int32_t v = 0; v < count; ++v) {
    appendValues(v);
  }
  for (int32_t v = 0; v < count; ++v) {
    probabilities(v, s[size_t(v)], maximum(v, s[size_t(v)]));
  }
  SmallVector<Value> o;
  for (int32_t v = 0; v < count; ++v) {
    o.push_back(weighted(v));
  }
  for (int32_t v = 0; v < count; ++v) {
    out.axis.isDense() ? packHeads(v, o[size_t(v)])
                       : keepSlots(v, o[size_t(v)]);
  }
}

// Burst order (tile, row within a slot, slot) of KV vector v.
flow::AccessAttr AttentionLowering::byTile(int32_t v, int64_t tile, int64_t row,
                                           int64_t slotStep, uint32_t offset) {
  return access(b.getContext(), {tiles, rowsPerSlot(), q.slotsIn(v)},
                {tile, row, slotStep}, offset);
}

// Row (k, g, t) is query vector (v, g) of token t with all but slot k zero.
Value AttentionLowering::loadQueries(int32_t v) {
  auto *context = b.getContext();
  int64_t tokens = f.tokens, slots = q.slotsIn(v);
  auto read = access(context, {tokens, group, slots}, {q.vectors(), 1, 0},
                     uint32_t(v * group));
  auto position = access(context, {tokens, group, slots}, {1, 0, 0});
  VectorBurst burst(b, uint32_t(rowsOf(v)));
  uint32_t y = rotated(burst, xq, swappedQ, read, position);
  if (slots > 1) {
    y = burst.grouped(flow::AluOp::Window, y, uint32_t(slot),
                      {uint32_t(rowsPerSlot()), uint32_t(slots)});
  }
  auto type = half ? flow::StreamType::F16 : flow::StreamType::A8;
  Value rows = f.alloc(rowsOf(v), type, sideOf(v));
  burst.output(y, type, {{rows, f.plain(rowsOf(v))}});
  burst.emit(location);
  return b.create<flow::LoadOp>(
      location, flow::LoadedType::get(context), rows, f.plain(rowsOf(v)),
      b.getI32IntegerAttr(int32_t(rowsOf(v))), b.getI32IntegerAttr(1),
      b.getI32IntegerAttr(sideOf(v)));
}

Value AttentionLowering::scores(int32_t v, Value loaded) {
  int64_t rows = rowsOf(v);
  Value s = f.alloc(tiles * rows, flow::StreamType::F32);
  b.create<flow::MatmulOp>(
      location, loaded, keys[size_t(v)], s, b.getI32IntegerAttr(planeOf(v)),
      b.getI32IntegerAttr(0), b.getI32IntegerAttr(int32_t(tiles)),
      b.getI32IntegerAttr(0), b.getI32IntegerAttr(f.layout.lanes),
      access(b.getContext(), {rows, tiles}, {1, rows}));
  return s;
}

// (dot * key scale) * 1/sqrt(head_dim)
uint32_t AttentionLowering::scaled(VectorBurst &burst, uint32_t s,
                                   uint32_t keyScale) {
  uint32_t dot = half ? s : burst.step(flow::AluOp::Mul, s, keyScale);
  float scale = 1.0f / std::sqrt(float(op.getHeadDim()));
  return burst.step(flow::AluOp::Mul, dot, burst.constant(scale));
}

Value AttentionLowering::maximum(int32_t v, Value s) {
  Value max = f.alloc(rowsOf(v), flow::StreamType::F32);
  auto group = uint32_t(tiles);
  VectorBurst burst(b, uint32_t(tiles * rowsOf(v)), group);
  uint32_t x = burst.input({s, byTile(v, rowsOf(v), 1, rowsPerSlot())});
  uint32_t d = half
                   ? 0
                   : burst.input({keyScales, byTile(v, op.getKvHeads(), 0, 1,
                                                    uint32_t(v * kv.slots()))});
  uint32_t kept =
      burst.keep(scaled(burst, x, d), -std::numeric_limits<float>::infinity(),
                 0, true, {group, uint32_t(f.tokens)}, {1, group});
  burst.output(kept, flow::StreamType::F32, {{max, f.plain(rowsOf(v))}},
               flow::Reduction::Max);
  burst.emit(location);
  return max;
}

void AttentionLowering::probabilities(int32_t v, Value s, Value max) {
  auto group = uint32_t(tiles);
  int64_t rows = rowsOf(v);
  auto type = half ? flow::StreamType::F16 : flow::StreamType::A8;
  weights.push_back(f.alloc(rows * tiles, type, sideOf(v)));
  sums.push_back(f.alloc(rows, flow::StreamType::F32));
  VectorBurst burst(b, uint32_t(tiles * rows), group);
  uint32_t x = burst.input({s, byTile(v, rows, 1, rowsPerSlot())});
  uint32_t m = burst.input({max, byTile(v, 0, 1, rowsPerSlot())});
  auto heads = byTile(v, op.getKvHeads(), 0, 1, uint32_t(v * kv.slots()));
  uint32_t dk = half ? 0 : burst.input({keyScales, heads});
  uint32_t dv = half ? 0 : burst.input({valueScales, heads});
  uint32_t shifted = burst.step(flow::AluOp::Sub, scaled(burst, x, dk), m);
  uint32_t p = burst.keep(burst.step(flow::AluOp::Exp, shifted), 0.0f, 0, true,
                          {group, uint32_t(f.tokens)}, {1, group});
  uint32_t a = half ? p : burst.step(flow::AluOp::Mul, p, dv);
  burst.output(a, type, {{weights.back(), f.plain(rows * tiles)}});
  burst.output(p, flow::StreamType::F32, {{sums.back(), f.plain(rows)}},
               flow::Reduction::SumExact);
  burst.emit(location);
}

Value AttentionLowering::weighted(int32_t v) {
  auto *context = b.getContext();
  int64_t rows = rowsOf(v);
  Value loaded = b.create<flow::LoadOp>(
      location, flow::LoadedType::get(context), weights[size_t(v)],
      access(context, {rows, tiles}, {tiles, 1}),
      b.getI32IntegerAttr(int32_t(rows)), b.getI32IntegerAttr(int32_t(tiles)),
      b.getI32IntegerAttr(sideOf(v)));
  Value o = f.alloc(rows, flow::StreamType::F32, sideOf(v));
  b.create<flow::MatmulOp>(
      location, loaded, values[size_t(v)], o, b.getI32IntegerAttr(planeOf(v)),
      b.getI32IntegerAttr(0), b.getI32IntegerAttr(1), b.getI32IntegerAttr(0),
      b.getI32IntegerAttr(kv.used(v)), f.plain(rows));
  return o;
}

// Head_dim a multiple of 32: heads stay in their slots, and the next matrix
// has its columns in that order. Lanes past the last slot are zero.
void AttentionLowering::keepSlots(int32_t v, Value o) {
  auto *context = b.getContext();
  int64_t tokens = f.tokens;
  for (int32_t k = 0; k < q.slotsIn(v); ++k) {
    auto read = access(context, {tokens, group}, {1, tokens},
                       uint32_t(k * rowsPerSlot()));
    auto write =
        access(context, {tokens, group}, {q.vectors(), 1}, uint32_t(v * group));
    int32_t end = k + 1 == q.slotsIn(v) ? f.layout.lanes : (k + 1) * slot;
    VectorBurst burst(b, uint32_t(rowsPerSlot()));
    uint32_t x = burst.input({o, read}),
             z = burst.input({sums[size_t(v)], read});
    burst.output(
        burst.step(flow::AluOp::Div, x, z), flow::StreamType::F32,
        {{out.f32, withLanes(write, uint32_t(k * slot), uint32_t(end))}});
    burst.emit(location);
  }
}

// Otherwise blocks of 32 straddle heads: the f32 values are put side by side
// before they are quantized.
void AttentionLowering::packHeads(int32_t v, Value o) {
  auto *context = b.getContext();
  int64_t rows = rowsOf(v), tokens = f.tokens;
  Value divided = f.alloc(rows, flow::StreamType::F32, sideOf(v));
  VectorBurst burst(b, uint32_t(rows));
  uint32_t x = burst.input({o, f.plain(rows)});
  uint32_t z = burst.input({sums[size_t(v)], f.plain(rows)});
  burst.output(burst.step(flow::AluOp::Div, x, z), flow::StreamType::F32,
               {{divided, f.plain(rows)}});
  burst.emit(location);

  int32_t lanes = f.layout.lanes, dim = q.headDim;
  for (int64_t row = 0; row < q.slotsIn(v) * group; ++row) {
    auto k = int32_t(row / group);
    int32_t head = (v * q.slots() + k) * group + int32_t(row % group);
    int32_t first = head * dim, last = first + dim;
    for (int32_t j = first / lanes; j * lanes < last; ++j) {
      // Only this vector's elements: what else would come into the lanes past
      // the last element would count in their block's greatest value.
      SmallVector<int32_t> map(size_t(lanes), -1);
      for (int32_t d = std::max(0, j * lanes - first); d < dim; ++d) {
        if (first + d < (j + 1) * lanes) {
          map[size_t(first + d - j * lanes)] = k * slot + d;
        }
      }
      // One op a destination vector: two writes of one burst would meet at
      // the same write port.
      int32_t low = std::max(first - j * lanes, 0);
      int32_t high = last == q.elements && (j + 1) * lanes >= last
                         ? lanes
                         : std::min(last - j * lanes, lanes);
      auto write = access(context, {tokens}, {out.axis.vectors()}, uint32_t(j));
      b.create<flow::PermuteOp>(
          location, divided, out.f32, b.getDenseI32ArrayAttr(map),
          access(context, {tokens}, {1}, uint32_t(row * tokens)),
          b.getArrayAttr({withLanes(write, uint32_t(low), uint32_t(high))}),
          b.getI32IntegerAttr(sideOf(v)));
    }
  }
}

} // namespace orrery
