// orrery validate: the simulator and the CUDA reference against the
// interpreter, bit for bit, and all against golden logits when there are some.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/GoldenLogits.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/ReferenceChoice.h"
#include "runtime/command/ValidateBatch.h"
#include "runtime/command/ValidateReport.h"

#include "dialects/llm/Interpreter.h"
#include "runtime/FirstDifference.h"
#include "runtime/Generate.h"
#include "runtime/ReferenceCheck.h"

#include "llvm/Support/raw_ostream.h"

#include <numeric>

namespace orrery::command {
namespace {

using namespace runtime;

class Validation {
public:
  Validation(const ValidateArguments &arguments, const models::WeightFile &file,
             const SessionOptions &options, Session &session,
             Progress &progress)
      : arguments(arguments), file(file), options(options), session(session),
        progress(progress), report(session.machine()), interpreter(file) {}

  ExitCode go(const std::vector<int32_t> &ids, const Golden &golden);

private:
  Status openReference(size_t ids, int64_t positions, ExitCode &code);
  Status openBatch(gpu::Backend backend, std::span<const int64_t> positions);
  Status runBatch(std::span<const int32_t> ids);
  Status readIds(std::span<const int32_t> ids);
  Status readAndContinue(std::span<const int32_t> prompt);
  Status onStep(const StepRecord &record, std::span<const int32_t> ids);
  Status findDifferences();
  Status fillReport();

