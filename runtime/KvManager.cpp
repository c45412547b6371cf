#include "runtime/KvManager.h"

#include <string>

namespace orrery::runtime {

Expected<KvManager> KvManager::create(const models::KvLayout &layout,
                                      int64_t pages) {
  auto made = models::KvPages::create(layout, pages);
  if (!made) {
    return made.error();
  }
  return KvManager(std::move(*made));
}

int64_t KvManager::unpromisedPages() const {
  int64_t left = shared->pages();
  for (const auto &[sequence, pages] : promised) {
    left -= pages;
  }
  return left;
}

Expected<KvManager::Sequence> KvManager::admit(int64_t positions) {
  const int64_t wanted = shared->pagesFor(positions);
  const int64_t left = unpromisedPages();
  if (wanted > left) {
    return Error{"KV cache full: a sequence of " + std::to_string(positions) +
                 " positions needs " + std::to_string(wanted) + " pages of " +
                 std::to_string(shared->layout().pagePositions) +
                 " positions, " + std::to_string(left) + " of " +
                 std::to_string(shared->pages()) + " are promised to nobody"};
  }
  const Sequence sequence = shared->open();
  promised[sequence] = wanted;
  return sequence;
}

void KvManager::finish(Sequence sequence) {
  shared->close(sequence);
  promised.erase(sequence);
}

} // namespace orrery::runtime
