// Which pages of the KV cache belong to which sequence: an allocator of page
// numbers in plain C++, for the GPU reference and for whoever keeps KV caches
// in pages. It knows no memory and no device: a pool of pages() * pageBytes()
// bytes is the owner's, and so is the copy of table() that kernels read.
//
// A page holds `pagePositions` positions of all layers (KvLayout.h).
#pragma once

#include "gpu-reference/KvLayout.h"
#include "machine/Result.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::gpu {

/// Pages of a pool, each free or owned by one sequence.
class KvPages {
public:
  using Sequence = int32_t;

  /// All of `pages` pages free. Fails for a layout with a number below 1, page
  /// positions that are not a multiple of 32, and a pool of no pages, of more
  /// than int32 or of more bytes than int64 counts.
  static Expected<KvPages> create(const KvLayout &layout, int64_t pages);

  /// Pages that `positions` positions of one sequence take.
  int64_t pagesFor(int64_t positions) const;

  /// A sequence without pages; numbers of closed sequences are used again.
  Sequence open();

  /// Gives `sequence` the pages of positions 0 .. positions-1; pages it has
  /// stay where they are. Fails, changing nothing, when too few are free.
  Status reserve(Sequence sequence, int64_t positions);

  /// Frees the pages that hold only positions from `positions` on.
  void truncate(Sequence sequence, int64_t positions);

  /// Frees all pages of a sequence, and its number.
  void close(Sequence sequence);

  /// Page of each logical page: position u is in entry u / pagePositions.
  std::span<const int32_t> table(Sequence sequence) const;

  const KvLayout &layout() const { return shape; }
  int64_t pages() const { return int64_t(owner.size()); }
  int64_t freePages() const { return int64_t(freeList.size()); }
  int64_t poolBytes() const { return pages() * shape.pageBytes(); }

  /// Checks that every page is free once or in one table once, and that the
  /// free ones and the owned ones are all.
  Status verify() const;

private:
  KvPages(const KvLayout &layout, int64_t pages);
  bool isOpen(Sequence sequence) const;

  static constexpr Sequence kFree = -1;
  KvLayout shape;
  std::vector<Sequence> owner;   ///< of each page
  std::vector<int32_t> freeList; ///< the next one last
  std::vector<std::vector<int32_t>> tables;
  std::vector<bool> opened;
};

} // namespace orrery::gpu
