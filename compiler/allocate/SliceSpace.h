// Free addresses of one (slice, bank): permanent blocks, and temporary blocks
// that live over a range of ops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery::allocate {

/// A block of addresses held from op `born` to op `dies`, both inclusive.
struct Block {
  uint32_t base, length;
  uint32_t born, dies;
};

constexpr uint32_t kForever = ~0u;

class SliceSpace {
public:
  void add(const Block &block) {
    blocks.push_back(block);
    if (block.dies == kForever) {
      lasting = std::max(lasting, block.base + block.length);
    }
  }
  /// First address above the permanent blocks.
  uint32_t lastingEnd() const { return lasting; }
  /// Blocks alive at some op of [born, dies], or that died less than `rest`
  /// ops before.
  void collect(uint32_t born, uint32_t dies, uint32_t rest,
               std::vector<Block> &out) const {
    for (const Block &b : blocks) {
      if (b.born <= dies && uint64_t(born) <= uint64_t(b.dies) + rest) {
        out.push_back(b);
      }
    }
  }

private:
  std::vector<Block> blocks;
  uint32_t lasting = 0;
};

} // namespace orrery::allocate
