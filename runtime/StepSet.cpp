#include "runtime/StepSet.h"

#include "machine/Timing.h"
#include "runtime/ProgramSet.h"
#include "runtime/StageChips.h"

#include <algorithm>

namespace orrery::runtime {

StepSet::StepSet(models::ModelConfig config, StepSetOptions options,
                 Machine machine)
    : model(std::move(config)), options(std::move(options)),
      system(std::move(machine)), mlir(makeContext()) {
  if (this->options.context == 0) {
    this->options.context = model.contextLength;
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

int64_t StepSet::fullChunk() const {
  // Two ticks to change over.
  auto install = int64_t(tileCycles(WeightFormat::Q8, uint32_t(system.lanes),
                                    uint32_t(system.matrix.installStreams)));
  return std::max<int64_t>(install - 2, 1);
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

Expected<const CompiledStep *> StepSet::step(int64_t tokens, int64_t bucket) {
  auto found = compiled.find({tokens, bucket});
  if (found != compiled.end()) {
    return &found->second;
  }
  auto step = compileStep(*mlir, model, requestFor(tokens, bucket));
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
  auto at = compiled.emplace(std::pair(tokens, bucket), std::move(*step));
  order.push_back(&at.first->second);
  return order.back();
}

Expected<const CompiledStep *> StepSet::chunk(int64_t bucket) {
  auto known = chunkOfBucket.find(bucket);
  if (known != chunkOfBucket.end()) {
    return step(known->second, bucket);
  }
  for (int64_t tokens = std::min(fullChunk(), bucket);; tokens /= 2) {
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

Expected<std::vector<PromptStep>> promptSteps(StepSet &set, int64_t tokens) {
  int64_t lanes = set.machine().lanes;
  std::vector<PromptStep> out;
  for (int64_t at = 0; at < tokens;) {
    int64_t wanted = std::min(tokens - at, lanes - at % lanes);
    auto with =
        wanted == 1
            ? set.step(1, set.bucketFor(at + 1))
            : set.chunk(set.bucketFor(at + std::min(wanted, set.fullChunk())));
    if (!with) {
      return with.error();
    }
    auto most = int64_t((*with)->system.parts.front().tokens);
    out.push_back({*with, std::min(wanted, most)});
    at += out.back().tokens;
  }
  return out;
}

} // namespace orrery::runtime
