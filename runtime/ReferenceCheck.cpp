#include "runtime/ReferenceCheck.h"

#include "runtime/ChunkInterpreter.h"
#include "runtime/SeenOp.h"

#include <algorithm>

namespace orrery::runtime {
namespace {

gpu::StoredFormat storedFormat(llm::WeightFormat format) {
  switch (format) {
  case llm::WeightFormat::Q8_0:
    return gpu::StoredFormat::Q8_0;
  case llm::WeightFormat::Q4_0:
    return gpu::StoredFormat::Q4_0;
  case llm::WeightFormat::F16:
    break;
  }
  return gpu::StoredFormat::F16;
}

models::KvFormat kvFormat(llm::KvFormat format) {
  switch (format) {
  case llm::KvFormat::Q8:
    return models::KvFormat::Q8;
  case llm::KvFormat::Q4:
    return models::KvFormat::Q4;
  case llm::KvFormat::F16:
    break;
  }
  return models::KvFormat::F16;
}

} // namespace

gpu::ReferenceOptions referenceOptions(const compiler::ImportOptions &options) {
  gpu::ReferenceOptions out;
  out.weights = storedFormat(options.weightFormat);
  for (const auto &[name, format] : options.tensorFormats) {
    out.tensorFormats[name] = storedFormat(format);
  }
  out.kv = kvFormat(options.kvFormat);
  out.context = options.context;
  out.layers = options.layers;
  out.chunk = kReferenceChunk;
  return out;
}

Expected<ReferenceCheck>
ReferenceCheck::open(const models::WeightSource &weights,
                     const compiler::ImportOptions &options,
                     gpu::Backend backend) {
  auto reference =
      gpu::Reference::open(weights, referenceOptions(options), backend);
  if (!reference) {
    return reference.error();
  }
  return ReferenceCheck(options, backend, std::move(*reference));
}

Status ReferenceCheck::add(std::span<const int32_t> ids, uint32_t position,
                           const llm::StepOutput &expected) {
  for (size_t first = 0; first < ids.size(); first += kReferenceChunk) {
    auto part = ids.subspan(
        first, std::min<size_t>(kReferenceChunk, ids.size() - first));
    uint32_t at = position + uint32_t(first);
    auto found = reference->run(part, at);
    if (!found) {
      return found.error();
    }
    steps.push_back({{part.begin(), part.end()}, at});
    for (size_t t = 0; t < part.size(); ++t) {
      compared.add(at + uint32_t(t), expected.logits.row(int64_t(first + t)),
                   found->row(int64_t(t)));
      compared.addChoice(at + uint32_t(t), expected.next[first + t],
                         found->greedy[t]);
    }
  }
  return Success{};
}

namespace {
/// Observed for as long as it lives.
class Observed {
public:
  Observed(gpu::Reference &reference, gpu::Reference::Observer observer)
      : reference(reference) {
    reference.setObserver(std::move(observer));
  }
  ~Observed() { reference.setObserver(nullptr); }
  Observed(const Observed &) = delete;
  Observed &operator=(const Observed &) = delete;

private:
  gpu::Reference &reference;
};
} // namespace

Expected<std::optional<OpDifference>>
ReferenceCheck::firstDifference(const models::WeightSource &expected) const {
  auto interpreter = ChunkInterpreter::open(expected, options);
  if (!interpreter) {
    return interpreter.error();
  }
  std::vector<SeenOp> theirs, ours;
  (*interpreter)
      ->setObserver([&](mlir::Operation *op, const llm::Tensor &value) {
        theirs.push_back(seenOp(op, value));
      });
  reference->reset();
  const Observed observed(*reference, [&](const gpu::OpValue &value) {
    ours.push_back(seenOp(value));
  });
  for (const Step &read : steps) {
    theirs.clear();
    ours.clear();
    auto expectedStep = (*interpreter)->run(read.ids, read.position);
    if (!expectedStep) {
      return expectedStep.error();
    }
    // An error of the reference is behind the op that differs, if any does.
    auto foundStep = reference->run(read.ids, read.position);
    if (auto first = firstOf(theirs, ours, read.position)) {
      return first;
    }
    if (!foundStep) {
      return foundStep.error();
    }
  }
  return std::optional<OpDifference>();
}

} // namespace orrery::runtime
