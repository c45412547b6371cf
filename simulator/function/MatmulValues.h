// A matmul's values: exact sums over the K tiles of each output row, read out
// as f32 after the last one.
#pragma once

#include "machine/Instruction.h"
#include "simulator/function/BurstValues.h"
#include "simulator/function/PackedTile.h"

#include <functional>

namespace orrery::sim {

class MatmulValues final : public BurstValues {
public:
  /// `compute(n)` makes the plane add what output vector n still lacks.
  MatmulValues(const MatmulOp &op, uint32_t instruction, int32_t lanes,
               std::function<void(uint64_t)> compute);

  void require(uint64_t vector, uint32_t stream) override;
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override {
    return out.data() + (vector * 4 + stream) * size_t(lanes);
  }

  /// Adds rows [firstRow, firstRow + entries.size()) of a pass: entries[i]
  /// are the two stream planes of that row's activations.
  struct Entry {
    const uint8_t *planes[2];
  };
  void addRows(const PackedTile &tile, uint32_t firstRow,
               const std::vector<Entry> &entries, Tick due);
  /// Reads out rows [firstRow, endRow) of N tile `tile`.
  void finishRows(uint32_t tile, uint32_t firstRow, uint32_t endRow, Tick due);

private:
  bool addA8(const PackedTile &tile, const std::vector<Entry> &entries,
             int64_t *sums);
  bool addF16(const PackedTile &tile, const std::vector<Entry> &entries,
              int64_t *sums);

  MatmulOp op;
  uint32_t instruction;
  int32_t lanes;
  std::function<void(uint64_t)> compute;
  uint64_t done = 0;         ///< vectors read out
  std::vector<int64_t> sums; ///< [row][lane], column `low` in lane 0
  std::vector<uint8_t> out;  ///< [vector][4][lane]
  std::vector<int8_t> codes; ///< workspace [row][lane]
  std::vector<float> floats; ///< workspace: scales, f16 values, result row
};

} // namespace orrery::sim
