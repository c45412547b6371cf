// Row-parallel products: a llm.linear on the own columns, and the
// grid.reduce_scatter or grid.all_reduce that adds what all ranks have of it.
//
// The matrix unit leaves accumulators (flow's `sum`, 8 bytes an element); they
// cross the links, the VXM adds them as integers and reads them out once. So
// the bits are those of the whole product whoever adds first.
//
// Rows are made place by place: place s is what the rank s before the own one
// will own. Places share no vectors, unlike in gathered values: what a link
// carries then begins in lane 0 everywhere, and nothing of it moves.
//
// Linked each to each, all p - 1 foreign places leave at once, on the links to
// their owners; the p parts of the own place are one group of the VXM. In a
// ring the part of the own place 1 has p - 1 hops to go, and each rank on its
// way adds its own part.
#include "compiler/lower/Crossing.h"
#include "compiler/lower/FlowBuilder.h"
#include "compiler/lower/LinkPieces.h"

using namespace mlir;

namespace orrery {

static constexpr auto kSum = flow::StreamType::Sum;
static constexpr auto kF32 = flow::StreamType::F32;

class PartialLowering {
public:
  /// Of the product that made `partial`, for an op at `location`.
  PartialLowering(FlowBuilder &f, Value partial, Location location)
      : f(f), b(f.b), location(location), op(grid::partialProduct(partial)),
        ranks(f.group.ranks), T(f.tokens),
        width(int32_t(op.getResult().getType().getDimSize(1))),
        own(wholeAxis(width, f.layout.lanes, ranks).shard()), V(own.vectors()) {
  }

  /// Deals the rows and loads what they meet.
  LogicalResult begin();
  /// The own shard of the sum.
  Rows scattered() { return f.group.ring ? aroundRing() : eachToEach(); }
  /// All of it.
  Rows reduced();

private:
  Rows eachToEach();
  Rows aroundRing();
  Rows gathered(const Rows &shard);
  void make(int32_t place, Value to, int64_t step, int64_t offset);
  void send(ArrayRef<int32_t> links, Value from, const LinkPiece &p,
            int64_t step, int64_t offset);
  void receive(int32_t link, Value to, const LinkPiece &p, int64_t step,
               int64_t offset);
  void add(Value parts, flow::AccessAttr read, int64_t count, int64_t group,
           flow::StreamType type, Value to, flow::AccessAttr write);
  void placeTails(const AxisLayout::Run &run, Value tails, const Rows &out);
  SmallVector<LinkPiece> pieces() const {
    return linkPieces(T, V, f.machine.link.bufferVectors / streamsOf(kSums));
  }

  static constexpr StreamType kSums = StreamType::Sum;

