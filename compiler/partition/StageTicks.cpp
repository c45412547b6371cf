#include "compiler/partition/StageTicks.h"

#include "compiler/partition/RankLayout.h"
#include "machine/Timing.h"

#include <algorithm>

namespace orrery::partition {

/// Vectors a token that go along with the residual stream: RoPE's cosines and
/// sines of its position.
static constexpr int64_t kRopeRows = 2;

/// The units' times on one rank.
struct TickModel::Parts {
  Parts(const TickModel &model)
      : m(model.machine), shape(model.shape), rank(m, shape, model.tp),
        ring(model.ring) {
    // Transits from the middle of the data slices.
    Tick middle = (rank.chip.dataSlices + 1) / 2;
    toVector = middle;
    toSwitch = m.sram.slicesPerHemisphere - middle + 1;
    toPlane = toSwitch + (m.matrix.planesPerHemisphere + 1) / 2;
    toEdge = toSwitch + m.matrix.planesPerHemisphere + 1;
  }

  const Machine &m;
  const StepShape &shape;
  RankLayout rank;
  bool ring;
  Tick toVector, toSwitch, toPlane, toEdge;

  /// A VXM burst of `count` vectors through a chain of `ops`, SRAM to SRAM.
  Tick burst(int64_t count, std::initializer_list<AluOp> ops,
             StreamType type = StreamType::F32,
             Reduction reduction = Reduction::None) const {
    VectorProgram program;
    for (AluOp op : ops) {
      program.steps.push_back({.op = op});
    }
    VectorOutput out{.value = 0, .type = type, .reduction = reduction};
    return m.timing.read + 2 * toVector +
           (count - 1) * Tick(vectorInterval(m, program)) +
           vectorLatency(m, program, out) + m.timing.write;
  }

  /// Lanes moved by the SXM.
  Tick moved(int64_t count) const {
    return m.timing.read + 2 * toSwitch + count - 1 + m.timing.permute +
           m.timing.write;
  }

  /// `vectors` of a row loaded, run against `busy` ticks of tiles, written.
  Tick product(int64_t vectors, Tick busy) const {
    return m.timing.read + toPlane + m.timing.load + vectors - 1 + busy +
           m.timing.matmul + toPlane + m.timing.write;
  }

  Tick tileTicks(WeightFormat format, uint32_t rows, uint32_t width,
                 int64_t activations) const {
    return std::max<Tick>(tileCycles(format, rows, width),
                          activations * matmulTicksPerRow(m, format));
  }

  /// Products of the same rows with several matrices, on the busiest plane.
  Tick products(
      std::initializer_list<std::pair<const Matrix *, const AxisLayout *>> all,
      const AxisLayout &in) const {
    std::vector<Tick> busy(size_t(rank.chip.planes()), 0);
    for (auto [matrix, out] : all) {
      rank.deal(matrix->format, in, *out,
                [&](int32_t plane, int64_t tiles, uint32_t rows) {
                  busy[size_t(plane)] +=
                      tiles * tileTicks(matrix->format, rows,
                                        uint32_t(rank.chip.groupWidth),
                                        shape.tokens);
                });
    }
    return product(shape.tokens * in.vectors(),
                   *std::max_element(busy.begin(), busy.end()));
  }

  /// `vectors` of `width` streams each over one link, SRAM to SRAM.
  Tick crossing(int64_t vectors, int32_t width) const {
    return m.timing.read + 2 * toEdge + vectors * width * m.link.vectorTicks +
           m.link.latency + m.timing.write;
  }

  /// Own shard copied to its place; then one crossing when all are linked, or
  /// one for each further rank in a ring.
  Tick gather(const AxisLayout &own, StreamType type) const {
    if (rank.tp == 1) {
      return 0;
    }
    int64_t vectors = shape.tokens * own.vectors();
    return burst(vectors, {}, type) +
           (ring ? rank.tp - 1 : 1) * crossing(vectors, streamsOf(type));
  }

  /// A product with the own columns `in` of a matrix, place by place.
  Tick partials(const Matrix &matrix, const AxisLayout &in) const {
    std::vector<Tick> busy(size_t(rank.chip.planes()), 0);
    int32_t step =
        matrix.format == WeightFormat::F16 ? m.matrix.planesPerHemisphere : 1;
    std::vector<Tick> place = busy; ///< of the own, by plane
    rank.deal(matrix.format, in, rank.ownHidden,
              [&](int32_t plane, int64_t tiles, uint32_t rows) {
                place[size_t(plane)] +=
                    tiles * tileTicks(matrix.format, rows,
                                      uint32_t(rank.chip.groupWidth),
                                      shape.tokens);
              });
    for (int32_t p = 0; p < rank.tp; ++p) {
      for (size_t plane = 0; plane < busy.size(); ++plane) {
        busy[(plane + size_t(p * step)) % busy.size()] += place[plane];
      }
    }
    return product(shape.tokens * in.vectors(),
                   *std::max_element(busy.begin(), busy.end()));
  }

