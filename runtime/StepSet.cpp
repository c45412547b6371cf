#include "runtime/StepSet.h"

#include "machine/Timing.h"
#include "runtime/CutStep.h"
#include "runtime/ProgramSet.h"
#include "runtime/timing/Refusal.h"

#include <algorithm>

namespace orrery::runtime {

/// Tokens that fill the matrix unit: rows that pass while the next tile
/// installs; two ticks to change over.
static int64_t fullChunk(const Machine &machine) {
  auto install = int64_t(tileCycles(WeightFormat::Q8, uint32_t(machine.lanes),
                                    uint32_t(machine.matrix.installStreams)));
  return std::max<int64_t>(install - 2, 1);
}

StepSet::StepSet(models::ModelConfig config, StepSetOptions options,
                 Machine machine)
    : model(std::move(config)), options(std::move(options)),
      system(std::move(machine)), mlir(makeContext()) {
  if (this->options.context == 0) {
    this->options.context = model.contextLength;
  }
  if (this->options.chunk == 0) {
    this->options.chunk = fullChunk(system);
  }
}

Expected<std::unique_ptr<StepSet>> StepSet::open(models::ModelConfig config,
                                                 StepSetOptions options) {
  auto machine = loadMachine(options.machine);
  if (!machine) {
    return machine.error();
  }
  return std::unique_ptr<StepSet>(
      new StepSet(std::move(config), std::move(options), std::move(*machine)));
}

int64_t StepSet::bucketFor(int64_t positions) const {
  int64_t lanes = system.lanes;
  int64_t bucket = lanes;
  while (bucket < positions) {
    bucket *= 2;
  }
  return std::min(bucket, options.context);
}

CompileRequest StepSet::requestFor(int64_t tokens, int64_t bucket) const {
  CompileRequest request;
  request.machine = options.machine;
  request.import.tokens = tokens;
  request.import.bucket = bucket;
  request.import.context = options.context;
  request.import.weightFormat = options.weights;
  request.import.tensorFormats = options.tensorFormats;
  request.import.kvFormat = options.kv;
  request.split = options.split;
  request.textBases = textVectors;
  return request;
}

Status StepSet::goesWithOthers(const CompiledStep &step) const {
  if (!order.empty()) {
    const SystemProgram &first = order.front()->system;
    if (Status ok = runAlike(first, step.system); !ok) {
      return ok;
    }
    if (Status ok = shareWhatLasts(first, step.system); !ok) {
      return ok;
    }
  }
  for (const CompiledStep *other : order) {
    if (Status ok = standApart(step.system, other->system); !ok) {
      return ok;
    }
  }
  return Success{};
}

Expected<CompiledStep> StepSet::compile(int64_t tokens, int64_t bucket) {
  if (options.progress) {
    options.progress("compiling T=" + std::to_string(tokens) +
                     " up to position " + std::to_string(bucket));
  }
  CompileRequest request = requestFor(tokens, bucket);
  return options.upTo.empty()
             ? compileStep(*mlir, model, request)
             : compileProbe(*mlir, model, request, options.upTo);
}

Expected<const CompiledStep *> StepSet::step(int64_t tokens, int64_t bucket) {
  auto found = compiled.find({tokens, bucket});
  if (found != compiled.end()) {
    return &found->second;
  }
  auto step = compile(tokens, bucket);
  if (!step) {
    return step.error();
  }
  if (Status ok = goesWithOthers(*step); !ok) {
    return ok.error();
  }
  // What the compiler chose for the first is asked of all others.
  options.split = step->split;
  textVectors.resize(step->parts.size());
  for (size_t part = 0; part < step->parts.size(); ++part) {
    textVectors[part] += step->parts[part].textVectors;
  }
  auto at = compiled.emplace(std::pair(tokens, bucket), std::move(*step));
  order.push_back(&at.first->second);
  return order.back();
}

Expected<const CompiledStep *> StepSet::chunk(int64_t bucket) {
  auto known = chunkOfBucket.find(bucket);
  if (known != chunkOfBucket.end()) {
    return step(known->second, bucket);
  }
  for (int64_t tokens = std::min(options.chunk, bucket);; tokens /= 2) {
    auto longest = step(tokens, bucket);
    if (!longest && !isLackOfRoom(longest.error())) {
      return longest;
    }
    if (longest || tokens == 1) {
      chunkOfBucket[bucket] = tokens;
      return longest;
    }
  }
}

std::vector<const SystemProgram *> StepSet::programs() const {
  std::vector<const SystemProgram *> out;
  for (const CompiledStep *step : order) {
    out.push_back(&step->system);
  }
  return out;
}

Expected<PromptStep> StepSet::next(int64_t at, int64_t left) {
  int64_t wanted = std::min(left, system.lanes - at % system.lanes);
  auto with = wanted == 1
                  ? step(1, bucketFor(at + 1))
                  : chunk(bucketFor(at + std::min(wanted, options.chunk)));
  if (!with) {
    return with.error();
  }
  auto most = int64_t((*with)->system.parts.front().tokens);
  return PromptStep{*with, std::min(wanted, most)};
}

Expected<std::vector<PromptStep>> promptSteps(StepSet &set, int64_t tokens) {
  std::vector<PromptStep> out;
  for (int64_t at = 0; at < tokens;) {
    auto step = set.next(at, tokens - at);
    if (!step) {
      return step.error();
    }
    out.push_back(*step);
    at += step->tokens;
  }
  return out;
}

} // namespace orrery::runtime
