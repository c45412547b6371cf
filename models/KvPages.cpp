#include "models/KvPages.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <string>
#include <utility>

namespace orrery::models {

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
  if (l.headDim > kMostHeadDim) {
    return Error{"KV pages: expected at most " + std::to_string(kMostHeadDim) +
                 " for head_dim, found " + std::to_string(l.headDim)};
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
  freeList.reserve(size_t(pages));
  for (int64_t page = pages; page > 0; --page) {
    freeList.push_back(int32_t(page - 1));
  }
}

Expected<KvPages> KvPages::create(const KvLayout &layout, int64_t pages) {
  if (Status status = verifyLayout(layout); !status) {
    return status.error();
  }
  if (pages < 1 || pages > kMostPages) {
    return Error{"KV pages: expected 1 to " + std::to_string(kMostPages) +
                 " pages, found " + std::to_string(pages)};
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
  return sequence >= 0 && size_t(sequence) < sequences.size() &&
         sequences[size_t(sequence)].open;
}

const KvPages::Held &KvPages::held(Sequence sequence) const {
  assert(isOpen(sequence) && "no such sequence");
  return sequences[size_t(sequence)];
}

KvPages::Held &KvPages::held(Sequence sequence) {
  return const_cast<Held &>(std::as_const(*this).held(sequence));
}

KvPages::Sequence KvPages::open() {
  auto place = std::ranges::find(sequences, false, &Held::open);
  if (place == sequences.end()) {
    place = sequences.emplace(place);
  }
  place->open = true;
  return Sequence(place - sequences.begin());
}

int64_t KvPages::openSequences() const {
  return std::ranges::count(sequences, true, &Held::open);
}

/// Pages that a claim needs beyond those the sequence has.
int64_t KvPages::missing(const Claim &claim) const {
  const auto has = int64_t(held(claim.sequence).table.size());
  return std::max<int64_t>(pagesFor(claim.positions) - has, 0);
}

Status KvPages::reserve(std::span<const Claim> claims) {
  int64_t more = 0;
  for (const Claim &claim : claims) {
    more += missing(claim);
  }
  if (more > freePages()) {
    const std::string who =
        claims.size() == 1
            ? std::to_string(claims.front().positions) + " positions need "
            : std::to_string(claims.size()) + " sequences need ";
    return Error{"KV cache full: " + who + std::to_string(more) +
                 " more pages of " + std::to_string(shape.pagePositions) +
                 " positions (" + std::to_string(shape.pageBytes()) +
                 " bytes each), " + std::to_string(freePages()) + " of " +
                 std::to_string(pages()) + " are free"};
  }
  for (const Claim &claim : claims) {
    for (int64_t i = missing(claim); i > 0; --i) {
      owner[size_t(freeList.back())] = claim.sequence;
      held(claim.sequence).table.push_back(freeList.back());
      freeList.pop_back();
    }
  }
  mostUsed = std::max(mostUsed, usedPages());
  return Success{};
}

void KvPages::truncate(Sequence sequence, int64_t positions) {
  Held &of = held(sequence);
  while (int64_t(of.table.size()) > pagesFor(positions)) {
    owner[size_t(of.table.back())] = kFree;
    freeList.push_back(of.table.back());
    of.table.pop_back();
  }
  of.filled = std::min(of.filled, std::max<int64_t>(positions, 0));
}

void KvPages::close(Sequence sequence) {
  truncate(sequence, 0);
  held(sequence).open = false;
}

std::span<const int32_t> KvPages::table(Sequence sequence) const {
  return held(sequence).table;
}

int64_t KvPages::filled(Sequence sequence) const {
  return held(sequence).filled;
}

void KvPages::setFilled(Sequence sequence, int64_t positions) {
  assert(positions >= 0 &&
         pagesFor(positions) <= int64_t(held(sequence).table.size()) &&
         "rows without pages");
  held(sequence).filled = positions;
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
  for (size_t s = 0; s < sequences.size(); ++s) {
    const Held &of = sequences[s];
    if (!of.open && !of.table.empty()) {
      return Error{"KV pages: closed sequence " + std::to_string(s) +
                   " has pages"};
    }
    if (pagesFor(of.filled) > int64_t(of.table.size())) {
      return Error{"KV pages: sequence " + std::to_string(s) + " has rows of " +
                   std::to_string(of.filled) + " positions in " +
                   std::to_string(of.table.size()) + " pages"};
    }
    for (int32_t page : of.table) {
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

} // namespace orrery::models
