#include "runtime/BatchRun.h"

#include "runtime/ReferenceCheck.h"

namespace orrery::runtime {

Expected<BatchRun> BatchRun::open(const models::WeightSource &weights,
                                  const BatchOptions &options,
                                  std::span<const SequenceRows> sequences) {
  gpu::ReferenceOptions reference = referenceOptions(options.import);
  reference.chunk = kBatchChunk;
  reference.batch = options.batch;
  models::ModelConfig config = weights.config();
  config.layers = options.import.layers ? options.import.layers : config.layers;
  int64_t pages = options.pages;
  for (size_t i = 0; options.pages == 0 && i < sequences.size(); ++i) {
    pages += (int64_t(sequences[i].ids.size()) - 1) / kBatchPagePositions + 1;
  }
  auto manager = KvManager::create(
      models::kvLayout(config, reference.kv, kBatchPagePositions), pages);
  if (!manager) {
    return manager.error();
  }
  reference.pages = manager->pages();
  auto opened = gpu::Reference::open(weights, reference, options.backend);
  if (!opened) {
    return opened.error();
  }
  return BatchRun(sequences, options.batch, std::move(*manager),
                  std::move(*opened));
}

/// In the order of the sequences, as many as the batch and the pages take.
Status BatchRun::admit() {
  while (running.size() < batch && next < sequences.size()) {
    auto sequence = manager.admit(int64_t(sequences[next].ids.size()));
    if (!sequence) {
      return running.empty() ? Status(sequence.error()) : Status(Success{});
    }
    running.push_back({next++, *sequence});
  }
  return Success{};
}

/// A chunk of the first prompt that is not read to its end; else a token of
/// all. `places` are those of its rows.
Expected<gpu::StepLogits> BatchRun::step(std::vector<SequencePlace> &places) {
  for (Running &r : running) {
    if (r.read < sequences[r.index].prompt) {
      const auto ids = sequences[r.index].idsOfStep(r.read);
      const auto position = uint32_t(r.read);
      for (size_t t = 0; t < ids.size(); ++t) {
        places.push_back({r.index, uint32_t(r.read++)});
      }
      return reference->run(r.sequence, ids, position);
    }
  }
  std::vector<gpu::SequenceToken> tokens;
  for (Running &r : running) {
    const auto position = uint32_t(r.read++);
    places.push_back({r.index, position});
    tokens.push_back({r.sequence, sequences[r.index].ids[position], position});
  }
  ++outcome.steps;
  outcome.greatestStep = std::max(outcome.greatestStep, int64_t(tokens.size()));
  return reference->decode(tokens);
}

void BatchRun::finishDone() {
  std::erase_if(running, [&](const Running &r) {
    const bool done = r.read == sequences[r.index].ids.size();
    if (done) {
      manager.finish(r.sequence);
    }
    return done;
  });
}

Status BatchRun::run(const OnStep &onStep) {
  while (next < sequences.size() || !running.empty()) {
    if (Status ok = admit(); !ok) {
      return ok;
    }
    std::vector<SequencePlace> places;
    auto logits = step(places);
    if (!logits) {
      return logits.error();
    }
    if (!onStep(places, *logits)) {
      break;
    }
    finishDone();
  }
  return Success{};
}

bool BatchRun::countRows(const std::vector<SequencePlace> &places,
                         const gpu::StepLogits &logits) {
  for (size_t i = 0; i < places.size(); ++i) {
    const SequenceRows &rows = sequences[places[i].sequence];
    const uint32_t at = places[i].position;
    BitCompare &bits = outcome.bits;
    const uint64_t before = bits.different() + bits.otherChoices();
    bits.add(at, rows.row(at), logits.row(int64_t(i)));
    bits.addChoice(at, rows.greedy[at], logits.greedy[i]);
    if (!different && bits.different() + bits.otherChoices() > before) {
      different = places[i];
    }
  }
  return true;
}

Expected<BatchOutcome> BatchRun::compare() {
  Status done = run([&](const auto &places, const gpu::StepLogits &logits) {
    return countRows(places, logits);
  });
  if (!done) {
    return done.error();
  }
  outcome.sequences = int64_t(sequences.size());
  outcome.pages = manager.pages()->pages();
  outcome.pagesUsed = manager.pages()->mostUsedPages();
  return outcome;
}

Expected<std::vector<OpRow>> BatchRun::opsAt(const SequencePlace &place) {
  struct Seen {
    std::string op;
    int64_t width;
    std::vector<float> values;
  };
  std::vector<Seen> seen;
  std::vector<OpRow> ops;
  reference->setObserver([&](const gpu::OpValue &value) {
    seen.push_back({std::string(value.op),
                    value.width,
                    {value.values.begin(), value.values.end()}});
  });
  Status done = run([&](const auto &places, const gpu::StepLogits &) {
    const auto found = std::ranges::find(places, place);
    for (const Seen &s : seen) {
      if (found != places.end()) {
        const auto row = s.values.begin() + (found - places.begin()) * s.width;
        ops.push_back({s.op, "", {row, row + s.width}});
      }
    }
    seen.clear();
    return found == places.end();
  });
  reference->setObserver(nullptr);
  if (!done) {
    return done.error();
  }
  return ops;
}

} // namespace orrery::runtime
