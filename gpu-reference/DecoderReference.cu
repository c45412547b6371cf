// A decoder as the Reference that plain C++ sees: requests are checked, steps
// run (recorded or op by op), waited for, and judged.
#include "gpu-reference/Backends.h"
#include "gpu-reference/Decoder.h"
#include "gpu-reference/StepGraph.h"
#include "gpu-reference/StepTimer.h"

#include <cmath>
#include <map>

namespace orrery::gpu::ORRERY_GPU {

namespace {

class DecoderReference : public Reference {
public:
  DecoderReference(const ReferencePlan &plan, std::unique_ptr<Decoder> decoder,
                   Stream stream)
      : plan(plan), decoder(std::move(decoder)), stream(std::move(stream)) {}

  Expected<StepLogits> run(std::span<const int32_t> ids,
                           uint32_t position) override;
  Expected<StepTimes> time(uint32_t position, int warmUp, int repeats) override;
  void reset() override {
    filled = 0;
    decoder->release();
  }
  void setObserver(Observer function) override {
    observer = std::move(function);
  }
  const models::ModelConfig &config() const override { return plan.config; }
  int64_t context() const override { return plan.options.context; }
  int64_t bytesHeld() const override { return int64_t(decoder->bytes()); }

private:
  Status check(std::span<const int32_t> ids, uint32_t position) const;
  /// "layer 3 attn_q (llm.linear)".
  std::string describe(uint32_t op) const {
    return decoder->ops().name(op) + " (" +
           std::string(decoder->ops().kind(op)) + ")";
  }

  Status execute(int32_t rows, uint32_t position);
  Status replay(uint32_t position);
  Status runObserved(int32_t rows, uint32_t position);
  Status observe(uint32_t op, const float *values, int32_t rows, int32_t width,
                 uint32_t position);
  Status judge(int32_t rows, uint32_t position);
  Expected<StepLogits> results(int32_t rows) const;

