// orrery validate: the simulator and the CUDA reference against the
// interpreter, bit for bit, and all against golden logits when there are some.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/DifferenceReport.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/ReferenceChoice.h"
#include "runtime/command/RunReport.h"
#include "runtime/command/ValidateBatch.h"

#include "dialects/llm/Interpreter.h"
#include "machine/WholeFile.h"
#include "models/Quality.h"
#include "runtime/FirstDifference.h"
#include "runtime/Generate.h"
#include "runtime/ReferenceCheck.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <filesystem>

using llvm::formatv;

namespace orrery::command {
namespace {

using namespace runtime;

/// Float64 logits, [rows][vocab].
struct Golden {
  std::vector<double> values;
  size_t vocab = 0;

  size_t rows() const { return vocab > 0 ? values.size() / vocab : 0; }
  std::span<const double> row(size_t position) const {
    return std::span(values).subspan(position * vocab, vocab);
  }
};

// The last id may have no logits: a recording ends with the token it chose.
Expected<Golden> readGolden(std::string path, size_t ids, int64_t vocab) {
  if (!std::filesystem::exists(path)) {
    path += ".logits.f64";
  }
  constexpr uint64_t kMostBytes = uint64_t(8) << 30;
  auto bytes = readWholeFile(path, kMostBytes);
  if (!bytes) {
    return Error{path + ": " + bytes.error().message};
  }
  uint64_t row = uint64_t(vocab) * sizeof(double);
  uint64_t rows = bytes->size() / row;
  if (bytes->size() % row != 0 || (rows != ids && rows + 1 != ids) ||
      rows == 0) {
    return Error{path + ": expected " + std::to_string(ids) +
                 " (or one fewer) rows of " + std::to_string(vocab) +
                 " float64, found " + std::to_string(bytes->size()) + " bytes"};
  }
  Golden golden{std::vector<double>(rows * size_t(vocab)), size_t(vocab)};
  std::memcpy(golden.values.data(), bytes->data(), bytes->size());
  return golden;
}

class Validation {
public:
  Validation(const ValidateArguments &arguments, const models::WeightFile &file,
             const SessionOptions &options, Session &session,
             Progress &progress)
      : arguments(arguments), file(file), options(options), session(session),
        progress(progress), receipt(session.machine()), interpreter(file) {}

  ExitCode go(const std::vector<int32_t> &ids, const Golden &golden);

private:
  /// Of each backend, the first op that has other bits than the interpreter's.
  struct Differences {
    std::optional<OpDifference> simulator, reference;
  };

  Status openReference(int64_t positions, ExitCode &code);
  Status runBatch(ExitCode &code);
  Status readIds(std::span<const int32_t> ids);
  Status readAndContinue(std::span<const int32_t> prompt);
  Status onStep(const StepRecord &record, std::span<const int32_t> ids);
  Expected<Differences> findDifferences() const;
  ExitCode finish();
  std::string text(const Differences &first) const;
  Json json(const Differences &first) const;
  Json referenceJson(const Differences &first) const;

