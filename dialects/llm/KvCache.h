// The KV cache of one layer, as `llm.attention` defines it.
#pragma once

#include "dialects/llm/Llm.h"
#include "machine/numerics.h"

#include <cstdint>
#include <span>
#include <vector>

namespace orrery::llm {

/// K or V of one layer: [positions, kvHeads, headDim] in one format.
class CachedRows {
public:
  CachedRows(KvFormat format, int64_t kvHeads, int64_t headDim)
      : format(format), kvHeads(kvHeads), headDim(headDim) {}

  /// Stores one token's row [kvHeads * headDim] at `position`, at most the
  /// number of positions held; those behind it are dropped.
  void put(int64_t position, std::span<const float> row);

  /// q8 and q4: codes [headDim] of one position and KV head (q4 keeps a byte a
  /// code here too), and their f16 scale. The scale is NaN when the row did not
  /// fit the format.
  const int8_t *codesAt(int64_t position, int64_t head) const {
    return codes.data() + (position * kvHeads + head) * headDim;
  }
  float scaleAt(int64_t position, int64_t head) const {
    return numerics::halfToFloat(scales[position * kvHeads + head]);
  }

  /// f16: values [headDim] of one position and KV head, f16-exact.
  const float *valuesAt(int64_t position, int64_t head) const {
    return values.data() + (position * kvHeads + head) * headDim;
  }

private:
  void putCodes(int64_t position, std::span<const float> row);
  void putHalves(int64_t position, std::span<const float> row);

  KvFormat format;
  int64_t kvHeads;
  int64_t headDim;
  std::vector<int8_t> codes;
  std::vector<uint16_t> scales;
  std::vector<float> values;
};

/// Both caches of a layer; grows with the positions put into it.
class LayerCache {
public:
  /// An empty cache of the shape and format that `op` names.
  explicit LayerCache(AttentionOp op);

  /// True if `op` names the shape and format of this cache.
  bool fits(AttentionOp op) const;

  int64_t positions() const { return length; }
  void put(int64_t position, std::span<const float> k,
           std::span<const float> v);

  const CachedRows &keys() const { return k; }
  const CachedRows &values() const { return v; }

private:
  KvFormat format;
  int64_t kvHeads;
  int64_t headDim;
  int64_t length = 0;
  CachedRows k;
  CachedRows v;
};

} // namespace orrery::llm
