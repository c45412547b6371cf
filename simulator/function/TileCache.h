// Packed tiles of memory that is never written, kept between steps. The key is
// where the bytes lie, not which program reads them.
#pragma once

#include "simulator/function/PackedTile.h"
#include "simulator/function/SramValues.h"

#include <unordered_map>

namespace orrery::sim {

/// The vectors of one install run: vector u = c * width + s of the tile is
/// vector first + c of operand s.
struct TileSource {
  const InstallOp *op = nullptr;
  std::shared_ptr<const Operands> operands;
  uint64_t first = 0;

  int32_t rows() const { return op->high - op->low; }
};

class TileCache {
public:
  explicit TileCache(int32_t lanes) : lanes(lanes) {}

  /// The tile, all of whose vectors have come.
  std::shared_ptr<const PackedTile> get(const TileSource &source);
  size_t bytes() const { return total; }

private:
  std::shared_ptr<const PackedTile> pack(const TileSource &source) const;
  /// Fills `key`; false if a vector does not come from constant memory.
  bool makeKey(const TileSource &source);

  struct Hash {
    size_t operator()(const std::vector<uint32_t> &key) const;
  };
  int32_t lanes;
  size_t total = 0;
  std::vector<uint32_t> key;
  std::unordered_map<std::vector<uint32_t>, std::shared_ptr<const PackedTile>,
                     Hash>
      tiles;
};

} // namespace orrery::sim