  const ValidateArguments &arguments;
  const models::WeightFile &file;
  const SessionOptions &options;
  Session &session;
  Progress &progress;
  const Golden *golden = nullptr;
  Receipt receipt;
  BitCompare bits;
  models::QualityMeter quality;
  llm::Interpreter interpreter;
  std::optional<gpu::Backend> backend;
  std::optional<ReferenceCheck> reference;
  std::string whyNoReference;
  std::vector<SequenceText> texts; ///< to decode together; none: not asked for
  std::optional<BatchOutcome> batch;
  std::vector<int32_t> read;
  size_t promptTokens = 0;
};

Status Validation::onStep(const StepRecord &record,
                          std::span<const int32_t> ids) {
  receipt.addStep(*record.program, record.result);
  auto step =
      *session.stepModule(*record.program).getOps<mlir::func::FuncOp>().begin();
  auto expected = interpreter.run(step, ids, record.position);
  if (!expected) {
    return Error{"interpreter: " + expected.error().message};
  }
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
  read.insert(read.end(), ids.begin(), ids.end());
  progress.show("position " + std::to_string(read.size()));
  return Success{};
}

Status Validation::openReference(int64_t positions, ExitCode &code) {
  auto choice = chooseReference(arguments.gpu, file.config(), positions);
  if (!choice) {
    code = kBadInput;
    return choice.error();
  }
  whyNoReference = choice->why;
  backend = choice->backend;
  if (choice->backend) {
    auto opened =
        ReferenceCheck::open(file, session.importOptions(), *choice->backend);
    if (!opened) {
      code = kDoesNotFit;
      return Error{"GPU reference: " + opened.error().message};
    }
    reference.emplace(std::move(*opened));
  }
  return Success{};
}

/// Another reference than the one above, whose sequence is of the simulator's.
Status Validation::runBatch(ExitCode &code) {
  if (texts.empty()) {
    return Success{};
  }
  if (!backend) {
    receipt.addNoBatch(whyNoReference);
    return Success{};
  }
  progress.show("batched decode");
  bool tooBig = false;
  const BatchOptions together{session.importOptions(), *backend,
                              int64_t(texts.size()), 0};
  auto ran = checkBatch(file, file, together, texts, &tooBig);
  if (!ran) {
    code = tooBig ? kDoesNotFit : kBroken;
    return Error{"batched decode: " + ran.error().message};
  }
  batch = std::move(*ran);
  receipt.addBatch(batch->bits, batch->text());
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
  if (arguments.sequences > 1) {
    texts = textsOf(ids, arguments.sequences, arguments.count,
                    session.contextLength());
  }
  ExitCode code = kOk;
  if (Status ok = openReference(all + positionsOf(texts), code); !ok) {
    progress.clear();
    return fail(code, ok.error());
  }
  Status ok = forced ? readIds(ids) : readAndContinue(ids);
  if (!ok) {
    progress.clear();
    return fail(kBroken, ok.error());
  }
  if (Status ran = runBatch(code); !ran) {
    progress.clear();
    return fail(code, ran.error());
  }
  return finish();
}

std::string Validation::text(const Differences &first) const {
  std::string out =
      formatv("{0} on {1}: {2} positions, {3:N} logits, {4:N} differ\n",
              file.config().name, session.machine().name, bits.rows(),
              bits.values(), bits.different());
  out += chipsText(*session.programs().front());
  if (first.simulator) {
    out += differenceText(*first.simulator, "simulator");
  }
  models::Quality q = quality.quality();
  if (q.positions > 0) {
    out += formatv("against the golden logits: mean KL {0:e2}, greatest "
                   "{1:e2}, top-1 {2:f1} % of {3} positions\n",
                   q.meanKl, q.maxKl, 100 * q.top1, q.positions);
  }
  if (reference) {
    out += formatv("gpu: {0}: {1:N} logits, {2:N} differ\n",
                   reference->backendText(), reference->bits().values(),
                   reference->bits().different());
  } else {
    out += formatv("gpu: not run: {0}\n", whyNoReference);
  }
  if (first.reference) {
    out += differenceText(*first.reference, "GPU reference");
  }
  if (batch) {
    out += batchText(*batch);
  }
  return out + receiptText(receipt, session.machine());
}

Json Validation::referenceJson(const Differences &first) const {
  if (!reference) {
    return {{"ran", false}, {"why", whyNoReference}};
  }
  const BitCompare &compared = reference->bits();
  Json out = {{"ran", true},
              {"backend", reference->backendText()},
              {"values", compared.values()},
              {"different", compared.different()},
              {"tokens_chosen", compared.choices()},
              {"tokens_not_the_interpreters", compared.otherChoices()}};
  if (first.reference) {
    out["first_difference"] =
        differenceJson(*first.reference, "reference_bits");
  }
  return out;
}

Json Validation::json(const Differences &first) const {
  Json out = {{"model", file.config().name},
              {"machine", session.machine().name},
              {"chips", chipsJson(*session.programs().front())},
              {"positions", bits.rows()},
              {"values", bits.values()},
              {"different", bits.different()},
              {"tokens_chosen", bits.choices()},
              {"tokens_not_the_interpreters", bits.otherChoices()},
              {"ids", read}};
  if (first.simulator) {
    out["first_difference"] =
        differenceJson(*first.simulator, "simulator_bits");
  }
  out["gpu"] = referenceJson(first);
  if (batch) {
    out["batched_decode"] = batchJson(*batch);
  }
  models::Quality q = quality.quality();
  if (q.positions > 0) {
    out["golden"] = {{"positions", q.positions},
                     {"mean_kl_nats", q.meanKl},
                     {"max_kl_nats", q.maxKl},
                     {"top1", q.top1}};
  }
  out["receipt"] = toJson(receipt, session.machine());
  return out;
}

Expected<Validation::Differences> Validation::findDifferences() const {
  Differences first;
  if (bits.different() > 0) {
    auto found = findFirstDifference(file, options, {read, promptTokens});
    if (!found) {
      return found.error();
    }
    first.simulator = *found;
  }
  if (reference && reference->bits().different() > 0) {
    auto found = reference->firstDifference(file);
    if (!found) {
      return Error{"GPU reference: " + found.error().message};
    }
    first.reference = *found;
  }
  return first;
}

ExitCode Validation::finish() {
  receipt.addBits(bits);
  receipt.addPrograms(session.programs());
  if (reference) {
    receipt.addReference(reference->bits(), reference->backendText());
  } else {
    receipt.addNoReference(whyNoReference);
  }
  auto first = findDifferences();
  progress.clear();
  if (!first) {
    return fail(kBroken, first.error());
  }
  llvm::outs() << (arguments.json ? dump(json(*first)) : text(*first));
  return receipt.ok() ? kOk : kBroken;
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
