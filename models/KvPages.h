// Which pages of a KV cache belong to which sequence: an allocator of page
// numbers in plain C++, one for all who keep or read one cache (the GPU
// reference, the runtime's KV manager). It knows no memory and no device: a
// pool of pages() * pageBytes() bytes is the owner's, and so is the copy of
// table() that kernels read. Calls from several threads at once are the
// caller's to order.
//
// A page holds `pagePositions` positions of all layers (KvLayout.h).
#pragma once

#include "machine/Result.h"
#include "models/KvLayout.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::models {

/// Pages of a pool, each free or owned by one sequence.
class KvPages {
public:
  using Sequence = int32_t;

  /// 128 MiB of numbers beside the pool; half a billion positions or more.
  static constexpr int64_t kMostPages = int64_t(1) << 24;

  /// All of `pages` pages free. Fails for a layout with a number below 1 or a
  /// head above kMostHeadDim, page positions that are not a multiple of 32, and
  /// a pool of no pages, of more than kMostPages or of more bytes than int64
  /// counts.
  static Expected<KvPages> create(const KvLayout &layout, int64_t pages);

  /// Pages that `positions` positions of one sequence take.
  int64_t pagesFor(int64_t positions) const;

  /// A sequence without pages; numbers of closed sequences are used again.
  Sequence open();
  bool isOpen(Sequence sequence) const;

  /// Pages for positions 0 .. positions-1 of a sequence.
  struct Claim {
    Sequence sequence;
    int64_t positions;
  };

  /// Gives each sequence the pages it claims; pages it has stay where they are.
  /// Each is open and claims once. Fails, changing nothing, when too few are
  /// free for all of them.
  Status reserve(std::span<const Claim> claims);
  Status reserve(Sequence sequence, int64_t positions) {
    const Claim claim{sequence, positions};
    return reserve(std::span(&claim, 1));
  }

  /// Frees the pages that hold only positions from `positions` on.
  void truncate(Sequence sequence, int64_t positions);

  /// Frees all pages of a sequence, and its number.
  void close(Sequence sequence);

  /// Page of each logical page: position u is in entry u / pagePositions.
  std::span<const int32_t> table(Sequence sequence) const;

  /// Rows of positions 0 .. filled-1 have been written, as the writer says.
  int64_t filled(Sequence sequence) const;
  /// At most what the sequence's pages hold.
  void setFilled(Sequence sequence, int64_t positions);

  const KvLayout &layout() const { return shape; }
  int64_t pages() const { return int64_t(owner.size()); }
  int64_t freePages() const { return int64_t(freeList.size()); }
  int64_t usedPages() const { return pages() - freePages(); }
  /// That were in use at once, at most.
  int64_t mostUsedPages() const { return mostUsed; }
  int64_t openSequences() const;
  int64_t poolBytes() const { return pages() * shape.pageBytes(); }

  /// Checks that every page is free once or in one table once, and that the
  /// free ones and the owned ones are all.
  Status verify() const;

private:
  KvPages(const KvLayout &layout, int64_t pages);

  struct Held {
    bool open = false;
    int64_t filled = 0;
    std::vector<int32_t> table;
  };
  Held &held(Sequence sequence);
  const Held &held(Sequence sequence) const;
  int64_t missing(const Claim &claim) const;

  static constexpr Sequence kFree = -1;
  KvLayout shape;
  std::vector<Sequence> owner;   ///< of each page
  std::vector<int32_t> freeList; ///< the next one last
  std::vector<Held> sequences;
  int64_t mostUsed = 0;
};

} // namespace orrery::models
