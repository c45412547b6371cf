#include "compiler/partition/StageBytes.h"

#include "compiler/partition/RankLayout.h"
#include "compiler/partition/StageTicks.h"
#include "machine/Timing.h"

#include <algorithm>

namespace orrery::partition {

namespace {

// Instructions of one layer for one token and of each further KV vector,
// counted on TinyLlama, SmolLM2 and Llama-2-7B compiled for lpu-v1 (2,060,
// 1,530 and 5,260 a layer); and of one link of one collective, assumed.
// Attention is taken for three fifths of a layer, the two other sections for
// two fifths each.
constexpr int64_t kLayerInstructions = 2'100, kKvVectorInstructions = 220,
                  kLinkInstructions = 40;

} // namespace

class ByteModel::Account {
public:
  explicit Account(const ByteModel &model)
      : machine(model.machine), shape(model.shape),
        rank(machine, shape, model.tp),
        forms(machine, shape, model.tp, model.ring, model.products) {}

  void addFixed() {
    // Cosines and sines of the step's positions.
    out.temporaries += ofLayer() + 2 * f32(shape.tokens) + partials();
    // Each queue's text ends in a chunk that it does not fill.
    Geometry chip = machine.geometry();
    out.program += (2 * chip.slices() + 3 * chip.planes() + 2 * rank.tp + 6) *
                   machine.fetchBytes();
  }

  void addHead(const Matrix &matrix) {
    addMatrix(matrix, rank.hidden, rank.ownVocab);
    out.tables += f32(rank.hidden.vectors());
    if (rank.tp > 1) { // what is no token, and the shard's first one
      out.tables += f32(rank.ownVocab.vectors() + 1);
    }
    out.temporaries += f32(shape.tokens * rank.ownVocab.vectors());
    out.program += kLayerInstructions / 2 * machine.instructionBytes;
  }

  void addSection(const LayerShape &layer, Section kind);
  void addCaches();

  StageBytes out;

private:
  Bytes f32(int64_t vectors) const { return vectors * 4 * machine.lanes; }

  void addMatrix(const Matrix &matrix, const AxisLayout &in,
                 const AxisLayout &columns) {
    auto width = uint32_t(rank.chip.groupWidth);
    rank.deal(matrix.format, in, columns,
              [&](int32_t, int64_t tiles, uint32_t rows) {
                out.weights += tiles * tileCycles(matrix.format, rows, width) *
                               width * machine.lanes;
              });
    out.nominalWeights += nominalBytes(matrix, columns.elements);
  }

  ProductForm formOf(const LayerShape &layer, Section kind) const {
    return forms.form(kind,
                      kind == Section::Attention ? layer.output : layer.down);
  }

  // The own columns of a matrix, place by place.
  void addPartial(const Matrix &matrix, const AxisLayout &in) {
    Matrix own{matrix.rows, in.elements, matrix.format};
    for (int64_t place = 0; place < rank.tp; ++place) {
      addMatrix(own, in, rank.ownHidden);
    }
  }

  // Accumulators that come and, unless all stay where they are made, leave.
  Bytes partials() const {
    Bytes vectors = 0, place = shape.tokens * rank.ownHidden.vectors() *
                               streamsOf(StreamType::Sum);
    for (Section kind : {Section::Attention, Section::Down}) {
      ProductForm form = shape.layers.empty()
                             ? ProductForm::Column
                             : formOf(shape.layers.front(), kind);
      Bytes needed = form == ProductForm::Column   ? 0
                     : form == ProductForm::Reduce ? rank.tp * rank.tp * place
                                                   : 2 * rank.tp * place;
      vectors = std::max(vectors, needed);
    }
    return vectors * machine.lanes;
  }

  // Residual, branch and its sum; q, k, v and their turned twins; scores and
  // probabilities of all KV vectors; gate, up and what is made of them, twice
  // (once a hemisphere).
  Bytes ofLayer() const {
    Bytes vectors = 3 * rank.hidden.vectors() * 4 +
                    3 * (rank.q.vectors() + rank.kv.vectors()) * 4 +
                    2 * rank.ownFfn.vectors() * 4 +
                    2 * (rank.allHeads.vectors() + rank.allFfn.vectors()) * 2 +
                    2 * rank.hidden.vectors() * 2;
    Bytes rows = int64_t(rank.local.heads) * shape.tokens;
    return (vectors * shape.tokens + rows * rank.tiles * (4 + 2) + rows * 12) *
           machine.lanes;
  }