  ReferencePlan plan;
  std::unique_ptr<Decoder> decoder;
  Stream stream;
  /// By the bucket of positions that attention covers.
  std::map<int32_t, StepGraph> graphs;
  Observer observer;
  int64_t filled = 0; ///< positions that the cache holds
};

// Texts and their order are the interpreter's.
Status DecoderReference::check(std::span<const int32_t> ids,
                               uint32_t position) const {
  const auto count = int64_t(ids.size());
  const int64_t end = int64_t(position) + count;
  if (count < 1 || count > plan.options.chunk) {
    return Error{"step: expected 1 to " + std::to_string(plan.options.chunk) +
                 " tokens, found " + std::to_string(count)};
  }
  if (end > context()) {
    return Error{"step: expected positions below " + std::to_string(context()) +
                 ", found " + std::to_string(end - 1)};
  }
  for (size_t t = 0; t < ids.size(); ++t) {
    if (ids[t] < 0 || ids[t] >= config().vocab) {
      return Error{describe(decoder->ops().embed()) + ": position " +
                   std::to_string(position + t) + ": expected an id below " +
                   std::to_string(config().vocab) + ", found " +
                   std::to_string(ids[t])};
    }
  }
  if (int64_t(position) > filled) {
    return Error{describe(decoder->ops().of(0, LayerOp::Attention)) +
                 ": expected position " + std::to_string(filled) +
                 " or one before it, found " + std::to_string(position)};
  }
  return Success();
}

Expected<StepLogits> DecoderReference::run(std::span<const int32_t> ids,
                                           uint32_t position) {
  if (Status ok = check(ids, position); !ok) {
    return ok.error();
  }
  const auto rows = int32_t(ids.size());
  if (Status ok = decoder->reserve(int64_t(position) + rows); !ok) {
    return ok.error();
  }
  filled = position; // whatever stands behind is overwritten from here on
  decoder->setInput(ids, position);
  Status done =
      observer ? runObserved(rows, position) : execute(rows, position);
  if (done) {
    done = judge(rows, position);
  }
  if (!done) {
    return done.error();
  }
  Expected<StepLogits> step = results(rows);
  if (step) {
    filled = int64_t(position) + rows;
  }
  return step;
}

Status DecoderReference::execute(int32_t rows, uint32_t position) {
  Status given = Success();
  if (rows == 1 && plan.options.graph) {
    given = replay(position);
  } else {
    given = decoder->launch(
        rows, decoder->attentionFor(rows, int64_t(position) + rows),
        stream.get());
  }
  // What was given before an error is waited for all the same: the next step
  // writes the memory it reads.
  const Status waited = stream.wait();
  return given ? waited : given;
}

Status DecoderReference::replay(uint32_t position) {
  const AttentionPlan &attention =
      decoder->attentionFor(1, int64_t(position) + 1);
  auto found = graphs.find(attention.bucket);
  if (found == graphs.end()) {
    Expected<StepGraph> recorded = StepGraph::record(stream.get(), [&] {
      return decoder->launch(1, attention, stream.get());
    });
    if (!recorded) {
      return recorded.error();
    }
    found = graphs.emplace(attention.bucket, std::move(*recorded)).first;
  }
  return found->second.launch(stream.get());
}

Status DecoderReference::runObserved(int32_t rows, uint32_t position) {
  const Status done = decoder->launch(
      rows, decoder->attentionFor(rows, int64_t(position) + rows), stream.get(),
      [&](uint32_t op, const float *values, int32_t width) {
        return observe(op, values, rows, width, position);
      });
  const Status waited = stream.wait();
  return done ? waited : done;
}

/// Fetches an op's value, fails if it is not finite, and shows it.
Status DecoderReference::observe(uint32_t op, const float *values, int32_t rows,
                                 int32_t width, uint32_t position) {
  if (Status ok = stream.wait(); !ok) {
    return Error{describe(op) + ": " + ok.error().message};
  }
  std::vector<float> host(size_t(rows) * size_t(width));
  if (values != nullptr) {
    if (Status ok = cudaStatus(cudaMemcpy(host.data(), values,
                                          host.size() * sizeof(float),
                                          cudaMemcpyDeviceToHost),
                               "cudaMemcpy of the value of " + describe(op));
        !ok) {
      return ok;
    }
  } else {
    Expected<std::vector<int32_t>> ids = decoder->greedy(rows);
    if (!ids) {
      return ids.error();
    }
    host.assign(ids->begin(), ids->end());
  }
  for (size_t i = 0; i < host.size(); ++i) {
    if (!numerics::isFinite(host[i])) {
      return Error{describe(op) + ": position " +
                   std::to_string(position + i / size_t(width)) + ", element " +
                   std::to_string(i % size_t(width)) +
                   ": NaN, infinity or an accumulator outside +-2^27"};
    }
  }
  if (observer) {
    const std::string name = decoder->ops().name(op);
    observer({name, rows, width, host});
  }
  return Success();
}

/// After a step without error: whether every value of it is finite. If not,
/// the step runs once more, op by op, for the very element.
Status DecoderReference::judge(int32_t rows, uint32_t position) {
  const Expected<std::optional<FaultPlace>> fault = decoder->fault();
  if (!fault) {
    return fault.error();
  }
  if (!*fault) {
    return Success();
  }
  const Observer shown = std::exchange(observer, nullptr);
  const Status again = runObserved(rows, position);
  observer = shown;
  if (!again) {
    return again;
  }
  return Error{describe((*fault)->op) + ": position " +
               std::to_string(position + (*fault)->row) +
               ": the kernel reports NaN, infinity or an accumulator outside "
               "+-2^27, and no op's value is"};
}

Expected<StepLogits> DecoderReference::results(int32_t rows) const {
  Expected<std::vector<float>> logits = decoder->logits(rows);
  if (!logits) {
    return logits.error();
  }
  Expected<std::vector<int32_t>> greedy = decoder->greedy(rows);
  if (!greedy) {
    return greedy.error();
  }
  return StepLogits{config().vocab, std::move(*logits), std::move(*greedy)};
}

Expected<StepTimes> DecoderReference::time(uint32_t position, int warmUp,
                                           int repeats) {
  if (int64_t(position) >= context()) {
    return Error{"expected a position below " + std::to_string(context()) +
                 ", found " + std::to_string(position)};
  }
  reset();
  if (Status ok = decoder->reserve(int64_t(position) + 1); !ok) {
    return ok.error();
  }
  if (Status ok = decoder->clearCache(); !ok) {
    return ok.error();
  }
  decoder->setInput(std::vector<int32_t>{0}, position);
  Expected<StepTimes> times = timeOnStream(stream.get(), warmUp, repeats, [&] {
    return plan.options.graph
               ? replay(position)
               : decoder->launch(1, decoder->attentionFor(1, position + 1),
                                 stream.get());
  });
  const Status waited = stream.wait();
  if (times && !waited) {
    return waited.error();
  }
  if (times) {
    // Of the last step: all had the same input.
    if (Status ok = judge(1, position); !ok) {
      return ok.error();
    }
    times->bytes = int64_t(decoder->bytesRead(position));
  }
  return times;
}

} // namespace

Expected<std::unique_ptr<Reference>>
openReference(const models::WeightSource &weights, const ReferencePlan &plan) {
  Expected<Stream> stream = Stream::create();
  if (!stream) {
    return stream.error();
  }
  Expected<std::unique_ptr<Decoder>> decoder = Decoder::open(weights, plan);
  if (!decoder) {
    return decoder.error();
  }
  // Copies to device memory went through another stream.
  if (Status ok = cudaStatus(cudaDeviceSynchronize(),
                             "cudaDeviceSynchronize behind the weights");
      !ok) {
    return ok.error();
  }
  std::unique_ptr<Reference> reference = std::make_unique<DecoderReference>(
      plan, std::move(*decoder), std::move(*stream));
  return Expected<std::unique_ptr<Reference>>(std::move(reference));
}

} // namespace orrery::gpu::ORRERY_GPU
