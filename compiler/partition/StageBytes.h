// What a stage takes of one chip's SRAM, before anything is lowered.
#pragma once

#include "compiler/partition/StepShape.h"
#include "machine/Machine.h"

namespace orrery::partition {

/// One chip's bytes. Weights, KV and tables are what lowering lays out, with
/// padding to tiles, slots and lanes; temporaries and program are allowances:
/// all of one layer's and the head's temporaries at once; a count of
/// instructions measured on compiled layers.
struct StageBytes {
  Bytes weights = 0, kv = 0, tables = 0, temporaries = 0, program = 0;
  /// The same of weights and KV without padding to lanes.
  Bytes nominalWeights = 0, nominalKv = 0;
  Bytes total() const { return weights + kv + tables + temporaries + program; }
  StageBytes &operator+=(const StageBytes &other);
};

/// What every stage of a split is made of.
class ByteModel {
public:
  ByteModel(const Machine &machine, const StepShape &shape, int64_t tp);

  /// What a stage needs whatever its layers: the temporaries of one.
  StageBytes fixed() const;
  StageBytes sublayer(const LayerShape &layer, Sublayer kind) const;
  StageBytes layer(const LayerShape &layer) const;
  /// Final norm, head matrix, logits.
  StageBytes head(const Matrix &matrix) const;

private:
  class Account;
  const Machine &machine;
  const StepShape &shape;
  int64_t tp;
};

/// Bytes by which a stage exceeds the chip, or what of it can be used: KV,
/// tables, temporaries and the weights that find the weight groups full live in
/// the data slices (compiler/lower/ChipLayout.h). 0: it fits.
Bytes shortage(const Machine &machine, const StageBytes &stage);

} // namespace orrery::partition
