// Where one K or V element lies in a page of the KV cache: byte offsets that
// the allocator, GPU kernels and tests share. Not here: which page a
// position is in (KvPages.h), or how values become codes (machine/numerics.h).
//
// A page holds `pagePositions` positions of every layer; per layer and KV head:
//   keys         [pagePositions][keyRowBytes]: one row a position, so that a
//                thread of the score kernel reads its position in 16-byte loads
//   values       [pagePositions / 32][headDim][32]: the 32 positions of a block
//                together, as the second product reduces over them
//   key scales   [pagePositions] f16, value scales [pagePositions] f16 (not
//   f16)
// q4 packs eight codes, each + 8, into four bytes: byte j has element j in its
// low half and element j + 4 in its high half, so that each half of a word is
// four codes in order.
#pragma once

#include "machine/numerics.h"
#include "models/ModelConfig.h"

#include <cstdint>

namespace orrery::models {

/// Elements of a head at most: int32 counts the bytes of its row.
inline constexpr int32_t kMostHeadDim = 1 << 20;

/// The KV caches of all layers.
struct KvLayout {
  bool operator==(const KvLayout &) const = default;

  int32_t layers = 0;
  int32_t kvHeads = 0;
  int32_t headDim = 0;
  KvFormat format = KvFormat::Q8;
  int32_t pagePositions = 0; ///< a multiple of 32

  ORRERY_HD bool hasScales() const { return format != KvFormat::F16; }

  /// Bits of an element.
  ORRERY_HD int32_t bits() const {
    return format == KvFormat::F16 ? 16 : format == KvFormat::Q8 ? 8 : 4;
  }
  /// From one position's keys to the next, padded to 16 bytes.
  ORRERY_HD int32_t keyRowBytes() const {
    return (headDim * bits() + 127) / 128 * 16;
  }
  /// Values of 32 positions at one element of a head.
  ORRERY_HD int32_t valueBlockBytes() const { return bits() * 4; }

  // Offsets from the start of a head's part of a page.
  ORRERY_HD int64_t keyOffset(int32_t inPage) const {
    return int64_t(inPage) * keyRowBytes();
  }
  ORRERY_HD int64_t valueOffset(int32_t blockInPage, int32_t element) const {
    return int64_t(pagePositions) * keyRowBytes() +
           (int64_t(blockInPage) * headDim + element) * valueBlockBytes();
  }
  ORRERY_HD int64_t keyScaleOffset(int32_t inPage) const {
    return valueOffset(pagePositions / numerics::kBlock, 0) + 2 * inPage;
  }
  ORRERY_HD int64_t valueScaleOffset(int32_t inPage) const {
    return keyScaleOffset(pagePositions) + 2 * inPage;
  }

  /// Bytes of one head of one layer in a page: a multiple of 16.
  ORRERY_HD int64_t headBytes() const {
    return hasScales() ? valueScaleOffset(pagePositions) : keyScaleOffset(0);
  }
  ORRERY_HD int64_t layerBytes() const { return headBytes() * kvHeads; }
  ORRERY_HD int64_t pageBytes() const { return layerBytes() * layers; }

  /// Offset of a head of a layer in the pool.
  ORRERY_HD int64_t headOffset(int32_t page, int32_t layer,
                               int32_t head) const {
    return page * pageBytes() + layer * layerBytes() + head * headBytes();
  }
};

/// The layout for a model; numbers are not checked (KvPages::create does).
inline KvLayout kvLayout(const ModelConfig &config, KvFormat format,
                         int64_t pagePositions) {
  return {int32_t(config.layers), int32_t(config.kvHeads),
          int32_t(config.headDim), format, int32_t(pagePositions)};
}

/// The codes of a q4 word's low or high four bytes (`word >> 4`), each minus
/// its 8, as four signed bytes.
ORRERY_HD inline uint32_t codesOfHalf(uint32_t word) {
  // Per byte 0x80 + (code + 8) - 8 borrows nothing from its neighbour.
  return (((word & 0x0f0f0f0fu) | 0x80808080u) - 0x08080808u) ^ 0x80808080u;
}

} // namespace orrery::models