  const Machine &machine;
  const StepShape &shape;
  RankLayout rank;
  TickModel forms;
};

void ByteModel::Account::addCaches() {
  out.nominalKv += nominalKvBytes(shape, rank.local.kvHeads);
  auto format = shape.halfKv ? WeightFormat::F16 : WeightFormat::I8;
  auto width = uint32_t(rank.chip.kvWidth);
  auto cache = [&](int32_t rows) {
    return rank.allTiles * tileCycles(format, uint32_t(rows), width) *
           Bytes(width) * machine.lanes;
  };
  for (int32_t v = 0; v < rank.kv.vectors(); ++v) {
    out.kv += cache(machine.lanes) + cache(rank.kv.used(v));
  }
  if (!shape.halfKv) { // one f16 scale a position, of K and of V
    out.kv += 2 * rank.allTiles * rank.local.kvHeads * 2 * machine.lanes;
  }
}

void ByteModel::Account::addSection(const LayerShape &layer, Section kind) {
  bool attention = kind == Section::Attention;
  bool partial = formOf(layer, kind) != ProductForm::Column;
  rank.eachMatrix(
      layer, kind,
      [&](const Matrix &matrix, const AxisLayout &in,
          const AxisLayout &columns) {
        if (partial && &matrix == (attention ? &layer.output : &layer.down)) {
          addPartial(matrix, attention ? rank.attended : rank.ownFfn);
        } else {
          addMatrix(matrix, in, columns);
        }
      });
  int64_t collectives = attention ? 2 : 1;
  int64_t instructions = kLayerInstructions * (attention ? 3 : 2) / 5 +
                         collectives * (rank.tp - 1) * kLinkInstructions;
  if (kind != Section::Down) {
    out.tables += f32(rank.hidden.vectors()); // the norm's weights
  }
  if (attention) {
    addCaches();
    instructions += kKvVectorInstructions * rank.kv.vectors();
  }
  out.program += instructions * machine.instructionBytes;
}

ByteModel::ByteModel(const Machine &machine, const StepShape &shape, int64_t tp,
                     bool ring, Products products)
    : machine(machine), shape(shape), tp(tp), ring(ring), products(products) {}

StageBytes ByteModel::fixed() const {
  Account account(*this);
  account.addFixed();
  return account.out;
}

StageBytes ByteModel::section(const LayerShape &layer, Section kind) const {
  Account account(*this);
  account.addSection(layer, kind);
  return account.out;
}

StageBytes ByteModel::layer(const LayerShape &layer) const {
  StageBytes out;
  for (int64_t k = 0; k < kSections; ++k) {
    out += section(layer, kindOf(k));
  }
  return out;
}

StageBytes ByteModel::head(const Matrix &matrix) const {
  Account account(*this);
  account.addHead(matrix);
  return account.out;
}

// What compiler/allocate can do with a chip's slices.
ChipRoom::ChipRoom(const Machine &machine) : all(machine.sramBytes()) {
  ChipLayout chip(machine);
  Bytes slice = machine.sram.banks * machine.bankBytes();
  forWeights = 2 * Bytes(chip.groups) * chip.groupWidth * slice;
  forData = 2 * Bytes(chip.dataSlices) * slice;
  // KV and spilled weights lie kvWidth wide in one bank of a hemisphere. In
  // both, they leave RoPE's rows no bank: these are read while any K is
  // written. An eighth of a bank, the size of a region, may be lost to their
  // packing.
  forTiles = 2 * Bytes(chip.kvWidth) * machine.bankBytes() / 8 * 7;
}

Shortage ChipRoom::shortageOf(const StageBytes &stage) const {
  Bytes data = stage.kv + stage.tables + stage.temporaries;
  Bytes spilled = std::max<Bytes>(0, stage.weights - forWeights);
  using enum Shortage::Limit;
  Shortage limits[] = {{Chip, stage.total(), all, spilled},
                       {DataSlices, data + spilled, forData, spilled},
                       {TileBank, stage.kv + spilled, forTiles, spilled}};
  return *std::ranges::max_element(limits, {}, &Shortage::bytes);
}

Shortage shortageOf(const Machine &machine, const StageBytes &stage) {
  return ChipRoom(machine).shortageOf(stage);
}
Bytes shortage(const Machine &machine, const StageBytes &stage) {
  return shortageOf(machine, stage).bytes();
}

} // namespace orrery::partition
