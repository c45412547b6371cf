#include "runtime/Session.h"

#include "machine/Timing.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace orrery::runtime {

// Programs of one set have tables of one length; see LowerAttention.cpp.
static constexpr int64_t kMostTokens = 32;

Session::Session(const models::WeightSource &weights, SessionOptions options,
                 Machine machine)
    : weights(weights), options(std::move(options)), chip(std::move(machine)),
      context_(makeContext()) {}

Expected<std::unique_ptr<Session>>
Session::open(const models::WeightSource &weights,
              const SessionOptions &options) {
  auto machine = loadMachine(options.machine);
  if (!machine) {
    return machine.error();
  }
  std::unique_ptr<Session> session(
      new Session(weights, options, std::move(*machine)));
  if (Status ok = session->start(); !ok) {
    return ok.error();
  }
  return session;
}

// The first program also says what the image holds; all others agree with it.
Status Session::start() {
  context = options.context > 0 ? options.context
                                : weights.config().contextLength;
  auto format = models::WeightFormat::Q8_0;
  if (options.weights == llm::WeightFormat::Q4_0) {
    format = models::WeightFormat::Q4_0;
  }
  auto table = weights.matrix("token_embd.weight", format);
  if (!table) {
    return table.error();
  }
  embedding = std::move(*table);
  if (options.chunk == 0) {
    // Rows that pass while the next tile installs; two ticks to change over.
    options.chunk =
        int64_t(tileCycles(WeightFormat::Q8, uint32_t(chip.lanes),
                           uint32_t(chip.matrix.installStreams))) -
        2;
  }
  options.chunk = std::clamp<int64_t>(options.chunk, 1, kMostTokens);
  auto first = compiled(1, bucketFor(1));
  if (!first) {
    return first.error();
  }
  SramImage image(chip);
  if (Status ok = fillImage((*first)->image, chip, weights, image); !ok) {
    return ok;
  }
  sim = std::make_unique<sim::Simulator>(chip, std::move(image));
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

Expected<CompiledStep *> Session::compiled(int64_t tokens, int64_t bucket) {
  auto found = steps.find({tokens, bucket});
  if (found != steps.end()) {
    return &found->second;
  }
  CompileRequest request;
  request.machine = options.machine;
  request.import.tokens = tokens;
  request.import.bucket = std::min(bucket, context);
  request.import.context = context;
  request.import.weightFormat = options.weights;
  request.import.tensorFormats = options.tensorFormats;
  request.import.kvFormat = options.kv;
  request.textBase = textVectors;
  auto step = compileStep(*context_, weights.config(), request);
  if (!step) {
    return step.error();
  }
  textVectors += step->textVectors;
  auto at = steps.emplace(std::pair(tokens, bucket), std::move(*step));
  return &at.first->second;
}

// The longest chunk whose temporaries and activation rows fit this bucket.
Expected<CompiledStep *> Session::compiledChunk(int64_t bucket) {
  auto known = chunkOfBucket.find(bucket);
  if (known != chunkOfBucket.end()) {
    return compiled(known->second, bucket);
  }
  for (int64_t tokens = options.chunk;; tokens /= 2) {
    auto step = compiled(tokens, bucket);
    if (step || tokens == 1) {
      chunkOfBucket[bucket] = tokens;
      return step;
    }
  }
}

Expected<const Program *> Session::program(int64_t tokens, int64_t bucket) {
  auto step = compiled(tokens, bucket);
  if (!step) {
    return step.error();
  }
  return &(*step)->program;
}

std::vector<const Program *> Session::programs() const {
  std::vector<const Program *> out;
  for (const auto &[key, step] : steps) {
    out.push_back(&step.program);
  }
  return out;
}

mlir::ModuleOp Session::stepModule(const Program &program) const {
  for (const auto &[key, step] : steps) {
    if (&step.program == &program) {
      return *step.step;
    }
  }
  return {};
}

Expected<std::vector<StepRecord>>
Session::read(std::span<const int32_t> ids) {
  if (int64_t(position) + int64_t(ids.size()) > context) {
    return Error{std::to_string(ids.size()) + " tokens at position " +
                 std::to_string(position) + " do not fit the context of " +
                 std::to_string(context)};
  }
  std::vector<StepRecord> records;
  while (!ids.empty()) {
    // The tokens of a step stay inside one position tile.
    size_t most = size_t(chip.lanes) - position % size_t(chip.lanes);
    size_t wanted = std::min(ids.size(), most);
    auto with = wanted == 1
                    ? compiled(1, bucketFor(int64_t(position) + 1))
                    : compiledChunk(bucketFor(
                          int64_t(position) +
                          int64_t(std::min<size_t>(
                              wanted, size_t(options.chunk)))));
    if (!with) {
      return with.error();
    }
    size_t now = std::min(wanted, size_t((*with)->program.tokens));
    auto record = step(ids.first(now), **with);
    if (!record) {
      return record.error();
    }
    records.push_back(std::move(*record));
    ids = ids.subspan(now);
  }
  return records;
}

// Embedding rows come from the host, as f32, padded to whole vectors.
std::vector<float> Session::embed(std::span<const int32_t> ids,
                                  const Program &program) const {
  size_t row = size_t(program.inputVectors) * size_t(chip.lanes);
  std::vector<float> out(program.tokens * row);
  for (size_t t = 0; t < ids.size(); ++t) {
    auto values = embedding.dequantizedRow(ids[t]);
    std::copy(values.begin(), values.end(),
              out.begin() + std::ptrdiff_t(t * row));
  }
  return out;
}

Expected<StepRecord> Session::step(std::span<const int32_t> ids,
                                   CompiledStep &with) {
  for (int32_t id : ids) {
    if (id < 0 || id >= embedding.rows) {
      return Error{"token id " + std::to_string(id) + " is outside the " +
                   "vocabulary of " + std::to_string(embedding.rows)};
    }
  }
  sim::StepInput input;
  input.position = position;
  input.validTokens = uint32_t(ids.size());
  input.hostVectors = embed(ids, with.program);
  auto result = sim->run(with.program, input);
  if (!result) {
    return result.error();
  }
  StepRecord record{&with.program, position, input.validTokens,
                    std::move(*result), {}, 0};
  for (uint32_t t = 0; t < input.validTokens; ++t) {
    record.logits.push_back(sim->logits(with.program, t));
  }
  const auto &best = record.result.hostOutput[input.validTokens - 1];
  record.next = int32_t(std::bit_cast<uint32_t>(best[1]));
  position += input.validTokens;
  return record;
}

} // namespace orrery::runtime
