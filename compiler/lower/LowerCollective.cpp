// What the ranks of a group send each other.
//
// All ranks run one program, so everything is relative to the own rank: place s
// of a gathered value is the shard of the rank s before. When all chips are
// linked, link s carries the own shard to the rank s after; in a ring each
// shard is passed on, place s - 1 becoming place s of the next rank.
#include "compiler/lower/Crossing.h"
#include "compiler/lower/FlowBuilder.h"
#include "compiler/lower/LinkPieces.h"

using namespace mlir;

namespace orrery {

AxisLayout wholeAxis(int64_t elements, int32_t lanes, int32_t ranks) {
  if (ranks == 1) {
    return AxisLayout::dense(int32_t(elements), lanes);
  }
  int64_t blocks = (elements + 31) / 32;
  int64_t shard = (blocks + ranks - 1) / ranks * 32;
  return AxisLayout::dense(int32_t(shard), lanes)
      .gathered(ranks, int32_t(elements));
}

// Through the VXM, which also quantizes.
void FlowBuilder::copyOwnShard(const Rows &in, const AxisLayout::Run &run,
                               const AxisLayout &axis, flow::StreamType type,
                               ArrayRef<Value> to, Location location) {
  auto *context = b.getContext();
  int64_t count = run.count;
  VectorBurst burst(b, uint32_t(tokens * count));
  uint32_t x = burst.input(
      {in.f32, access(context, {tokens, count}, {in.axis.vectors(), 1},
                      uint32_t(run.first))});
  auto write = access(context, {tokens, count}, {axis.vectors(), run.step},
                      uint32_t(run.base));
  for (Value buffer : to) {
    burst.output(x, type, {{buffer, inPlace(write, run, 0, axis)}});
  }
  burst.emit(location);
}

// Places 1 .. ranks-1 of a run, out of the own shard in `own`. What a ring
// passes on of a shared vector waits in a buffer of its own: of the vector
// other places are still to come.
void FlowBuilder::exchange(Value own, const AxisLayout &axis,
                           const AxisLayout::Run &run, ArrayRef<Value> to,
                           Location location) {
  auto *context = b.getContext();
  int64_t room = machine.link.bufferVectors / streams(typeOf(own));
  auto send = [&](ArrayRef<int32_t> links, Value from, flow::AccessAttr read) {
    b.create<flow::LinkSendOp>(location, from, b.getDenseI32ArrayAttr(links),
                               read);
  };
  int64_t shard = axis.shardVectors(), all = axis.vectors();
  bool moves = run.sharing > 1;
  for (const LinkPiece &p : linkPieces(tokens, run.count, room)) {
    auto placeIn = [&](int32_t place) {
      return access(
          context, {p.tokens, p.vectors}, {all, run.step},
          uint32_t(p.token * all + run.vector(place) + p.vector * run.step));
    };
    auto ownIn = access(context, {p.tokens, p.vectors}, {shard, 1},
                        uint32_t(p.token * shard + run.first + p.vector));
    if (!group.ring) {
      send(llvm::to_vector(llvm::seq<int32_t>(1, axis.ranks)), own, ownIn);
    }
    Value passing = own;
    flow::AccessAttr passingIn = ownIn;
    for (int32_t place = 1; place < axis.ranks; ++place) {
      if (group.ring) {
        send({1}, passing, passingIn);
      }
      SmallVector<Value> outs(to);
      SmallVector<Attribute> writes(to.size(),
                                    inPlace(placeIn(place), run, place, axis));
      passing = to.back();
      passingIn = placeIn(place);
      if (group.ring && moves && place + 1 < axis.ranks) {
        passing = alloc(p.tokens * p.vectors, typeOf(own), kLinkSide);
        passingIn = plain(p.tokens * p.vectors);
        outs.push_back(passing);
        writes.push_back(passingIn);
      }
      int32_t from = group.ring && place > 1 ? run.lane(place - 1) : 0;
      b.create<flow::LinkReceiveOp>(
          location, outs, b.getI32IntegerAttr(group.ring ? 1 : place),
          b.getI32IntegerAttr(moves ? from : 0),
          b.getI32IntegerAttr(moves ? run.lane(place) : 0),
          b.getI32IntegerAttr(moves ? run.used : 0), b.getArrayAttr(writes));
    }
  }
}

// The rows that a gather makes, in the form that its users take.
FlowBuilder::Gathered FlowBuilder::beginGather(const Rows &in,
                                               grid::AllGatherOp op) {
  auto total = int32_t(op.getResult().getType().getDimSize(1));
  Gathered out{{.axis = in.axis.gathered(group.ranks, total)}, {}};
  flow::StreamType type = crossingType(op.getResult());
  int64_t vectors = tokens * out.rows.axis.vectors();
  if (type == flow::StreamType::F32) {
    out.buffers.push_back(out.rows.f32 = alloc(vectors, type));
    return out;
  }
  Value(&sides)[2] =
      type == flow::StreamType::A8 ? out.rows.quantized : out.rows.half;
  for (int32_t side : {0, 1}) {
    out.buffers.push_back(sides[side] = alloc(vectors, type, side));
  }
  return out;
}

// The rows as another chip takes them.
Value FlowBuilder::carried(Rows &rows, flow::StreamType type,
                           Location location) {
  if (type == flow::StreamType::F32) {
    return rows.f32;
  }
  if (!rows.crossing ||
      typeOf(rows.crossing) != type) { // a matrix's own result
    int64_t vectors = tokens * rows.axis.vectors();
    rows.crossing = alloc(vectors, type, kLinkSide);
    VectorBurst burst(b, uint32_t(vectors));
    uint32_t x = burst.input({rows.f32, plain(vectors)});
    burst.output(x, type, {{rows.crossing, plain(vectors)}});
    burst.emit(location);
  }
  return rows.crossing;
}

LogicalResult FlowBuilder::lowerAllGather(grid::AllGatherOp op) {
  Rows &in = rowsOf(op.getX());
  flow::StreamType type = crossingType(op.getResult());
  auto received = gathers.find(op.getX());
  bool placed = received != gathers.end(); // the own shard
  Gathered out = placed ? received->second : beginGather(in, op);
  Value own = carried(in, type, op.getLoc());
  for (const AxisLayout::Run &run : out.rows.axis.runs()) {
    if (!placed) {
      copyOwnShard(in, run, out.rows.axis, type, out.buffers, op.getLoc());
    }
    exchange(own, out.rows.axis, run, out.buffers, op.getLoc());
  }
  define(op.getResult(), out.rows);
  return success();
}

// Place 0; what shares its vectors is cleared.
LogicalResult FlowBuilder::lowerOwn(grid::OwnOp op) {
  Rows &in = rowsOf(op.getX());
  Rows out{.axis = in.axis.shard()};
  int64_t vectors = out.axis.vectors();
  out.f32 = alloc(tokens * vectors, flow::StreamType::F32);
  auto *context = b.getContext();
  for (const AxisLayout::Run &run : in.axis.runs()) {
    int64_t count = run.count;
    VectorBurst burst(b, uint32_t(tokens * count));
    uint32_t x = burst.input(
        {in.f32, access(context, {tokens, count}, {in.axis.vectors(), run.step},
                        uint32_t(run.base))});
    if (run.sharing > 1) {
      x = burst.keep(x, 0.0f, uint32_t(run.used), false, {}, {});
    }
    burst.output(x, flow::StreamType::F32,
                 {{out.f32, access(context, {tokens, count}, {vectors, 1},
                                   uint32_t(run.first))}});
    burst.emit(op.getLoc());
  }
  define(op.getResult(), out);
  return success();
}

// Each rank finds its own best, all exchange them, and each takes the best of
// all. Rows that the vocabulary does not have are at the lowest number.
LogicalResult FlowBuilder::lowerBest(grid::ArgmaxOp op) {
  Rows &in = rowsOf(op.getLogits());
  auto *context = b.getContext();
  auto vectors = uint32_t(in.axis.vectors());
  auto shardTable = [&](StringRef name, uint32_t length) {
    auto region = b.create<flow::RegionOp>(
        op.getLoc(),
        flow::BufferType::get(context, length, flow::StreamType::F32), name,
        flow::Kind::Table);
    region.setRowsAttr(in.axis.attr(context));
    region.setShardOf(int32_t(op.getVocab()));
    return region.getMemory();
  };
  Value mask = shardTable("argmax.mask", vectors);
  Value base = shardTable("argmax.base", 1);

  Value local = alloc(tokens, flow::StreamType::F32);
  VectorBurst find(b, uint32_t(tokens) * vectors, vectors);
  uint32_t x = find.input({in.f32, all(in)});
  uint32_t m = find.input({mask, access(context, {vectors, tokens}, {1, 0})});
  find.output(find.step(flow::AluOp::Add, x, m), flow::StreamType::F32,
              {{local, plain(tokens)}}, flow::Reduction::ArgMax);
  find.emit(op.getLoc());

  // Candidate s of token t is vector t * ranks + s.
  AxisLayout axis = AxisLayout::dense(layout.lanes, layout.lanes)
                        .gathered(group.ranks, group.ranks * layout.lanes);
  AxisLayout::Run run = axis.runs().front();
  Value candidates =
      alloc(tokens * group.ranks, flow::StreamType::F32, kLinkSide);
  Value own = alloc(tokens, flow::StreamType::F32, kLinkSide);
  VectorBurst number(b, uint32_t(tokens));
  uint32_t l = number.input({local, plain(tokens)});
  uint32_t first = number.input({base, access(context, {tokens}, {0})});
  // Two outputs: the buffers may come to lie in different hemispheres.
  uint32_t numbered = number.step(flow::AluOp::AddBits, l, first);
  number.output(numbered, flow::StreamType::F32, {{own, plain(tokens)}});
  number.output(numbered, flow::StreamType::F32,
                {{candidates, access(context, {tokens}, {group.ranks})}});
  number.emit(op.getLoc());
  exchange(own, axis, run, {candidates}, op.getLoc());

  sent = alloc(tokens, flow::StreamType::F32);
  VectorBurst choose(b, uint32_t(tokens * group.ranks), uint32_t(group.ranks));
  uint32_t c = choose.input({candidates, plain(tokens * group.ranks)});
  choose.output(c, flow::StreamType::F32, {{sent, plain(tokens)}},
                flow::Reduction::ArgBest);
  choose.emit(op.getLoc());
  return success();
}

} // namespace orrery
