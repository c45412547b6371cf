// What a stage takes of one chip's SRAM, before anything is lowered.
#pragma once

#include "compiler/partition/ProductForms.h"
#include "compiler/partition/StepShape.h"
#include "compiler/partition/SumOfTerms.h"
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
  static constexpr Bytes StageBytes::*kTerms[] = {
      &StageBytes::weights,  &StageBytes::kv,
      &StageBytes::tables,   &StageBytes::temporaries,
      &StageBytes::program,  &StageBytes::nominalWeights,
      &StageBytes::nominalKv};
};

/// What every stage of a split is made of.
class ByteModel {
public:
  ByteModel(const Machine &machine, const StepShape &shape, int64_t tp,
            bool ring = false, Products products = Products::Chosen);

  /// What a stage needs whatever its layers: the temporaries of one.
  StageBytes fixed() const;
  StageBytes section(const LayerShape &layer, Section kind) const;
  StageBytes layer(const LayerShape &layer) const;
  /// Final norm, head matrix, logits.
  StageBytes head(const Matrix &matrix) const;

private:
  class Account;
  const Machine &machine;
  const StepShape &shape;
  int64_t tp;
  bool ring;
  Products products;
};

/// What of a chip a stage exceeds most.
struct Shortage {
  enum class Limit : uint8_t {
    Chip, ///< all that it needs against all that there is
    /// KV, tables, temporaries and the weights that find the weight groups full
    /// against the data slices (compiler/lower/ChipLayout.h).
    DataSlices,
    /// KV and those weights against the bank of the data slices they lie in.
    TileBank
  };
  Limit limit = Limit::Chip;
  Bytes needed = 0, available = 0;
  Bytes spilled = 0; ///< weights beyond the weight slices
  Bytes bytes() const { return needed > available ? needed - available : 0; }
};

/// The room that a chip has, as the allocator can use it; for many stages.
class ChipRoom {
public:
  explicit ChipRoom(const Machine &machine);
  Shortage shortageOf(const StageBytes &stage) const;

private:
  Bytes all, forWeights, forData, forTiles;
};

Shortage shortageOf(const Machine &machine, const StageBytes &stage);
/// Its bytes; 0: the stage fits.
Bytes shortage(const Machine &machine, const StageBytes &stage);

} // namespace orrery::partition
