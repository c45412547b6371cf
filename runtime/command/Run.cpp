// orrery run: a prompt in, text out as it appears, then the summary and the
// receipt.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/RunReport.h"
#include "runtime/command/Stopwatch.h"

#include "dialects/llm/Interpreter.h"
#include "runtime/Generate.h"
#include "runtime/NominalBytes.h"
#include "simulator/report/Trace.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace orrery::command {
namespace {

using namespace runtime;

/// The counters of each chip, as JSON text.
std::string formatCounters(const SystemProgram &program,
                           const sim::SystemResult &result) {
  Json chips = Json::array();
  for (const sim::ChipStep &step : result.simulated) {
    const ChipProgram &chip = program.chips[step.chip];
    chips.push_back(
        {{"chip", chip.chip},
         {"stage", chip.stage},
         {"rank", chip.rank},
         {"start_tick", chip.start},
         {"counters", Json::parse(sim::formatCounters(step.result.counters))}});
  }
  return dump({{"ticks", result.ticks}, {"chips", chips}});
}

/// One run of the command over an open model.
class Run {
public:
  Run(const RunArguments &arguments, const models::WeightFile &file,
      Session &session, Progress &progress)
      : arguments(arguments), file(file), session(session), progress(progress),
        report(session.machine()), interpreter(file),
        decoder(*file.tokenizer()) {}

  ExitCode go(const std::vector<int32_t> &prompt, const Stopwatch &opened);

private:
  Status onStep(const StepRecord &record, std::span<const int32_t> ids);
  void addNominalWork(const StepRecord &record, bool inPrompt);
  Status compare(const StepRecord &record, std::span<const int32_t> ids);
  void show(int32_t id);
  void showPrompt(const std::vector<int32_t> &prompt);
  void finish(const std::vector<int32_t> &prompt);
  Status writeFiles();