  /// Partials to the owners of their rows, who add them.
  Tick scatter() const {
    int64_t vectors = shape.tokens * rank.ownHidden.vectors();
    int32_t width = streamsOf(StreamType::Sum);
    int64_t terms = ring ? 2 : rank.tp;
    return (ring ? rank.tp - 1 : 1) *
           (crossing(vectors, width) +
            burst(vectors * terms, {}, StreamType::F32, Reduction::AddSums));
  }

  /// All partials to all ranks, who add them; what shares vectors is packed.
  Tick reduce() const {
    int64_t vectors = shape.tokens * rank.ownHidden.vectors() * rank.tp;
    bool packed =
        rank.hidden.vectors() < rank.ownHidden.vectors() * int64_t(rank.tp);
    return crossing(vectors, streamsOf(StreamType::Sum)) +
           burst(vectors * rank.tp, {}, StreamType::F32, Reduction::AddSums) +
           (packed ? moved(shape.tokens * rank.tp) : 0);
  }

  /// What products with a matrix of `format` take of a row.
  static StreamType taken(WeightFormat format) {
    return format == WeightFormat::F16 ? StreamType::F16 : StreamType::A8;
  }

  Tick norm(WeightFormat format) const {
    return burst(shape.tokens * rank.hidden.vectors(),
                 {AluOp::Div, AluOp::Add, AluOp::Sqrt, AluOp::Div, AluOp::Mul,
                  AluOp::Mul},
                 taken(format));
  }
  /// The residual sum and its squares' sum.
  Tick sum(const AxisLayout &axis) const {
    return burst(shape.tokens * axis.vectors(), {AluOp::Add, AluOp::Mul},
                 StreamType::F32, Reduction::SumWide);
  }
  Tick attention() const;
};

// One KV vector's ops follow each other; the VXM takes those of all in turn.
Tick TickModel::Parts::attention() const {
  int64_t T = shape.tokens, vectors = rank.kv.vectors();
  int64_t group = rank.q.group();
  WeightFormat format = shape.halfKv ? WeightFormat::F16 : WeightFormat::I8;
  StreamType type = shape.halfKv ? StreamType::F16 : StreamType::A8;
  Tick ticks = moved(T * rank.q.vectors());
  std::vector<Tick> keys(size_t(rank.chip.planes()), 0), values = keys;
  Tick vxm = 0;
  for (int32_t v = 0; v < vectors; ++v) {
    int64_t slots = rank.kv.slotsIn(v), rows = slots * T * group;
    auto tile = [&](int32_t used) {
      return rank.tiles * tileTicks(format, uint32_t(used),
                                    uint32_t(rank.chip.kvWidth), rows);
    };
    size_t plane = size_t(v % rank.chip.planes());
    keys[plane] += tile(m.lanes);
    values[plane] += tile(rank.kv.used(v));
    // Appends of K, V and their scales; queries; max; probabilities; quotient.
    vxm += 2 * T + (shape.halfKv ? 0 : 2 * T * slots) + rows +
           2 * rows * rank.tiles + rows;
  }
  int64_t rows = rank.kv.slotsIn(0) * T * group;
  // Latencies of the chain of the last KV vector, without its counts.
  ticks += burst(1, {AluOp::Mul, AluOp::Mul, AluOp::Add, AluOp::Window}, type);
  ticks += product(rows, *std::max_element(keys.begin(), keys.end()));
  ticks += burst(1, {AluOp::Mul, AluOp::Mul, AluOp::Keep}, StreamType::F32,
                 Reduction::Max);
  ticks += burst(
      1,
      {AluOp::Mul, AluOp::Mul, AluOp::Sub, AluOp::Exp, AluOp::Keep, AluOp::Mul},
      type);
  ticks += product(rows * rank.tiles,
                   *std::max_element(values.begin(), values.end()));
  ticks += burst(1, {AluOp::Div});
  ticks += burst(T * rank.attended.vectors(), {}, type);
  return ticks + vxm;
}

Tick spillTicks(const Machine &machine, Bytes spilled) {
  ChipLayout chip(machine);
  double vectors = double(spilled) / 2 / machine.lanes;
  return Tick(vectors / chip.kvWidth - vectors / chip.groupWidth);
}

TickModel::TickModel(const Machine &machine, const StepShape &shape, int64_t tp,
                     bool ring, Products products)
    : machine(machine), shape(shape), tp(tp), ring(ring), products(products) {}

StageTicks TickModel::lastProduct(Section kind, const Matrix &matrix,
                                  ProductForm form) const {
  Parts p(*this);
  const RankLayout &r = p.rank;
  bool attention = kind == Section::Attention;
  const AxisLayout &own = attention ? r.attended : r.ownFfn;
  StageTicks out;
  if (form == ProductForm::Column) {
    out.matrix = p.products({{&matrix, &r.ownHidden}},
                            attention ? r.allHeads : r.allFfn);
    out.collectives = p.gather(own, Parts::taken(matrix.format)) +
                      p.gather(r.ownHidden, StreamType::F32);
    return out;
  }
  out.matrix = p.partials(matrix, own);
  out.collectives = form == ProductForm::Reduce && !ring
                        ? p.reduce()
                        : p.scatter() + p.gather(r.ownHidden, StreamType::F32);
  return out;
}

ProductForm TickModel::form(Section kind, const Matrix &matrix) const {
  if (tp == 1 || products == Products::Column) {
    return ProductForm::Column;
  }
  if (products == Products::Scatter || products == Products::Reduce) {
    return products == Products::Reduce ? ProductForm::Reduce
                                        : ProductForm::Scatter;
  }
  auto ticks = [&](ProductForm f) {
    return lastProduct(kind, matrix, f).total();
  };
  ProductForm best = ProductForm::Scatter;
  if (!ring && ticks(ProductForm::Reduce) < ticks(best)) {
    best = ProductForm::Reduce;
  }
  bool column =
      products == Products::Chosen && ticks(ProductForm::Column) <= ticks(best);
  return column ? ProductForm::Column : best;
}

StageTicks TickModel::section(const LayerShape &l, Section kind) const {
  Parts p(*this);
  const RankLayout &r = p.rank;
  StageTicks out;
  switch (kind) {
  case Section::Attention:
    out = lastProduct(kind, l.output, form(kind, l.output));
    out.matrix +=
        p.products({{&l.q, &r.q}, {&l.k, &r.kv}, {&l.v, &r.kv}}, r.hidden);
    out.attention = p.attention();
    out.vectors = p.norm(l.q.format) + p.sum(r.hidden);
    return out;
  case Section::Gated:
    out.matrix =
        p.products({{&l.gate, &r.ownFfn}, {&l.up, &r.ownFfn}}, r.hidden);
    out.vectors =
        p.norm(l.gate.format) + p.burst(shape.tokens * r.ownFfn.vectors(),
                                        {AluOp::Silu, AluOp::Mul},
                                        Parts::taken(l.down.format));
    return out;
  case Section::Down:
    out = lastProduct(kind, l.down, form(kind, l.down));
    out.vectors = p.sum(r.hidden);
    return out;
  }
  return out;
}

StageTicks TickModel::layer(const LayerShape &l) const {
  StageTicks out;
  for (int64_t k = 0; k < kSections; ++k) {
    out += section(l, kindOf(k));
  }
  return out;
}

StageTicks TickModel::embedding() const {
  Parts p(*this);
  StageTicks out;
  out.host = machine.timing.host +
             shape.tokens * (p.rank.hidden.vectors() + kRopeRows) * 4 *
                 machine.timing.hostVector +
             p.toEdge + machine.timing.write;
  return out;
}

StageTicks TickModel::head(const Matrix &matrix) const {
  Parts p(*this);
  StageTicks out;
  out.vectors = p.norm(matrix.format) +
                p.burst(shape.tokens * p.rank.ownVocab.vectors(), {AluOp::Keep},
                        StreamType::F32, Reduction::ArgMax);
  out.matrix = p.products({{&matrix, &p.rank.ownVocab}}, p.rank.hidden);
  if (tp > 1) { // number, exchange and choose one candidate a rank
    out.collectives =
        p.gather(AxisLayout::dense(machine.lanes, machine.lanes),
                 StreamType::F32) +
        p.burst(shape.tokens * tp, {}, StreamType::F32, Reduction::ArgMax);
  }
  out.host = machine.timing.read + p.toEdge + machine.timing.host;
  return out;
}

StageTicks TickModel::betweenStages(const LayerShape &layer,
                                    Section last) const {
  Parts p(*this);
  StageTicks out;
  if (last == Section::Gated) { // the residual stream is there long before
    out.hop = p.crossing(shape.tokens * p.rank.ownFfn.vectors(),
                         streamsOf(Parts::taken(layer.down.format)));
    return out;
  }
  out.hop =
      p.crossing(shape.tokens * (p.rank.ownHidden.vectors() + kRopeRows), 4);
  if (tp > 1) { // the own shard of the residual is taken out and summed alone
    out.vectors = p.burst(shape.tokens * p.rank.ownHidden.vectors(), {});
  }
  return out;
}

} // namespace orrery::partition
