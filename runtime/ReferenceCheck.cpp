#include "runtime/ReferenceCheck.h"

#include "compiler/import/ImportModel.h"
#include "runtime/CutStep.h"

#include "mlir/IR/MLIRContext.h"

namespace orrery::runtime {
namespace {

/// Tokens of a chunk: what fills the reference's matrix units, and no more,
/// since the emulation computes every row.
constexpr int64_t kChunk = 32;

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

/// What one side computed for one op.
struct Seen {
  std::string op, kind;
  llm::Tensor value;
};

/// The first of the interpreter's ops of one step whose value the reference
/// has not.
std::optional<OpDifference> firstOf(const std::vector<Seen> &expected,
                                    const std::vector<Seen> &found,
                                    uint32_t position) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const Seen &e = expected[i];
    if (i >= found.size() || found[i].op != e.op) {
      return OpDifference{e.op,
                          e.kind,
                          {position, 0, 0, 0},
                          "the reference shows no value of it there"};
    }
    BitCompare bits;
    for (int64_t t = 0; t < e.value.rows; ++t) {
      std::span<const float> row;
      if (t < found[i].value.rows) {
        row = found[i].value.row(t);
      }
      bits.add(position + uint32_t(t), e.value.row(t), row);
    }
    if (bits.different() > 0) {
      return OpDifference{e.op, e.kind, *bits.first(), ""};
    }
  }
  return std::nullopt;
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
  out.chunk = kChunk;
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
  return ReferenceCheck(weights, options, backend, std::move(*reference));
}

Status ReferenceCheck::add(std::span<const int32_t> ids, uint32_t position,
                           const llm::StepOutput &expected) {
  for (size_t first = 0; first < ids.size(); first += kChunk) {
    auto part =
        ids.subspan(first, std::min<size_t>(kChunk, ids.size() - first));
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

Expected<std::optional<OpDifference>>
ReferenceCheck::firstDifference(const models::WeightSource &expected) const {
  auto again =
      gpu::Reference::open(*weights, referenceOptions(options), backend);
  if (!again) {
    return again.error();
  }
  mlir::MLIRContext context;
  compiler::ImportOptions import = options;
  import.tokens = kChunk;
  import.bucket = 0;
  if (import.context == 0) {
    import.context = expected.config().contextLength;
  }
  import.tokens = std::min(import.tokens, import.context);
  auto module = compiler::importModel(context, expected.config(), import);
  if (!module) {
    return Error{"the model does not import"};
  }
  auto step = *module->getOps<mlir::func::FuncOp>().begin();
  llm::Interpreter interpreter(expected);

  std::vector<Seen> theirs, ours;
  interpreter.setObserver([&](mlir::Operation *op, const llm::Tensor &value) {
    theirs.push_back({nameOf(op), op->getName().getStringRef().str(), value});
  });
  (*again)->setObserver([&](const gpu::OpValue &value) {
    llm::Tensor tensor(value.rows, value.width);
    std::ranges::copy(value.values, tensor.values.begin());
    ours.push_back({std::string(value.op), "", std::move(tensor)});
  });
  for (const Step &read : steps) {
    theirs.clear();
    ours.clear();
    auto expectedStep = interpreter.run(step, read.ids, read.position);
    if (!expectedStep) {
      return Error{"interpreter: " + expectedStep.error().message};
    }
    // An error of the reference is behind the op that differs, if any does.
    auto foundStep = (*again)->run(read.ids, read.position);
    if (auto first = firstOf(theirs, ours, read.position)) {
      return std::optional(*first);
    }
    if (!foundStep) {
      return foundStep.error();
    }
  }
  return std::optional<OpDifference>();
}

} // namespace orrery::runtime
