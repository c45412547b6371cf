#include "gpu-reference/KvPages.h"

#include <cassert>
#include <limits>
#include <string>

namespace orrery::gpu {

static Status verifyLayout(const KvLayout &l) {
  const struct {
    const char *name;
    int32_t value;
  } numbers[] = {{"layers", l.layers},
                 {"kv heads", l.kvHeads},
                 {"head_dim", l.headDim},
                 {"positions of a page", l.pagePositions}};
  for (const auto &number : numbers) {
    if (number.value < 1) {
      return Error{std::string("KV pages: expected at least 1 for ") +
                   number.name + ", found " + std::to_string(number.value)};
    }
  }
  if (l.pagePositions % numerics::kBlock != 0) {
    return Error{"KV pages: expected a multiple of 32 positions in a page, "
                 "found " +
                 std::to_string(l.pagePositions)};
  }
  return Success{};
}

/// layout.pageBytes() times `pages`, or nothing if an int64 cannot count it.
static bool countable(const KvLayout &l, int64_t pages) {
  // Above what headBytes() can be: 2 * 2 bytes an element, padded, and scales.
  __extension__ typedef __int128 Int128;
  const Int128 element = (Int128(l.headDim) + 16) * 4 + 4;
  const Int128 most = std::numeric_limits<int64_t>::max();
  return element * l.pagePositions * l.kvHeads <= most / l.layers &&
         element * l.pagePositions * l.kvHeads * l.layers <= most / pages;
}

KvPages::KvPages(const KvLayout &layout, int64_t pages)
    : shape(layout), owner(size_t(pages), kFree) {
  for (int64_t page = pages; page > 0; --page) {
    freeList.push_back(int32_t(page - 1));
  }
}

Expected<KvPages> KvPages::create(const KvLayout &layout, int64_t pages) {
  if (Status status = verifyLayout(layout); !status) {
    return status.error();
  }
  if (pages < 1 || pages > std::numeric_limits<int32_t>::max()) {
    return Error{"KV pages: expected 1 to 2147483647 pages, found " +
                 std::to_string(pages)};
  }
  if (!countable(layout, pages)) {
    return Error{"KV pages: " + std::to_string(pages) + " pages of " +
                 std::to_string(layout.pagePositions) +
                 " positions have more bytes than 63 bits count"};
  }
  return KvPages(layout, pages);
}

int64_t KvPages::pagesFor(int64_t positions) const {
  return positions <= 0 ? 0 : (positions - 1) / shape.pagePositions + 1;
}

bool KvPages::isOpen(Sequence sequence) const {
  return sequence >= 0 && size_t(sequence) < opened.size() &&
         opened[size_t(sequence)];
}

KvPages::Sequence KvPages::open() {
  size_t sequence = 0;
  while (sequence < opened.size() && opened[sequence]) {
    ++sequence;
  }
  if (sequence == opened.size()) {
    opened.push_back(true);
    tables.emplace_back();
  }
  opened[sequence] = true;
  return Sequence(sequence);
}

Status KvPages::reserve(Sequence sequence, int64_t positions) {
  assert(isOpen(sequence) && "no such sequence");
  std::vector<int32_t> &table = tables[size_t(sequence)];
  const int64_t more = pagesFor(positions) - int64_t(table.size());
  if (more > freePages()) {
    return Error{"KV cache full: " + std::to_string(positions) +
                 " positions need " + std::to_string(more) + " more pages of " +
                 std::to_string(shape.pagePositions) + " positions (" +
                 std::to_string(shape.pageBytes()) + " bytes each), " +
                 std::to_string(freePages()) + " of " +
                 std::to_string(pages()) + " are free"};
  }
  for (int64_t i = 0; i < more; ++i) {
    owner[size_t(freeList.back())] = sequence;
    table.push_back(freeList.back());
    freeList.pop_back();
  }
  return Success{};
}

void KvPages::truncate(Sequence sequence, int64_t positions) {
  assert(isOpen(sequence) && "no such sequence");
  std::vector<int32_t> &table = tables[size_t(sequence)];
  while (int64_t(table.size()) > pagesFor(positions)) {
    owner[size_t(table.back())] = kFree;
    freeList.push_back(table.back());
    table.pop_back();
  }
}

void KvPages::close(Sequence sequence) {
  truncate(sequence, 0);
  opened[size_t(sequence)] = false;
}

std::span<const int32_t> KvPages::table(Sequence sequence) const {
  assert(isOpen(sequence) && "no such sequence");
  return tables[size_t(sequence)];
}

// Each page is counted where it is found; then all must have been found once.
Status KvPages::verify() const {
  std::vector<int32_t> found(owner.size(), 0);
  auto place = [&](int32_t page, Sequence expected) -> Status {
    if (page < 0 || size_t(page) >= owner.size()) {
      return Error{"KV pages: page " + std::to_string(page) + " of " +
                   std::to_string(pages())};
    }
    ++found[size_t(page)];
    if (owner[size_t(page)] != expected) {
      return Error{"KV pages: page " + std::to_string(page) +
                   " is held for sequence " +
                   std::to_string(owner[size_t(page)]) + ", found with " +
                   std::to_string(expected)};
    }
    return Success{};
  };
  for (int32_t page : freeList) {
    if (Status status = place(page, kFree); !status) {
      return status;
    }
  }
  for (size_t s = 0; s < tables.size(); ++s) {
    if (!opened[s] && !tables[s].empty()) {
      return Error{"KV pages: closed sequence " + std::to_string(s) +
                   " has pages"};
    }
    for (int32_t page : tables[s]) {
      if (Status status = place(page, Sequence(s)); !status) {
        return status;
      }
    }
  }
  for (size_t page = 0; page < found.size(); ++page) {
    if (found[page] != 1) {
      return Error{"KV pages: page " + std::to_string(page) + " is in " +
                   std::to_string(found[page]) + " places, expected 1"};
    }
  }
  return Success{};
}

} // namespace orrery::gpu
