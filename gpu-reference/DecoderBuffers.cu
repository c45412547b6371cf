// What a decoder allocates, all of it before the first step: rows between ops,
// the pages of the KV cache, scratch of attention.
#include "gpu-reference/Decoder.h"

#include <algorithm>

namespace orrery::gpu::ORRERY_GPU {

Expected<std::unique_ptr<Decoder>>
Decoder::open(const models::WeightSource &weights, const ReferencePlan &plan) {
  Expected<DecoderWeights> loaded = DecoderWeights::load(weights, plan);
  if (!loaded) {
    return loaded.error();
  }
  std::unique_ptr<Decoder> decoder(new Decoder(plan, std::move(*loaded)));
  decoder->frequencies = numerics::ropeFrequencies(
      int(plan.config.ropeDimension), plan.config.ropeTheta);
  if (Status ok = decoder->allocate(); !ok) {
    return ok.error();
  }
  if (Status ok = decoder->allocateCache(); !ok) {
    return ok.error();
  }
  if (Status ok = decoder->planBuckets(); !ok) {
    return ok.error();
  }
  return Expected<std::unique_ptr<Decoder>>(std::move(decoder));
}

namespace {
/// Allocates until something fails.
class Allocator {
public:
  template <class T>
  void buffer(Buffer<T> &to, int64_t count, const char *what) {
    take(to, [&] { return Buffer<T>::allocate(size_t(count), what); });
  }
  void rows(DeviceActivations &to, int32_t rows, int64_t k,
            ActivationForms forms, const char *what) {
    take(to, [&] {
      return DeviceActivations::allocate(rows, int32_t(k), forms, what);
    });
  }
  void pinned(PinnedBuffer<uint32_t> &to, int64_t count, const char *what) {
    take(to,
         [&] { return PinnedBuffer<uint32_t>::allocate(size_t(count), what); });
  }

  Status status = Success();

private:
  template <class T, class F> void take(T &to, F allocate) {
    if (!status) {
      return;
    }
    Expected<T> made = allocate();
    if (made) {
      to = std::move(*made);
    } else {
      status = made.error();
    }
  }
};
} // namespace

Status Decoder::allocate() {
  const auto rows = int32_t(plan.options.chunk);
  const ActivationForms all{true, true, true};
  ActivationForms products = all;
  products.values = false;
  Allocator a;
  a.pinned(hostInput, inputLayout(rows).words, "a step's input");
  a.buffer(input, inputLayout(rows).words, "a step's input");
  a.buffer(faults, 1, "the fault word");
  a.buffer(stream, rows * config.hidden, "the residual stream");
  a.rows(normed, rows, config.hidden, all, "normed rows");
  a.buffer(qkv, rows * (config.queryWidth() + 2 * config.kvWidth()),
           "queries, keys and values");
  a.buffer(heads, rows * config.queryWidth(), "attention's result");
  a.rows(headRows, rows, config.queryWidth(), products, "attention's result");
  a.buffer(projected, rows * config.hidden, "projected rows");
  a.buffer(gateUp, 2 * rows * config.intermediate, "gates");
  a.rows(gatedRows, rows, config.intermediate, all, "gated rows");
  a.buffer(logitRows, rows * config.vocab, "the logits");
  a.buffer(greedyKeys, rows, "argmax");
  a.buffer(greedyIds, rows, "the greedy ids");
  return a.status;
}

Status Decoder::allocateCache() {
  KvLayout layout;
  layout.layers = int32_t(config.layers);
  layout.kvHeads = int32_t(config.kvHeads);
  layout.headDim = int32_t(config.headDim);
  layout.format = plan.options.kv;
  layout.pagePositions = int32_t(plan.options.pagePositions);
  const int64_t count =
      (plan.options.context + layout.pagePositions - 1) / layout.pagePositions;
  Expected<KvPages> made = KvPages::create(layout, count);
  if (!made) {
    return made.error();
  }
  pages = std::move(*made);
  sequence = pages->open();
  Allocator a;
  a.buffer(pool, pages->poolBytes(), "the KV cache");
  a.buffer(table, count, "the KV page table");
  return a.status;
}

/// Buckets double, so that a step over few positions does not launch for all,
/// and few graphs serve a whole context.
Status Decoder::planBuckets() {
  constexpr int64_t kFirstBucket = 64;
  const auto heads = int32_t(config.heads);
  size_t bytes = 0;
  for (int64_t bucket = kFirstBucket;; bucket *= 2) {
    const auto positions =
        int32_t(std::min<int64_t>(bucket, plan.options.context));
    for (const bool chunk : {false, true}) {
      Expected<AttentionPlan> made =
          planAttention(pages->layout(), heads,
                        chunk ? int32_t(plan.options.chunk) : 1, positions);
      if (!made) {
        return made.error();
      }
      bytes = std::max(bytes, attentionScratchBytes(*made, pages->layout()));
      (chunk ? chunkPlans : tokenPlans).push_back(*made);
    }
    if (bucket >= plan.options.context) {
      break;
    }
  }
  Allocator a;
  a.buffer(scratch, int64_t(bytes), "scratch of attention");
  return a.status;
}

const AttentionPlan &Decoder::attentionFor(int32_t rows,
                                           int64_t positions) const {
  const std::vector<AttentionPlan> &plans = rows == 1 ? tokenPlans : chunkPlans;
  return *std::ranges::find_if(
      plans, [&](const AttentionPlan &p) { return p.bucket >= positions; });
}

Status Decoder::reserve(int64_t positions) {
  if (Status ok = pages->reserve(sequence, positions); !ok) {
    return ok;
  }
  const std::span<const int32_t> entries = pages->table(sequence);
  if (int64_t(entries.size()) == tableEntries) {
    return Success();
  }
  if (Status ok = table.upload(entries); !ok) {
    return Error{"the KV page table: " + ok.error().message};
  }
  // Steps run on a stream that does not wait for such copies.
  if (Status ok = cudaStatus(cudaDeviceSynchronize(),
                             "cudaDeviceSynchronize behind the KV page table");
      !ok) {
    return ok;
  }
  tableEntries = int64_t(entries.size());
  return Success();
}

void Decoder::release() {
  pages->truncate(sequence, 0);
  tableEntries = 0;
}

Status Decoder::clearCache() {
  if (Status ok = cudaStatus(cudaMemset(pool.data(), 0, pool.bytes()),
                             "cudaMemset of the KV cache");
      !ok) {
    return ok;
  }
  return cudaStatus(cudaDeviceSynchronize(),
                    "cudaDeviceSynchronize behind the KV cache");
}

size_t Decoder::bytes() const {
  return weights.bytes() + input.bytes() + faults.bytes() + stream.bytes() +
         qkv.bytes() + heads.bytes() + projected.bytes() + gateUp.bytes() +
         logitRows.bytes() + normed.bytes() + headRows.bytes() +
         gatedRows.bytes() + greedyKeys.bytes() + greedyIds.bytes() +
         pool.bytes() + table.bytes() + scratch.bytes();
}

} // namespace orrery::gpu::ORRERY_GPU
