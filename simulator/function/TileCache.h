// Packed tiles of memory that is never written, kept between steps. The key is
// where the bytes lie, not which program reads them.
#pragma once

#include "simulator/function/PackedTile.h"
#include "simulator/function/SramValues.h"

#include <memory>
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

  /// The tile, all of whose vectors have come; good until the next call.
  const PackedTile &get(const TileSource &source);
  size_t bytes() const { return total; }

private:
  using Key = std::vector<uint32_t>;
  struct Hash {
    size_t operator()(const Key &key) const;
  };
  struct Entry {
    size_t keyStart, keyEnd; ///< in `keys`
    std::unique_ptr<PackedTile> tile;
  };
  void pack(const TileSource &source, PackedTile &tile) const;
  /// Fills `key`; false if a vector does not come from constant memory.
  bool makeKey(const TileSource &source);
  void addAddresses(const MemAccess &memory, uint64_t first, uint32_t count);
  /// Whether `key` is that of the next entry.
  bool nextFits() const;
  /// The place of a new entry of `key`.
  size_t add(const TileSource &source);

  int32_t lanes;
  size_t total = 0;
  Key key;
  std::vector<Entry> entries; ///< in the order they were first asked for
  Key keys;                   ///< one after another, to be read in this order
  std::unordered_map<Key, size_t, Hash> places; ///< in `entries`
  size_t next = 0;      ///< the entry after the last one given: a guess
  PackedTile temporary; ///< the last one that may not be kept
};

} // namespace orrery::sim
