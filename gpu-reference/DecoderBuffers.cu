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
  void tables(PageTables &to, int64_t sequences, int64_t entries) {
    take(to, [&] { return PageTables::allocate(sequences, entries); });
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
  const auto rows = int32_t(std::max(plan.options.chunk, plan.options.batch));
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
  Allocator a;
  a.buffer(pool, pages().poolBytes(), "the KV cache");
  a.tables(tables, plan.options.batch, pages().pagesFor(plan.options.context));
  return a.status;
}

/// Buckets double, so that a step over few positions does not launch for all,
/// and few graphs serve a whole context.
Status Decoder::planBuckets() {
  constexpr int64_t kFirstBucket = 64;
  const struct {
    std::vector<AttentionPlan> &plans;
    int64_t rows;
    bool batched;
  } kinds[] = {{tokenPlans, 1, false},
               {chunkPlans, plan.options.chunk, false},
               {batchPlans, plan.options.batch, true}};
  size_t bytes = 0;
  for (int64_t bucket = kFirstBucket;; bucket *= 2) {
    const auto positions =
        int32_t(std::min<int64_t>(bucket, plan.options.context));
    for (const auto &kind : kinds) {
      Expected<AttentionPlan> made =
          planAttention(pages().layout(), int32_t(config.heads),
                        int32_t(kind.rows), positions, 0, kind.batched);
      if (!made) {
        return made.error();
      }
      bytes = std::max(bytes, attentionScratchBytes(*made, pages().layout()));
      kind.plans.push_back(*made);
    }
    if (bucket >= plan.options.context) {
      break;
    }
  }
  Allocator a;
  a.buffer(scratch, int64_t(bytes), "scratch of attention");
  return a.status;
}

const AttentionPlan &Decoder::attentionFor(const StepRows &step) const {
  const std::vector<AttentionPlan> &plans = step.batched()      ? batchPlans
                                            : step.count() == 1 ? tokenPlans
                                                                : chunkPlans;
  return *std::ranges::find_if(
      plans, [&](const AttentionPlan &p) { return p.bucket >= step.end(); });
}

Status Decoder::reserve(const StepRows &step) {
  std::vector<models::KvPages::Claim> claims;
  for (size_t i = 0; i < step.sequences.size(); ++i) {
    claims.push_back({step.sequences[i], step.endOf(i)});
  }
  if (Status ok = pages().reserve(claims); !ok) {
    return ok;
  }
  return tables.show(pages(), step.sequences);
}

Status Decoder::clear(Sequence sequence) {
  const auto bytes = size_t(pages().layout().pageBytes());
  for (int32_t page : pages().table(sequence)) {
    if (Status ok =
            cudaStatus(cudaMemset(pool.data() + size_t(page) * bytes, 0, bytes),
                       "cudaMemset of a page of the KV cache");
        !ok) {
      return ok;
    }
  }
  return cudaStatus(cudaDeviceSynchronize(),
                    "cudaDeviceSynchronize behind the KV cache");
}

size_t Decoder::bytes() const {
  return weights.bytes() + input.bytes() + faults.bytes() + stream.bytes() +
         qkv.bytes() + heads.bytes() + projected.bytes() + gateUp.bytes() +
         logitRows.bytes() + normed.bytes() + headRows.bytes() +
         gatedRows.bytes() + greedyKeys.bytes() + greedyIds.bytes() +
         pool.bytes() + tables.bytes() + scratch.bytes();
}

} // namespace orrery::gpu::ORRERY_GPU
