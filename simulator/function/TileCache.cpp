#include "simulator/function/TileCache.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::sim {

namespace {

/// In a key's word for slices: addresses follow one by one.
constexpr uint32_t kUneven = 0x80000000u;

} // namespace

size_t TileCache::Hash::operator()(const Key &key) const {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a over the words
  for (uint32_t word : key) {
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return size_t(hash ^ hash >> 32);
}

/// First address and step where the addresses are evenly spaced, else all.
void TileCache::addAddresses(const MemAccess &memory, uint64_t first,
                             uint32_t count) {
  int64_t base = memory.address(first);
  int64_t step = count == 1 ? 0 : memory.address(first + 1) - base;
  bool even = memory.isLinear();
  if (!even) {
    even = true;
    for (uint32_t c = 2; c < count && even; ++c) {
      even = memory.address(first + c) == base + c * step;
    }
  }
  if (even) {
    key.push_back(uint32_t(base));
    key.push_back(uint32_t(step));
    return;
  }
  key.back() |= kUneven;
  for (uint32_t c = 0; c < count; ++c) {
    key.push_back(uint32_t(memory.address(first + c)));
  }
}

/// Format, rows, width; then, for each run of streams that one read drives from
/// neighbouring slices: bank, how many, first slice, addresses.
bool TileCache::makeKey(const TileSource &source) {
  const InstallOp &op = *source.op;
  const Operands &operands = *source.operands;
  auto rows = uint32_t(source.rows());
  uint32_t cycles = tileCycles(op.format, rows, op.width);
  key.assign({uint32_t(op.format) << 8 | op.width, rows});
  for (uint32_t s = 0; s < op.width;) {
    const Operand &operand = operands[s];
    const ReadValues *read = operand.values->asRead();
    if (read == nullptr || !read->isConstant()) {
      return false;
    }
    uint32_t run = 1;
    while (s + run < op.width && operands[s + run].values == operand.values &&
           operands[s + run].first == operand.first &&
           operands[s + run].stream == operand.stream + run) {
      ++run;
    }
    const MemAccess &memory = read->memory();
    key.push_back(uint32_t(memory.slice) + operand.stream);
    key.push_back(uint32_t(memory.bank) << 8 | run);
    addAddresses(memory, operand.first + source.first, cycles);
    s += run;
  }
  return true;
}

void TileCache::pack(const TileSource &source, PackedTile &tile) const {
  const InstallOp &op = *source.op;
  auto rows = uint32_t(source.rows());
  uint32_t count = tileVectors(op.format, rows);
  uint32_t cycles = tileCycles(op.format, rows, op.width);
  for (const Operand &operand : *source.operands) {
    operand.require(source.first + cycles - 1);
  }
  std::vector<const uint8_t *> vectors(count);
  for (uint32_t u = 0; u < count; ++u) {
    vectors[u] =
        (*source.operands)[u % op.width].plane(source.first + u / op.width);
  }
  tile.pack(op.format, int32_t(rows), lanes, vectors);
}

bool TileCache::nextFits() const {
  if (next >= entries.size()) {
    return false;
  }
  const Entry &entry = entries[next];
  return std::equal(key.begin(), key.end(),
                    keys.begin() + ptrdiff_t(entry.keyStart),
                    keys.begin() + ptrdiff_t(entry.keyEnd));
}

size_t TileCache::add(const TileSource &source) {
  auto tile = std::make_unique<PackedTile>();
  pack(source, *tile);
  total += tile->bytes();
  size_t start = keys.size();
  keys.insert(keys.end(), key.begin(), key.end());
  entries.push_back({start, keys.size(), std::move(tile)});
  places.emplace(key, entries.size() - 1);
  return entries.size() - 1;
}

const PackedTile &TileCache::get(const TileSource &source) {
  if (!makeKey(source)) {
    pack(source, temporary);
    return temporary;
  }
  // Every step asks for its tiles in much the same order.
  if (!nextFits()) {
    auto place = places.find(key);
    next = place != places.end() ? place->second : add(source);
  }
  return *entries[next++].tile;
}

} // namespace orrery::sim
