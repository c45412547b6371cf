// A matmul's values: exact sums over the K tiles of each output row, read out
// as f32 after the last one, or left as they are.
#pragma once

#include "machine/Instruction.h"
#include "simulator/function/BufferPool.h"
#include "simulator/function/BurstValues.h"
#include "simulator/function/PackedTile.h"

#include <functional>
#include <span>

namespace orrery::sim {

class MatmulValues final : public BurstValues {
public:
  /// `compute(n)` makes the plane add what output vector n still lacks.
  MatmulValues(const MatmulOp &op, uint32_t instruction, int32_t lanes,
               BufferPool &pool, std::function<void(uint64_t)> compute);

  void require(uint64_t vector, uint32_t stream) override;
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override {
    return out.data() + (vector * streams + stream) * size_t(lanes);
  }

  /// Adds rows [firstRow, firstRow + entries.size()) of a pass: entries[i]
  /// are the two stream planes of that row's activations.
  struct Entry {
    const uint8_t *planes[2];
  };
  void addRows(const PackedTile &tile, uint32_t firstRow,
               std::span<const Entry> entries, Tick due);
  /// Reads out rows [firstRow, endRow) of N tile `tile`.
  void finishRows(uint32_t tile, uint32_t firstRow, uint32_t endRow, Tick due);

private:
  bool addA8(const PackedTile &tile, std::span<const Entry> entries,
             int64_t *to);
  bool addF16(const PackedTile &tile, std::span<const Entry> entries,
              int64_t *to);
  bool putSums(const int64_t *acc, uint8_t *to);
  bool putF32(const int64_t *acc, uint8_t *to);

  MatmulOp op;
  uint32_t instruction;
  int32_t lanes;
  uint32_t streams; ///< of a result vector
  std::function<void(uint64_t)> compute;
  BufferPool &pool;
  uint64_t done = 0; ///< vectors read out
  Buffer sums;       ///< int64 [row][lane], column `low` in lane 0
  Buffer out;        ///< [vector][stream][lane]
};

} // namespace orrery::sim
