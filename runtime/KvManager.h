// Which sequences may run at once over one pool of KV pages: a sequence is
// admitted only if it can reach its last position whatever the others do, so
// that none runs out of pages half-way. Pages are taken as a sequence grows, by
// whoever computes its rows (gpu-reference/Reference.h), one reference at a
// time: what pages hold is in its memory alone.
#pragma once

#include "models/KvPages.h"

#include <map>
#include <memory>

namespace orrery::runtime {

class KvManager {
public:
  using Sequence = models::KvPages::Sequence;

  /// All of `pages` pages free. Fails as KvPages::create does.
  static Expected<KvManager> create(const models::KvLayout &layout,
                                    int64_t pages);

  /// Opens a sequence that will have up to `positions`, and promises it their
  /// pages. Fails, changing nothing, when fewer are promised to nobody.
  Expected<Sequence> admit(int64_t positions);

  /// Closes a sequence: its pages, and those that were promised, are free.
  void finish(Sequence sequence);

  int64_t unpromisedPages() const;
  /// To share with whoever computes rows.
  const std::shared_ptr<models::KvPages> &pages() const { return shared; }

private:
  explicit KvManager(models::KvPages pages)
      : shared(std::make_shared<models::KvPages>(std::move(pages))) {}

  std::shared_ptr<models::KvPages> shared;
  std::map<Sequence, int64_t> promised; ///< pages, those taken included
};

} // namespace orrery::runtime
