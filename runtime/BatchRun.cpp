#include "runtime/BatchRun.h"

#include <bit>

namespace orrery::runtime {

/// In the order of the sequences, as many as the batch and the pages take.
Status BatchRun::admit() {
  while (running.size() < batch && next < sequences.size()) {
    auto sequence = pool.manager.admit(int64_t(sequences[next].ids.size()));
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
      say("prompt of text " + std::to_string(r.index + 1));
      const auto ids = sequences[r.index].idsOfStep(r.read);
      const auto position = uint32_t(r.read);
      for (size_t t = 0; t < ids.size(); ++t) {
        places.push_back({r.index, uint32_t(r.read++)});
      }
      return pool.reference->run(r.sequence, ids, position);
    }
  }
  std::vector<gpu::SequenceToken> tokens;
  for (Running &r : running) {
    const auto position = uint32_t(r.read++);
    places.push_back({r.index, position});
    tokens.push_back({r.sequence, sequences[r.index].ids[position], position});
  }
  ++steps;
  say("step " + std::to_string(steps));
  greatestStep = std::max(greatestStep, int64_t(tokens.size()));
  return pool.reference->decode(tokens);
}

void BatchRun::finishDone() {
  std::erase_if(running, [&](const Running &r) {
    const bool done = r.read == sequences[r.index].ids.size();
    if (done) {
      pool.manager.finish(r.sequence);
    }
    return done;
  });
}

/// From the start; leaves no sequence open, however it ends.
Status BatchRun::run(const OnStep &onStep) {
  next = 0;
  steps = greatestStep = 0;
  Status done = runSteps(onStep);
  for (const Running &r : running) {
    pool.manager.finish(r.sequence);
  }
  running.clear();
  return done;
}

Status BatchRun::runSteps(const OnStep &onStep) {
  while (next < sequences.size() || !running.empty()) {
    if (Status ok = admit(); !ok) {
      return ok;
    }
    std::vector<SequencePlace> places;
    auto found = step(places);
    if (!found) {
      return found.error();
    }
    auto more = onStep(places, *found);
    if (!more) {
      return more.error();
    }
    if (!*more) {
      break;
    }
    finishDone();
  }
  return Success{};
}

Expected<bool> BatchRun::countRows(const std::vector<SequencePlace> &places,
                                   const gpu::StepLogits &found) {
  const auto asFloat = [](int32_t id) {
    return std::bit_cast<uint32_t>(float(id));
  };
  for (size_t i = 0; i < places.size(); ++i) {
    const SequenceRows &rows = sequences[places[i].sequence];
    const uint32_t at = places[i].position;
    auto expected = logits.read(rows.firstRow + at);
    if (!expected) {
      return expected.error();
    }
    bits.add(at, *expected, found.row(int64_t(i)));
    bits.addChoice(at, rows.greedy[at], found.greedy[i]);
    if (!different && bits.first()) {
      different = {places[i], *bits.first()};
    } else if (!different && bits.firstChoice()) {
      const ChoiceDifference &choice = *bits.firstChoice();
      different = {places[i],
                   {at, 0, asFloat(choice.expected), asFloat(choice.found)}};
    }
  }
  return true;
}

Expected<BatchOutcome> BatchRun::compare() {
  Status done = run([&](const auto &places, const gpu::StepLogits &found) {
    return countRows(places, found);
  });
  if (!done) {
    return done.error();
  }
  const models::KvPages &pages = *pool.manager.pages();
  return BatchOutcome{
      int64_t(sequences.size()), steps, greatestStep, pages.pages(),
      pages.mostUsedPages(),     bits,  std::nullopt};
}

Expected<std::vector<SeenOp>> BatchRun::opsAt(const SequencePlace &place) {
  // Whose rows a value has is known behind the step.
  std::vector<SeenOp> seen, ops;
  pool.reference->setObserver(
      [&](const gpu::OpValue &value) { seen.push_back(seenOp(value)); });
  Status done = run([&](const auto &places, const gpu::StepLogits &) {
    const auto found = std::ranges::find(places, place);
    for (const SeenOp &s : seen) {
      if (found != places.end()) {
        ops.push_back(rowOf(s, found - places.begin()));
      }
    }
    seen.clear();
    return Expected<bool>(found == places.end());
  });
  pool.reference->setObserver(nullptr);
  if (!done) {
    return done.error();
  }
  return ops;
}

} // namespace orrery::runtime
