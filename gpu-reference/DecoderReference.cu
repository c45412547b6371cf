// A decoder as the Reference that plain C++ sees: requests are checked, steps
// run (recorded or op by op), waited for, and judged.
#include "gpu-reference/Backends.h"
#include "gpu-reference/Decoder.h"
#include "gpu-reference/StepGraph.h"
#include "gpu-reference/StepTimer.h"

#include <map>
#include <set>
#include <utility>

namespace orrery::gpu::ORRERY_GPU {

namespace {

class DecoderReference : public Reference {
public:
  DecoderReference(const ReferencePlan &plan, std::unique_ptr<Decoder> decoder,
                   Stream stream)
      : plan(plan), decoder(std::move(decoder)), stream(std::move(stream)) {}
  ~DecoderReference() override { closeOwn(); }

  Expected<StepLogits> run(Sequence sequence, std::span<const int32_t> ids,
                           uint32_t position) override;
  Expected<StepLogits> run(std::span<const int32_t> ids,
                           uint32_t position) override {
    if (!own) {
      own = pages().open();
    }
    return run(*own, ids, position);
  }
  Expected<StepLogits> decode(std::span<const SequenceToken> tokens) override;
  Expected<StepTimes> time(uint32_t position, int warmUp, int repeats,
                           int64_t batch) override;
  void reset() override { closeOwn(); }
  void setObserver(Observer function) override {
    observer = std::move(function);
  }
  const models::ModelConfig &config() const override { return plan.config; }
  int64_t context() const override { return plan.options.context; }
  models::KvPages &pages() override { return *plan.options.pages; }
  int64_t bytesHeld() const override { return int64_t(decoder->bytes()); }

private:
  void closeOwn() {
    if (own) {
      plan.options.pages->close(*std::exchange(own, std::nullopt));
    }
  }
  Status check(const StepRows &step);
  Status checkSequences(const StepRows &step);
  /// "layer 3 attn_q (llm.linear)".
  std::string describe(uint32_t op) const {
    return decoder->ops().name(op) + " (" +
           std::string(decoder->ops().kind(op)) + ")";
  }

  Expected<StepLogits> runStep(const StepRows &step);
  Status execute(const StepRows &step);
  Status replay(const StepRows &step);
  Status runObserved(const StepRows &step);
  Status observe(const StepRows &step, uint32_t op, const float *values,
                 int32_t width);
  Status judge(const StepRows &step);
  Expected<StepLogits> results(int32_t rows) const;
  Expected<StepTimes> timeStep(const StepRows &step, int warmUp, int repeats);

