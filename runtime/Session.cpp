#include "runtime/Session.h"

#include <algorithm>

namespace orrery::runtime {

Session::Session(const models::WeightSource &weights, SessionOptions options,
                 std::unique_ptr<StepSet> set)
    : weights(weights), options(std::move(options)), set(std::move(set)) {}

Expected<std::unique_ptr<Session>>
Session::open(const models::WeightSource &weights,
              const SessionOptions &options, bool *tooBig) {
  bool ignored = false;
  bool &limits = tooBig ? *tooBig : ignored;
  limits = false;
  auto set = StepSet::open(weights.config(), options);
  if (!set) {
    return set.error();
  }
  std::unique_ptr<Session> session(
      new Session(weights, options, std::move(*set)));
  if (Status ok = session->start(limits); !ok) {
    return ok.error();
  }
  return session;
}

Expected<EmbeddingTable> Session::openEmbedding() const {
  auto own = options.tensorFormats.find("token_embd.weight");
  return EmbeddingTable::open(weights, own == options.tensorFormats.end()
                                           ? options.weights
                                           : own->second);
}

// The first program also says what the images hold; the set holds all others
// against it.
Status Session::start(bool &tooBig) {
  auto table = openEmbedding();
  if (!table) {
    return table.error();
  }
  auto first = set->step(1, bucketFor(1));
  if (!first) {
    tooBig = true;
    return options.upTo.empty()
               ? withRoomFor(first.error(), set->context(), weights.config(),
                             set->requestFor(1, bucketFor(1)))
               : first.error();
  }
  if (options.progress) {
    options.progress("filling SRAM");
  }
  auto images = fillImages(**first, set->machine(), weights, options.afterFill);
  if (!images) {
    return images.error();
  }
  hostInput =
      std::make_unique<HostInput>(**first, set->machine(), std::move(*table));
  sim = std::make_unique<sim::SystemSimulator>(set->machine(),
                                               std::move(*images));
  return Success{};
}

Expected<const SystemProgram *> Session::program(int64_t tokens,
                                                 int64_t bucket) {
  auto step = set->step(tokens, bucket);
  if (!step) {
    return step.error();
  }
  return &(*step)->system;
}

const CompiledStep &Session::compiledOf(const SystemProgram &program) const {
  auto found = std::ranges::find_if(set->steps(), [&](const CompiledStep *s) {
    return &s->system == &program;
  });
  assert(found != set->steps().end() && "a program of another session");
  return **found;
}

Status Session::checkRoom(int64_t ids) const {
  if (int64_t(position) + ids > set->positions()) {
    return Error{std::to_string(ids) + " tokens at position " +
                 std::to_string(position) + " do not fit the context of " +
                 std::to_string(set->positions())};
  }
  return Success{};
}

Status Session::prepare(int64_t ids, int64_t positions) {
  if (Status ok = checkRoom(ids); !ok) {
    return ok;
  }
  int64_t at = position, end = at + ids;
  int64_t last = std::max(end, std::min(positions, set->positions()));
  while (at < last) {
    auto chunk = set->next(at, std::max<int64_t>(end - at, 1));
    if (!chunk) {
      return chunk.error();
    }
    at += chunk->tokens;
  }
  return Success{};
}

Expected<StepRecord> Session::readSome(std::span<const int32_t> &ids) {
  assert(!ids.empty() && "nothing to read");
  if (Status ok = checkRoom(int64_t(ids.size())); !ok) {
    return ok.error();
  }
  auto chunk = set->next(position, int64_t(ids.size()));
  if (!chunk) {
    return chunk.error();
  }
  auto record = step(ids.first(size_t(chunk->tokens)), *chunk->step);
  ids = ids.subspan(size_t(chunk->tokens));
  return record;
}

Expected<std::vector<StepRecord>> Session::read(std::span<const int32_t> ids) {
  if (Status ok = checkRoom(int64_t(ids.size())); !ok) {
    return ok.error();
  }
  std::vector<StepRecord> records;
  while (!ids.empty()) {
    auto record = readSome(ids);
    if (!record) {
      return record.error();
    }
    records.push_back(std::move(*record));
  }
  return records;
}

Expected<StepRecord> Session::step(std::span<const int32_t> ids,
                                   const CompiledStep &with) {
  for (int32_t id : ids) {
    if (id < 0 || id >= hostInput->vocabulary()) {
      return Error{"token id " + std::to_string(id) + " is outside the " +
                   "vocabulary of " + std::to_string(hostInput->vocabulary())};
    }
  }
  sim::SystemInput input;
  input.position = position;
  input.validTokens = uint32_t(ids.size());
  input.hostVectors =
      hostInput->of(with.system, ids, position, options.afterRows);
  auto result = sim->run(with.system, input);
  if (!result) {
    return result.error();
  }
  auto greedy = sentIds(with.system, *result, input.validTokens);
  if (!greedy) {
    return greedy.error();
  }
  StepRecord record{&with.system,       position, input.validTokens,
                    std::move(*result), {},       std::move(*greedy)};
  for (uint32_t t = 0; t < input.validTokens; ++t) {
    record.logits.push_back(gatherLogits(with, *sim, t));
  }
  position += input.validTokens;
  return record;
}

} // namespace orrery::runtime