  FlowBuilder &f;
  OpBuilder &b;
  Location location;
  llm::LinearOp op;
  int64_t ranks, T; ///< T tokens
  int32_t width;    ///< of the whole result
  AxisLayout own;
  int64_t V; ///< vectors of a place
  std::vector<RowPiece> rows;
  int32_t planes = 0, planeStep = 1;
};

LogicalResult PartialLowering::begin() {
  bool half = op.getFormat() == llm::WeightFormat::F16;
  planeStep = half ? f.layout.planesPerHemisphere : 1;
  planes = f.layout.planes() / planeStep;
  Rows &in = f.rowsOf(op.getX());
  if (failed(f.verifyLoad(op, in)) ||
      failed(f.dealPieces(op, in, own, planes, rows))) {
    return failure();
  }
  f.load(in, half, op.getLoc());
  return success();
}

// The own part of a place: vector v of token t goes to vector
// offset + (t * V + v) * step. Few rows keep few planes busy, so each place
// begins at another one.
void PartialLowering::make(int32_t place, Value to, int64_t step,
                           int64_t offset) {
  const Rows &in = f.rowsOf(op.getX());
  bool half = op.getFormat() == llm::WeightFormat::F16;
  int32_t lanes = f.layout.lanes;
  for (RowPiece p : rows) {
    p.plane = (p.plane + place) % planes * planeStep;
    flow::RegionOp weights = f.weightsOf(op, in, own, p);
    weights.setShardOf(width);
    weights.setBehind(place);
    weights.setOfRanks(int32_t(ranks));
    weights.setColumnsOf(int32_t(grid::columnsOf(op).getOf()));
    auto write = access(b.getContext(), {T, p.count}, {V * step, step},
                        uint32_t(offset + p.first * step));
    int32_t end = p.lastOfVector ? lanes : p.high;
    if (p.low != 0 || end != lanes) {
      write = withLanes(write, uint32_t(p.low), uint32_t(end));
    }
    int32_t side = f.layout.sideOfPlane(p.plane);
    b.create<flow::MatmulOp>(
        op.getLoc(), half ? in.loadedHalf[side] : in.loaded[side],
        weights.getMemory(), to, b.getI32IntegerAttr(p.plane),
        b.getI32IntegerAttr(0), b.getI32IntegerAttr(p.count),
        b.getI32IntegerAttr(p.low), b.getI32IntegerAttr(p.high), write);
  }
}

// A piece of a place that lies as `make` says.
void PartialLowering::send(ArrayRef<int32_t> links, Value from,
                           const LinkPiece &p, int64_t step, int64_t offset) {
  b.create<flow::LinkSendOp>(
      location, from, b.getDenseI32ArrayAttr(links),
      access(b.getContext(), {p.tokens, p.vectors}, {V * step, step},
             uint32_t(offset + (p.token * V + p.vector) * step)));
}

void PartialLowering::receive(int32_t link, Value to, const LinkPiece &p,
                              int64_t step, int64_t offset) {
  auto write = access(b.getContext(), {p.tokens, p.vectors}, {V * step, step},
                      uint32_t(offset + (p.token * V + p.vector) * step));
  b.create<flow::LinkReceiveOp>(
      location, to, b.getI32IntegerAttr(link), b.getI32IntegerAttr(0),
      b.getI32IntegerAttr(0), b.getI32IntegerAttr(0), b.getArrayAttr({write}));
}

void PartialLowering::add(Value parts, flow::AccessAttr read, int64_t count,
                          int64_t group, flow::StreamType type, Value to,
                          flow::AccessAttr write) {
  VectorBurst burst(b, uint32_t(count * group), uint32_t(group));
  uint32_t x = burst.input({parts, read});
  burst.output(x, type, {{to, write}}, flow::Reduction::AddSums);
  burst.emit(location);
}

// parts: [t][v][place of the sender], the own one's first.
Rows PartialLowering::eachToEach() {
  Value parts = f.alloc(T * V * ranks, kSum, kLinkSide);
  SmallVector<Value> leaving;
  leaving.resize(size_t(ranks));
  for (int32_t place = 1; place < ranks; ++place) {
    leaving[size_t(place)] = f.alloc(T * V, kSum, kLinkSide);
    make(place, leaving[size_t(place)], 1, 0);
  }
  make(0, parts, ranks, 0);
  for (const LinkPiece &p : pieces()) {
    // The rank `place` before is the one ranks - place after.
    for (int32_t place = 1; place < ranks; ++place) {
      send(int32_t(ranks - place), leaving[size_t(place)], p, 1, 0);
    }
    for (int32_t from = 1; from < ranks; ++from) {
      receive(from, parts, p, ranks, from);
    }
  }
  Rows out{.axis = own, .f32 = f.alloc(T * V, kF32)};
  add(parts, f.plain(T * V * ranks), T * V, ranks, kF32, out.f32,
      f.plain(T * V));
  return out;
}

// pairs of a place: [t][v][2], the own part and what comes.
Rows PartialLowering::aroundRing() {
  Value passing = f.alloc(T * V, kSum, kLinkSide);
  make(1, passing, 1, 0);
  SmallVector<Value> pairs;
  for (int32_t hop = 1; hop < ranks; ++hop) {
    pairs.push_back(f.alloc(T * V * 2, kSum, kLinkSide));
    make(int32_t((hop + 1) % ranks), pairs.back(), 2, 0);
  }
  Rows out{.axis = own, .f32 = f.alloc(T * V, kF32)};
  for (int32_t hop = 1; hop < ranks; ++hop) {
    Value pair = pairs[size_t(hop - 1)];
    for (const LinkPiece &p : pieces()) {
      send(1, passing, p, 1, 0);
      receive(1, pair, p, 2, 1);
    }
    bool last = hop + 1 == ranks;
    passing = last ? out.f32 : f.alloc(T * V, kSum, kLinkSide);
    add(pair, f.plain(T * V * 2), T * V, 2, last ? kF32 : kSum, passing,
        f.plain(T * V));
  }
  return out;
}

// Vectors that places share in the gathered result: the SXM packs them.
void PartialLowering::placeTails(const AxisLayout::Run &run, Value tails,
                                 const Rows &out) {
  auto *context = b.getContext();
  int64_t all = out.axis.vectors();
  for (int32_t place = 0; place < ranks; ++place) {
    SmallVector<int32_t> map(size_t(f.layout.lanes), -1);
    for (int32_t lane = 0; lane < run.used; ++lane) {
      map[size_t(run.lane(place) + lane)] = lane;
    }
    auto write = access(context, {run.count, T}, {run.step, all},
                        uint32_t(run.vector(place)));
    b.create<flow::PermuteOp>(
        location, tails, out.f32, b.getDenseI32ArrayAttr(map),
        access(context, {run.count, T}, {1, run.count},
               uint32_t(place * T * run.count)),
        b.getArrayAttr({inPlace(write, run, place, out.axis)}),
        b.getI32IntegerAttr(kLinkSide));
  }
}

// The shards of all ranks, in f32.
Rows PartialLowering::gathered(const Rows &shard) {
  Rows out{.axis = own.gathered(int32_t(ranks), width)};
  out.f32 = f.alloc(T * out.axis.vectors(), kF32);
  for (const AxisLayout::Run &run : out.axis.runs()) {
    f.copyOwnShard(shard, run, out.axis, kF32, {out.f32}, location);
    f.exchange(shard.f32, out.axis, run, {out.f32}, location);
  }
  return out;
}

// parts: [place][t][v][sender]. All ranks send all of theirs to all; what is
// another's place s is the own place s + its distance.
Rows PartialLowering::reduced() {
  if (f.group.ring) {
    return gathered(aroundRing());
  }
  auto *context = b.getContext();
  int64_t each = T * V * ranks;
  Value parts = f.alloc(ranks * each, kSum, kLinkSide);
  SmallVector<int32_t> links;
  for (int32_t place = 0; place < ranks; ++place) {
    make(place, parts, ranks, place * each);
    links.push_back(place);
  }
  for (int32_t place = 0; place < ranks; ++place) {
    for (const LinkPiece &p : pieces()) {
      send(ArrayRef(links).drop_front(), parts, p, ranks, place * each);
      for (int32_t from = 1; from < ranks; ++from) {
        receive(from, parts, p, ranks, (place + from) % ranks * each + from);
      }
    }
  }
  Rows out{.axis = own.gathered(int32_t(ranks), width)};
  int64_t all = out.axis.vectors();
  out.f32 = f.alloc(T * all, kF32);
  for (const AxisLayout::Run &run : out.axis.runs()) {
    int64_t count = run.count * T * ranks;
    auto read = access(context, {run.count * ranks, T, ranks},
                       {1, V * ranks, each}, uint32_t(run.first * ranks));
    if (run.sharing == 1) {
      add(parts, read, count, ranks, kF32, out.f32,
          access(context, {run.count, T, ranks}, {run.step, all, 1},
                 uint32_t(run.base)));
      continue;
    }
    Value tails = f.alloc(count, kF32, kLinkSide);
    add(parts, read, count, ranks, kF32, tails, f.plain(count));
    placeTails(run, tails, out);
  }
  return out;
}

LogicalResult FlowBuilder::lowerReduceScatter(grid::ReduceScatterOp op) {
  PartialLowering partial(*this, op.getPartial(), op.getLoc());
  if (failed(partial.begin())) {
    return failure();
  }
  define(op.getResult(), partial.scattered());
  return success();
}

LogicalResult FlowBuilder::lowerAllReduce(grid::AllReduceOp op) {
  PartialLowering partial(*this, op.getPartial(), op.getLoc());
  if (failed(partial.begin())) {
    return failure();
  }
  define(op.getResult(), partial.reduced());
  return success();
}

} // namespace orrery