  ReferencePlan plan;
  std::unique_ptr<Decoder> decoder;
  Stream stream;
  /// By the bucket of positions that attention covers, and sequences.
  std::map<std::pair<int32_t, int32_t>, StepGraph> graphs;
  Observer observer;
  std::optional<Sequence> own; ///< of run() without one, and open
};

Expected<StepLogits> DecoderReference::run(Sequence sequence,
                                           std::span<const int32_t> ids,
                                           uint32_t position) {
  const auto count = int64_t(ids.size());
  if (count < 1 || count > plan.options.chunk) {
    return Error{"step: expected 1 to " + std::to_string(plan.options.chunk) +
                 " tokens, found " + std::to_string(count)};
  }
  return runStep(StepRows::ofSequence(sequence, ids, position));
}

Expected<StepLogits>
DecoderReference::decode(std::span<const SequenceToken> tokens) {
  const auto count = int64_t(tokens.size());
  if (count < 1 || count > plan.options.batch) {
    return Error{"step: expected 1 to " + std::to_string(plan.options.batch) +
                 " sequences, found " + std::to_string(count)};
  }
  return runStep(StepRows::ofBatch(tokens));
}

Status DecoderReference::checkSequences(const StepRows &step) {
  std::set<Sequence> seen;
  for (Sequence sequence : step.sequences) {
    if (!pages().isOpen(sequence)) {
      return Error{"step: sequence " + std::to_string(sequence) +
                   " is not open"};
    }
    if (!seen.insert(sequence).second) {
      return Error{"step: expected each sequence once, found sequence " +
                   std::to_string(sequence) + " twice"};
    }
  }
  return Success();
}

// Texts and their order are the interpreter's.
Status DecoderReference::check(const StepRows &step) {
  if (Status ok = checkSequences(step); !ok) {
    return ok;
  }
  if (step.end() > context()) {
    return Error{"step: expected positions below " + std::to_string(context()) +
                 ", found " + std::to_string(step.end() - 1)};
  }
  for (size_t t = 0; t < step.ids.size(); ++t) {
    if (step.ids[t] < 0 || step.ids[t] >= config().vocab) {
      return Error{describe(decoder->ops().embed()) + ": " + step.place(t) +
                   ": expected an id below " + std::to_string(config().vocab) +
                   ", found " + std::to_string(step.ids[t])};
    }
  }
  for (size_t i = 0; i < step.sequences.size(); ++i) {
    const int64_t filled = pages().filled(step.sequences[i]);
    if (int64_t(step.positions[i]) > filled) {
      return Error{
          describe(decoder->ops().of(0, LayerOp::Attention)) +
          (step.batched() ? ": sequence " + std::to_string(step.sequences[i])
                          : "") +
          ": expected position " + std::to_string(filled) +
          " or one before it, found " + std::to_string(step.positions[i])};
    }
  }
  return Success();
}

Expected<StepLogits> DecoderReference::runStep(const StepRows &step) {
  if (Status ok = check(step); !ok) {
    return ok.error();
  }
  if (Status ok = decoder->reserve(step); !ok) {
    return ok.error();
  }
  // Whatever stands behind is overwritten from here on.
  for (size_t i = 0; i < step.sequences.size(); ++i) {
    pages().setFilled(step.sequences[i], step.positions[i]);
  }
  decoder->setInput(step);
  Status done = observer ? runObserved(step) : execute(step);
  if (done) {
    done = judge(step);
  }
  if (!done) {
    return done.error();
  }
  Expected<StepLogits> logits = results(step.count());
  for (size_t i = 0; logits && i < step.sequences.size(); ++i) {
    pages().setFilled(step.sequences[i], step.endOf(i));
  }
  return logits;
}

Status DecoderReference::execute(const StepRows &step) {
  const Status given =
      step.decodes() && plan.options.graph
          ? replay(step)
          : decoder->launch(step, decoder->attentionFor(step), stream.get());
  // What was given before an error is waited for all the same: the next step
  // writes the memory it reads.
  const Status waited = stream.wait();
  return given ? waited : given;
}

Status DecoderReference::replay(const StepRows &step) {
  const AttentionPlan &attention = decoder->attentionFor(step);
  const std::pair key(attention.bucket, step.count());
  auto found = graphs.find(key);
  if (found == graphs.end()) {
    Expected<StepGraph> recorded = StepGraph::record(stream.get(), [&] {
      return decoder->launch(step, attention, stream.get());
    });
    if (!recorded) {
      return recorded.error();
    }
    found = graphs.emplace(key, std::move(*recorded)).first;
  }
  return found->second.launch(stream.get());
}

Status DecoderReference::runObserved(const StepRows &step) {
  const Status done =
      decoder->launch(step, decoder->attentionFor(step), stream.get(),
                      [&](uint32_t op, const float *values, int32_t width) {
                        return observe(step, op, values, width);
                      });
  const Status waited = stream.wait();
  return done ? waited : done;
}

/// Fetches an op's value, fails if it is not finite, and shows it.
Status DecoderReference::observe(const StepRows &step, uint32_t op,
                                 const float *values, int32_t width) {
  if (Status ok = stream.wait(); !ok) {
    return Error{describe(op) + ": " + ok.error().message};
  }
  const int32_t rows = step.count();
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
      return Error{describe(op) + ": " + step.place(i / size_t(width)) +
                   ", element " + std::to_string(i % size_t(width)) +
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
Status DecoderReference::judge(const StepRows &step) {
  const Expected<std::optional<FaultPlace>> fault = decoder->fault();
  if (!fault) {
    return fault.error();
  }
  if (!*fault) {
    return Success();
  }
  const Observer shown = std::exchange(observer, nullptr);
  const Status again = runObserved(step);
  observer = shown;
  if (!again) {
    return again;
  }
  return Error{describe((*fault)->op) + ": " + step.place((*fault)->row) +
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
                                           int repeats, int64_t batch) {
  if (int64_t(position) >= context()) {
    return Error{"expected a position below " + std::to_string(context()) +
                 ", found " + std::to_string(position)};
  }
  if (batch < 1 || batch > plan.options.batch) {
    return Error{"expected 1 to " + std::to_string(plan.options.batch) +
                 " sequences, found " + std::to_string(batch)};
  }
  reset();
  std::vector<SequenceToken> tokens;
  for (int64_t i = 0; i < batch; ++i) {
    tokens.push_back({pages().open(), 0, position});
  }
  const StepRows step = StepRows::ofBatch(tokens);
  Expected<StepTimes> times = timeStep(step, warmUp, repeats);
  for (Sequence sequence : step.sequences) {
    pages().close(sequence);
  }
  return times;
}

Expected<StepTimes> DecoderReference::timeStep(const StepRows &step, int warmUp,
                                               int repeats) {
  if (Status ok = decoder->reserve(step); !ok) {
    return ok.error();
  }
  for (Sequence sequence : step.sequences) {
    if (Status ok = decoder->clear(sequence); !ok) {
      return ok.error();
    }
  }
  decoder->setInput(step);
  Expected<StepTimes> times = timeOnStream(stream.get(), warmUp, repeats, [&] {
    return plan.options.graph
               ? replay(step)
               : decoder->launch(step, decoder->attentionFor(step),
                                 stream.get());
  });
  const Status waited = stream.wait();
  if (times && !waited) {
    return waited.error();
  }
  if (times) {
    // Of the last step: all had the same input.
    if (Status ok = judge(step); !ok) {
      return ok.error();
    }
    times->bytes =
        int64_t(decoder->bytesRead(step.positions.front(), step.count()));
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