  const ValidateArguments &arguments;
  const models::WeightFile &file;
  const SessionOptions &options;
  Session &session;
  Progress &progress;
  const Golden *golden = nullptr;
  ValidateReport report;
  models::QualityMeter quality;
  llm::Interpreter interpreter;
  std::optional<ReferenceCheck> reference;
  std::optional<BatchCheck> batch; ///< by the same reference
  size_t promptTokens = 0;
};

Status Validation::onStep(const StepRecord &record,
                          std::span<const int32_t> ids) {
  report.receipt.addStep(*record.program, record.result);
  auto step =
      *session.stepModule(*record.program).getOps<mlir::func::FuncOp>().begin();
  auto expected = interpreter.run(step, ids, record.position);
  if (!expected) {
    return Error{"interpreter: " + expected.error().message};
  }
  BitCompare &bits = report.bits;
  for (uint32_t t = 0; t < record.validTokens; ++t) {
    bits.add(record.position + t, std::as_const(expected->logits).row(t),
             record.logits[t]);
    bits.addChoice(record.position + t, expected->next[t], record.greedy[t]);
    if (!golden->values.empty()) {
      quality.add(golden->row(record.position + t), record.logits[t]);
    }
  }
  if (reference) {
    if (Status ok = reference->add(ids, record.position, *expected); !ok) {
      return Error{"GPU reference: " + ok.error().message};
    }
  }
  report.read.insert(report.read.end(), ids.begin(), ids.end());
  progress.show("position " + std::to_string(report.read.size()));
  return Success{};
}

/// One for both checks, so that a device holds the model once. Each is chosen
/// by its own positions: that several sequences take the emulation too long is
/// no reason not to run one.
Status Validation::openReference(size_t ids, int64_t positions,
                                 ExitCode &code) {
  auto choice = chooseReference(arguments.gpu, file.config(), positions);
  if (!choice) {
    code = kBadInput;
    return choice.error();
  }
  report.whyNoGpu = report.whyNoBatch = choice->why;
  report.batchAsked = arguments.sequences > 1;
  if (!choice->backend) {
    return Success{};
  }
  code = kDoesNotFit;
  if (report.batchAsked) {
    const auto each =
        positionsOfTexts(int64_t(ids), arguments.sequences, arguments.count,
                         session.contextLength());
    const int64_t all = std::accumulate(each.begin(), each.end(), positions);
    auto together = chooseReference(arguments.gpu, file.config(), all);
    if (together && together->backend) {
      return openBatch(*together->backend, each);
    }
    report.whyNoBatch = together ? together->why : together.error().message;
  }
  auto opened =
      ReferenceCheck::open(file, session.importOptions(), *choice->backend);
  if (!opened) {
    return Error{"GPU reference: " + opened.error().message};
  }
  reference.emplace(std::move(*opened));
  return Success{};
}

// The run's own sequence needs no more pages than the first text, which is it.
Status Validation::openBatch(gpu::Backend backend,
                             std::span<const int64_t> positions) {
  BatchOptions together;
  together.import = session.importOptions();
  together.backend = backend;
  together.batch = arguments.sequences;
  together.progress = [&](const std::string &what) { progress.show(what); };
  auto opened = BatchCheck::open(file, std::move(together), positions);
  if (!opened) {
    return Error{"batched decode: " + opened.error().message};
  }
  batch.emplace(std::move(*opened));
  reference.emplace(session.importOptions(), backend, batch->reference());
  return Success{};
}

Status Validation::runBatch(std::span<const int32_t> ids) {
  if (!batch) {
    if (report.batchAsked) {
      report.receipt.addNoBatch(report.whyNoBatch);
    }
    return Success{};
  }
  const auto texts = textsOf(ids, file.config().vocab, arguments.sequences,
                             arguments.count, session.contextLength());
  auto ran = batch->run(file, texts);
  if (!ran) {
    return Error{"batched decode: " + ran.error().message};
  }
  report.batch = std::move(*ran);
  report.receipt.addBatch(report.batch->bits, report.batch->text());
  return Success{};
}

Status Validation::readIds(std::span<const int32_t> ids) {
  while (!ids.empty()) {
    std::span<const int32_t> before = ids;
    auto record = session.readSome(ids);
    if (!record) {
      return record.error();
    }
    if (Status ok = onStep(*record, before.first(record->validTokens)); !ok) {
      return ok;
    }
  }
  return Success{};
}

Status Validation::readAndContinue(std::span<const int32_t> prompt) {
  GenerateOptions generation;
  generation.count = arguments.count;
  generation.endToken = file.tokenizer()->eos();
  generation.onStep = [&](const StepRecord &r, std::span<const int32_t> ids) {
    return onStep(r, ids);
  };
  auto generated = generate(session, prompt, generation);
  return generated ? Status(Success{}) : Status(generated.error());
}

ExitCode Validation::go(const std::vector<int32_t> &ids,
                        const Golden &goldenLogits) {
  golden = &goldenLogits;
  promptTokens = ids.size();
  bool forced = !arguments.ids.empty();
  int64_t all =
      int64_t(ids.size()) +
      (forced ? 0 : std::min(arguments.count, session.contextLength()) - 1);
  if (Status ok = session.prepare(int64_t(ids.size()), all); !ok) {
    return fail(kDoesNotFit, ok.error());
  }
  ExitCode code = kOk;
  if (Status ok = openReference(ids.size(), all, code); !ok) {
    progress.clear();
    return fail(code, ok.error());
  }
  Status ok = forced ? readIds(ids) : readAndContinue(ids);
  if (ok) {
    ok = runBatch(ids);
  }
  if (ok) {
    ok = fillReport();
  }
  progress.clear();
  if (!ok) {
    return fail(kBroken, ok.error());
  }
  llvm::outs() << (arguments.json ? dump(toJson(report)) : formatText(report));
  return report.receipt.ok() ? kOk : kBroken;
}

Status Validation::findDifferences() {
  if (report.bits.different() > 0) {
    auto found =
        findFirstDifference(file, options, {report.read, promptTokens});
    if (!found) {
      return found.error();
    }
    report.first = *found;
  }
  if (reference && reference->bits().different() > 0) {
    auto found = reference->firstDifference(file);
    if (!found) {
      return Error{"GPU reference: " + found.error().message};
    }
    report.gpu->first = *found;
  }
  return Success{};
}

Status Validation::fillReport() {
  report.modelName = file.config().name;
  report.chipsText = chipsText(*session.programs().front());
  report.chipsJson = chipsJson(*session.programs().front());
  report.quality = quality.quality();
  report.receipt.addBits(report.bits);
  report.receipt.addPrograms(session.programs());
  if (reference) {
    report.gpu.emplace(reference->backendText(), reference->bits());
    report.receipt.addReference(report.gpu->bits, report.gpu->backend);
  } else {
    report.receipt.addNoReference(report.whyNoGpu);
  }
  return findDifferences();
}

} // namespace

ExitCode execute(const ValidateArguments &arguments) {
  Progress progress(true);
  auto file = models::WeightFile::open(arguments.model);
  if (!file) {
    return fail(kBadInput, file.error());
  }
  auto options = sessionOptions(arguments.target, *file);
  if (!options) {
    return fail(kBadInput, options.error());
  }
  int64_t context =
      options->context ? options->context : file->config().contextLength;
  auto ids = arguments.ids.empty()
                 ? promptIds(*file, arguments.prompt, context)
                 : readIds(arguments.ids, file->config().vocab);
  if (!ids) {
    return fail(kBadInput, ids.error());
  }
  if (int64_t(ids->size()) > context) {
    return fail(kBadInput,
                {"--ids: " + std::to_string(ids->size()) +
                 " tokens, the context holds " + std::to_string(context)});
  }
  Expected<Golden> golden = Golden{};
  if (!arguments.golden.empty()) {
    golden = readGolden(arguments.golden, ids->size(), file->config().vocab);
  }
  if (!golden) {
    return fail(kBadInput, golden.error());
  }
  if (golden->rows() > 0) {
    ids->resize(golden->rows());
  }
  options->progress = [&](const std::string &what) { progress.show(what); };
  ExitCode code = kOk;
  auto session = openSession(*file, *options, code);
  return session ? Validation(arguments, *file, *options, *session, progress)
                       .go(*ids, *golden)
                 : code;
}

} // namespace orrery::command
