#include "runtime/Session.h"

#include "machine/Timing.h"
#include "runtime/CutStep.h"
#include "runtime/ProgramSet.h"
#include "runtime/StageChips.h"

#include <algorithm>

namespace orrery::runtime {

Session::Session(const models::WeightSource &weights, SessionOptions options,
                 Machine machine)
    : weights(weights), options(std::move(options)), chip(std::move(machine)),
      context_(makeContext()) {}

Expected<std::unique_ptr<Session>>
Session::open(const models::WeightSource &weights,
              const SessionOptions &options, bool *tooBig) {
  bool ignored = false;
  bool &limits = tooBig ? *tooBig : ignored;
  limits = false;
  auto machine = loadMachine(options.machine);
  if (!machine) {
    return machine.error();
  }
  std::unique_ptr<Session> session(
      new Session(weights, options, std::move(*machine)));
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

// The first program also says what the images hold; `compiled` holds all others
// against it.
Status Session::start(bool &tooBig) {
  context =
      options.context > 0 ? options.context : weights.config().contextLength;
  auto table = openEmbedding();
  if (!table) {
    return table.error();
  }
  if (options.chunk == 0) {
    // Rows that pass while the next tile installs; two ticks to change over.
    options.chunk = int64_t(tileCycles(WeightFormat::Q8, uint32_t(chip.lanes),
                                       uint32_t(chip.matrix.installStreams))) -
                    2;
  }
  options.chunk = std::max<int64_t>(options.chunk, 1);
  auto first = compiled(1, bucketFor(1));
  if (!first) {
    tooBig = true;
    return options.upTo.empty()
               ? withRoomFor(first.error(), *context_, weights.config(),
                             requestFor(1, bucketFor(1)))
               : first.error();
  }
  if (options.progress) {
    options.progress("filling SRAM");
  }
  auto images = fillImages(**first, chip, weights, options.afterFill);
  if (!images) {
    return images.error();
  }
  hostInput = std::make_unique<HostInput>(**first, chip, std::move(*table));
  sim = std::make_unique<sim::SystemSimulator>(chip, std::move(*images));
  return Success{};
}

int64_t Session::bucketFor(int64_t positions) const {
  int64_t lanes = chip.lanes;
  int64_t most = (context + lanes - 1) / lanes * lanes;
  int64_t bucket = lanes;
  while (bucket < positions) {
    bucket *= 2;
  }
  return std::min(bucket, most);
}

CompileRequest Session::requestFor(int64_t tokens, int64_t bucket) const {
  CompileRequest request;
  request.machine = options.machine;
  request.import.tokens = tokens;
  request.import.bucket = std::min(bucket, context);
  request.import.context = context;
  request.import.weightFormat = options.weights;
  request.import.tensorFormats = options.tensorFormats;
  request.import.kvFormat = options.kv;
  request.split = options.split;
  request.textBases = textVectors;
  return request;
}

Expected<CompiledStep *> Session::compiled(int64_t tokens, int64_t bucket) {
  auto found = steps.find({tokens, bucket});
  if (found != steps.end()) {
    return &found->second;
  }
  CompileRequest request = requestFor(tokens, bucket);
  if (options.progress) {
    options.progress("compiling T=" + std::to_string(tokens) + " up to " +
                     "position " + std::to_string(request.import.bucket));
  }
  auto step =
      options.upTo.empty()
          ? compileStep(*context_, weights.config(), request)
          : compileProbe(*context_, weights.config(), request, options.upTo);
  if (!step) {
    return step.error();
  }
  if (Status ok = goesWithOthers(*step); !ok) {
    return ok.error();
  }
  // What the compiler chose for the first is asked of all others.
  auto stages = stageChips(step->system);
  options.split = {int64_t(stages.front().size()), int64_t(stages.size())};
  textVectors.resize(step->parts.size());
  for (size_t part = 0; part < step->parts.size(); ++part) {
    textVectors[part] += step->parts[part].textVectors;
  }
  auto at = steps.emplace(std::pair(tokens, bucket), std::move(*step));
  return &at.first->second;
}

Status Session::goesWithOthers(const CompiledStep &step) const {
  // Any of the set stands for the first: they are equal.
  if (!steps.empty()) {
    const SystemProgram &first = steps.begin()->second.system;
    if (Status ok = runAlike(first, step.system); !ok) {
      return ok;
    }
    if (Status ok = shareWhatLasts(first, step.system); !ok) {
      return ok;
    }
  }
  for (const auto &[key, other] : steps) {
    if (Status ok = standApart(step.system, other.system); !ok) {
      return ok;
    }
  }
  return Success{};
}

// The longest chunk whose temporaries and activation rows fit this bucket.
Expected<CompiledStep *> Session::compiledChunk(int64_t bucket) {
  auto known = chunkOfBucket.find(bucket);
  if (known != chunkOfBucket.end()) {
    return compiled(known->second, bucket);
  }
  int64_t longest = std::min({options.chunk, bucket, context});
  for (int64_t tokens = longest;; tokens /= 2) {
    auto step = compiled(tokens, bucket);
    if (!step && !isLackOfRoom(step.error())) {
      return step;
    }
    if (step || tokens == 1) {
      chunkOfBucket[bucket] = tokens;
      return step;
    }
  }
}

Expected<const SystemProgram *> Session::program(int64_t tokens,
                                                 int64_t bucket) {
  auto step = compiled(tokens, bucket);
  if (!step) {
    return step.error();
  }
  return &(*step)->system;
}

std::vector<const SystemProgram *> Session::programs() const {
  std::vector<const SystemProgram *> out;
  for (const auto &[key, step] : steps) {
    out.push_back(&step.system);
  }
  return out;
}

const CompiledStep &Session::compiledOf(const SystemProgram &program) const {
  auto found = std::find_if(steps.begin(), steps.end(), [&](const auto &entry) {
    return &entry.second.system == &program;
  });
  assert(found != steps.end() && "a program of another session");
  return found->second;
}

Status Session::checkRoom(int64_t ids) const {
  if (int64_t(position) + ids > context) {
    return Error{std::to_string(ids) + " tokens at position " +
                 std::to_string(position) + " do not fit the context of " +
                 std::to_string(context)};
  }
  return Success{};
}

// The tokens of a step stay inside one position tile.
Expected<Session::Chunk> Session::nextChunk(int64_t at, int64_t left) {
  int64_t wanted = std::min(left, chip.lanes - at % chip.lanes);
  auto with =
      wanted == 1
          ? compiled(1, bucketFor(at + 1))
          : compiledChunk(bucketFor(at + std::min(wanted, options.chunk)));
  if (!with) {
    return with.error();
  }
  return Chunk{*with,
               std::min(wanted, int64_t((*with)->system.parts.front().tokens))};
}

Status Session::prepare(int64_t ids, int64_t positions) {
  if (Status ok = checkRoom(ids); !ok) {
    return ok;
  }
  int64_t at = position, end = at + ids;
  int64_t last = std::max(end, std::min(positions, context));
  while (at < last) {
    auto chunk = nextChunk(at, std::max<int64_t>(end - at, 1));
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
  auto chunk = nextChunk(position, int64_t(ids.size()));
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
                                   CompiledStep &with) {
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
