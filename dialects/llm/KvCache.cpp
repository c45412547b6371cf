// Rows in and out of a KV cache (rule 10 of the numerics).
#include "dialects/llm/KvCache.h"

namespace orrery::llm {

void CachedRows::put(int64_t position, std::span<const float> row) {
  if (format == KvFormat::F16) {
    putHalves(position, row);
  } else {
    putCodes(position, row);
  }
}

void CachedRows::putCodes(int64_t position, std::span<const float> row) {
  codes.resize((position + 1) * kvHeads * headDim);
  scales.resize((position + 1) * kvHeads);
  const auto quantize = format == KvFormat::Q4 ? numerics::quantizeKvRow4
                                               : numerics::quantizeKvRow;
  for (int64_t head = 0; head < kvHeads; ++head) {
    const int64_t index = position * kvHeads + head;
    // A failure leaves a NaN scale, which reaches the result and is reported.
    (void)quantize(row.data() + head * headDim, int(headDim),
                   codes.data() + index * headDim, &scales[index]);
  }
}

void CachedRows::putHalves(int64_t position, std::span<const float> row) {
  values.resize(position * kvHeads * headDim);
  for (float x : row) {
    values.push_back(numerics::roundToHalf(x));
  }
}

LayerCache::LayerCache(AttentionOp op)
    : format(op.getKvFormat()), kvHeads(op.getKvHeads()),
      headDim(op.getHeadDim()), k(format, kvHeads, headDim),
      v(format, kvHeads, headDim) {}

bool LayerCache::fits(AttentionOp op) const {
  return op.getKvFormat() == format && op.getKvHeads() == kvHeads &&
         op.getHeadDim() == headDim;
}

void LayerCache::put(int64_t position, std::span<const float> kRow,
                     std::span<const float> vRow) {
  assert(position <= length && "a gap in the cache");
  k.put(position, kRow);
  v.put(position, vRow);
  length = position + 1;
}

} // namespace orrery::llm
