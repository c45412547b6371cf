#include "simulator/function/TileCache.h"

#include "machine/Timing.h"

namespace orrery::sim {

size_t TileCache::Hash::operator()(const std::vector<uint32_t> &key) const {
  uint64_t hash = 0xcbf29ce484222325u; // FNV-1a over the words
  for (uint32_t word : key) {
    hash = (hash ^ word) * 0x100000001b3u;
  }
  return size_t(hash ^ hash >> 32);
}

bool TileCache::makeKey(const TileSource &source) {
  const InstallOp &op = *source.op;
  auto rows = uint32_t(source.rows());
  uint32_t cycles = tileCycles(op.format, rows, op.width);
  key.assign({uint32_t(op.format), rows, op.width});
  const ReadValues *last = nullptr;
  for (uint32_t s = 0; s < op.width; ++s) {
    const Operand &operand = (*source.operands)[s];
    const ReadValues *read = operand.values->asRead();
    if (read == nullptr || !read->isConstant()) {
      return false;
    }
    const MemAccess &memory = read->memory();
    key.push_back(uint32_t(memory.slice) + operand.stream);
    if (read == last && operand.first == (*source.operands)[s - 1].first) {
      continue; // one wide read: same bank and addresses
    }
    last = read;
    key.push_back(0x80000000u | uint32_t(memory.bank));
    for (uint32_t c = 0; c < cycles; ++c) {
      key.push_back(uint32_t(memory.address(operand.first + source.first + c)));
    }
  }
  return true;
}

std::shared_ptr<const PackedTile>
TileCache::pack(const TileSource &source) const {
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
  return std::make_shared<const PackedTile>(op.format, int32_t(rows), lanes,
                                            vectors);
}

std::shared_ptr<const PackedTile> TileCache::get(const TileSource &source) {
  if (!makeKey(source)) {
    return pack(source);
  }
  auto [entry, isNew] = tiles.try_emplace(key);
  if (isNew) {
    entry->second = pack(source);
    total += entry->second->bytes();
  }
  return entry->second;
}

} // namespace orrery::sim