  const RunArguments &arguments;
  const models::WeightFile &file;
  Session &session;
  Progress &progress;
  RunReport report;
  llm::Interpreter interpreter;
  models::StreamDecoder decoder;
  BitCompare bits;
  sim::Trace trace, lastTrace;
  const SystemProgram *lastProgram = nullptr;
  std::string countersJson;
  size_t promptTokens = 0;
  bool promptShown = false;
};

void Run::show(int32_t id) {
  std::string text = decoder.next(id);
  report.text += text;
  if (arguments.json) {
    progress.show("position " + std::to_string(session.currentPosition()));
  } else {
    progress.clear();
    llvm::outs() << text;
    llvm::outs().flush();
  }
}

// Not before it was read: progress and text share a terminal's line.
void Run::showPrompt(const std::vector<int32_t> &prompt) {
  for (size_t i = 0; i < prompt.size() && !promptShown; ++i) {
    show(prompt[i]);
  }
  promptShown = true;
}

Status Run::compare(const StepRecord &record, std::span<const int32_t> ids) {
  Stopwatch watch;
  auto step =
      *session.stepModule(*record.program).getOps<mlir::func::FuncOp>().begin();
  auto expected = interpreter.run(step, ids, record.position);
  if (!expected) {
    return expected.error();
  }
  for (uint32_t t = 0; t < record.validTokens; ++t) {
    bits.add(record.position + t, std::as_const(expected->logits).row(t),
             record.logits[t]);
    bits.addChoice(record.position + t, expected->next[t], record.greedy[t]);
  }
  report.interpretSeconds += watch.seconds();
  return Success{};
}

// What the figures of a step do not say.
void Run::addNominalWork(const StepRecord &record, bool inPrompt) {
  uint32_t tokens = record.program->parts.front().tokens;
  if (!inPrompt) {
    report.usefulDecodeMacs +=
        models::decodeMacsPerToken(file.config()) +
        models::attentionMacsPerToken(file.config(), record.position + 1);
  } else if (auto &chunks = report.promptChunks;
             std::ranges::find(chunks, tokens) == chunks.end()) {
    chunks.push_back(tokens);
  }
  if (arguments.temperature > 0) {
    report.readOut = logitsReadOut(session.machine(), *record.program);
    report.receipt.addSampling(report.readOut);
  }
}

Status Run::onStep(const StepRecord &record, std::span<const int32_t> ids) {
  bool inPrompt = record.position + ids.size() <= promptTokens;
  (inPrompt ? report.prompt : report.decode)
      .add(*record.program, record.result, int64_t(ids.size()));
  addNominalWork(record, inPrompt);
  report.receipt.addStep(*record.program, record.result);
  lastProgram = record.program;
  if (!arguments.counters.empty()) {
    countersJson = formatCounters(*record.program, record.result);
  }
  if (!arguments.trace.empty()) {
    std::swap(lastTrace, trace);
    trace.clear();
  }
  if (inPrompt && record.position + ids.size() < promptTokens) {
    progress.show(
        "reading the prompt: " + std::to_string(record.position + ids.size()) +
        " of " + std::to_string(promptTokens) + " tokens");
  } else {
    progress.clear();
  }
  return arguments.validate ? compare(record, ids) : Status(Success{});
}

Status Run::writeFiles() {
  if (!arguments.counters.empty()) {
    if (Status ok = writeText(arguments.counters, countersJson); !ok) {
      return ok;
    }
  }
  if (!arguments.trace.empty()) {
    return writeText(arguments.trace,
                     lastTrace.json(session.machine(), *lastProgram));
  }
  return Success{};
}

void Run::finish(const std::vector<int32_t> &prompt) {
  std::string rest = decoder.finish();
  report.text += rest;
  report.modelName = file.config().name;
  report.modelPath = arguments.model;
  report.weights = weightsText(arguments.target, file);
  report.kv = formatName(arguments.target.kv);
  report.context = session.contextLength();
  report.asked = arguments.count;
  report.promptIds = prompt;
  auto programs = session.programs();
  report.programs = int64_t(programs.size());
  report.sram = systemSram(session.machine(), programs);
  addNominal(report.sram.total, file.config(), session.importOptions());
  report.longest = LongestPart(session.compiledOf(*lastProgram));
  report.chipsText = chipsText(*lastProgram);
  report.chipsJson = chipsJson(*lastProgram);
  report.receipt.addPrograms(programs);
  if (arguments.validate) {
    report.receipt.addBits(bits);
  }
  if (arguments.json) {
    llvm::outs() << formatJson(report);
  } else {
    llvm::outs() << rest << formatText(report);
  }
}

ExitCode Run::go(const std::vector<int32_t> &prompt, const Stopwatch &opened) {
  promptTokens = prompt.size();
  int64_t read = int64_t(prompt.size()) +
                 std::min(arguments.count, session.contextLength()) - 1;
  if (Status ok = session.prepare(int64_t(prompt.size()), read); !ok) {
    return fail(kDoesNotFit, ok.error());
  }
  report.compileSeconds = opened.seconds();
  progress.show("reading the prompt");
  if (!arguments.trace.empty()) {
    session.simulator().setTrace(&trace);
  }
  GenerateOptions options;
  options.count = arguments.count;
  options.endToken = file.tokenizer()->eos();
  options.sampler = {arguments.temperature, arguments.seed};
  options.onStep = [&](const StepRecord &r, std::span<const int32_t> ids) {
    return onStep(r, ids);
  };
  options.onToken = [&](int32_t id) {
    showPrompt(prompt);
    show(id);
  };
  Stopwatch watch;
  auto generated = generate(session, prompt, options);
  progress.clear();
  if (!generated) {
    llvm::outs() << (arguments.json ? "" : "\n");
    return fail(kBroken, generated.error());
  }
  showPrompt(prompt);
  report.simulateSeconds = watch.seconds() - report.interpretSeconds;
  report.generated = *generated;
  finish(prompt);
  if (Status ok = writeFiles(); !ok) {
    return fail(kBadInput, ok.error());
  }
  return report.receipt.ok() ? kOk : kBroken;
}

} // namespace

ExitCode execute(const RunArguments &arguments) {
  Progress progress(true);
  for (const std::string &path : {arguments.counters, arguments.trace}) {
    if (Status ok = checkWritable(path); !ok) {
      return fail(kBadInput, ok.error());
    }
  }
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
  auto prompt = promptIds(*file, arguments.prompt, context);
  if (!prompt) {
    return fail(kBadInput, prompt.error());
  }
  options->progress = [&](const std::string &what) { progress.show(what); };
  Stopwatch opened;
  ExitCode code = kOk;
  auto session = openSession(*file, *options, code);
  return session ? Run(arguments, *file, *session, progress).go(*prompt, opened)
                 : code;
}

} // namespace orrery::command
