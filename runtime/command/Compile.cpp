// orrery compile: a step of a model, or of a published shape, as a program
// file or as IR.
#include "runtime/command/EmitIr.h"
#include "runtime/command/Json.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/RunReport.h"
#include "runtime/command/Stopwatch.h"

#include "models/HuggingFaceConfig.h"
#include "runtime/NominalBytes.h"
#include "simulator/check/Check.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;

namespace orrery::command {
namespace {

using runtime::counted;

/// What is compiled: a config, and how.
struct Subject {
  models::ModelConfig config;
  CompileRequest request;
  std::string weights;
};

Expected<Subject> openShape(const CompileArguments &a) {
  auto config = models::readHuggingFaceConfig(a.shape);
  if (!config) {
    return config.error();
  }
  Subject subject{std::move(*config), {}, ""};
  auto format = a.target.weights.value_or(models::WeightFormat::Q8_0);
  subject.request.import.weightFormat = dialectFormat(format);
  subject.weights = formatName(format) + ", shape only";
  return subject;
}

Expected<Subject> openModel(const CompileArguments &a) {
  auto file = models::WeightFile::open(a.model);
  if (!file) {
    return file.error();
  }
  auto options = sessionOptions(a.target, *file);
  if (!options) {
    return options.error();
  }
  Subject subject{file->config(), {}, weightsText(a.target, *file)};
  subject.request.import.weightFormat = options->weights;
  subject.request.import.tensorFormats = options->tensorFormats;
  return subject;
}

// A program reaches whole position tiles; only the context may end inside one.
Status wholeTiles(const CompileArguments &a, const Subject &subject,
                  const Machine &machine) {
  const compiler::ImportOptions &import = subject.request.import;
  if (import.bucket % machine.lanes == 0 || import.bucket == import.context) {
    return Success{};
  }
  return Error{"--bucket " + std::to_string(a.bucket) +
               ": expected a multiple of the " + std::to_string(machine.lanes) +
               " lanes of " + machine.name + ", or the context, " +
               std::to_string(import.context)};
}

// Every number against the model's, before any work is done on it.
Status complete(const CompileArguments &a, Subject &subject) {
  const models::ModelConfig &config = subject.config;
  compiler::ImportOptions &import = subject.request.import;
  auto tooMuch = [](const char *flag, int64_t found, const char *of,
                    int64_t most) {
    return Error{std::string(flag) + " " + std::to_string(found) +
                 ": expected at most " + of + ", " + std::to_string(most)};
  };
  import.tokens = a.tokens;
  import.context = a.target.context ? a.target.context : config.contextLength;
  import.bucket = a.bucket ? a.bucket : import.context;
  import.layers = a.layers;
  import.kvFormat = dialectFormat(a.target.kv);
  subject.request.machine = a.target.machine;
  if (import.context > config.contextLength) {
    return tooMuch("--ctx", import.context, "the model's context",
                   config.contextLength);
  }
  if (import.bucket > import.context) {
    return tooMuch("--bucket", import.bucket, "the context", import.context);
  }
  if (import.tokens > import.bucket) {
    return tooMuch("--tokens", import.tokens, "the bucket", import.bucket);
  }
  if (import.layers > config.layers) {
    return tooMuch("--layers", import.layers, "the model's layers",
                   config.layers);
  }
  return Success{};
}

std::string formatText(const Subject &s, const CompiledStep &step,
                       const Machine &machine, const check::Report &report,
                       double seconds) {
  const Program &p = step.program;
  const Program *set[] = {&p};
  std::string out = formatv(
      "{0} on {1}: {2} a step, {3} of {4} positions, {5} of {6} layers, "
      "weights {7}\n"
      "predicted {8:N} ticks, {9:f2} us a step; bounds: {10:N} by operands, "
      "{11:N} by {12}; ratio {13:f2}\n"
      "{14}, {15:N} B of text, compiled in {16:f2} s\n"
      "static check: {17}, {18}{19}\n",
      p.modelName, machine.name, counted(p.tokens, "token"), p.bucket,
      p.context,
      s.request.import.layers ? s.request.import.layers : s.config.layers,
      s.config.layers, s.weights, p.predictedTicks,
      machine.microseconds(p.predictedTicks), step.bounds.criticalPath,
      step.bounds.busiest, step.bounds.busiestResource,
      boundRatio(p.predictedTicks, step.bounds),
      counted(int64_t(p.instructions.size()), "instruction"),
      programBytes(p, machine), seconds, report.ok() ? "ok" : "FAIL",
      counted(int64_t(report.violations.size()), "violation"),
      report.ok() ? "" : ": " + report.violations.front().message);
  auto use = runtime::sramUse(machine, set);
  runtime::addNominal(use, s.config, s.request.import);
  return out + sramText(use, formatv("SRAM at {0} positions", p.context).str());
}

Json document(const Subject &s, const CompiledStep &step,
              const Machine &machine, const check::Report &report,
              double seconds) {
  const Program &p = step.program;
  const Program *set[] = {&p};
  auto use = runtime::sramUse(machine, set);
  runtime::addNominal(use, s.config, s.request.import);
  Json violations = Json::array();
  for (const check::Violation &v : report.violations) {
    violations.push_back(v.message);
  }
  return {{"model", p.modelName},
          {"machine", machine.name},
          {"weights", s.weights},
          {"tokens", p.tokens},
          {"bucket_positions", p.bucket},
          {"context_positions", p.context},
          {"layers",
           s.request.import.layers ? s.request.import.layers : s.config.layers},
          {"model_layers", s.config.layers},
          {"predicted_ticks", p.predictedTicks},
          {"predicted_us", machine.microseconds(p.predictedTicks)},
          {"critical_path_ticks", step.bounds.criticalPath},
          {"busiest_ticks", step.bounds.busiest},
          {"busiest", step.bounds.busiestResource},
          {"ratio", boundRatio(p.predictedTicks, step.bounds)},
          {"instructions", p.instructions.size()},
          {"program_bytes", programBytes(p, machine)},
          {"compile_seconds", seconds},
          {"violations", violations},
          {"sram", toJson(use)}};
}

ExitCode compileProgram(const CompileArguments &a, const Subject &subject,
                        const Machine &machine) {
  Progress progress(true);
  progress.show("compiling");
  Stopwatch watch;
  auto context = makeContext();
  auto step = compileStep(*context, subject.config, subject.request);
  double seconds = watch.seconds();
  progress.clear();
  if (!step) {
    return fail(kDoesNotFit, withRoomFor(step.error(), *context, subject.config,
                                         subject.request));
  }
  check::Report report = check::checkProgram(step->program, machine);
  if (!a.output.empty()) {
    if (Status ok = saveProgram(step->program, a.output); !ok) {
      return fail(kBadInput, ok.error());
    }
  }
  llvm::outs() << (a.json
                       ? dump(
                             document(subject, *step, machine, report, seconds))
                       : formatText(subject, *step, machine, report, seconds));
  return report.ok() ? kOk : kBroken;
}

ExitCode emit(const CompileArguments &a, const Subject &subject) {
  constexpr Dialect kDialects[] = {Dialect::Llm, Dialect::Grid, Dialect::Flow,
                                   Dialect::Tick};
  Dialect dialect = kDialects[size_t(a.emit)];
  auto context = makeContext();
  auto text = emitIr(*context, subject.config, subject.request, dialect);
  if (!text) {
    return fail(kDoesNotFit, text.error());
  }
  if (a.output.empty()) {
    llvm::outs() << (a.json ? dump({{"ir", *text}}) : *text);
    return kOk;
  }
  Status ok = writeText(a.output, *text);
  return ok ? kOk : fail(kBadInput, ok.error());
}

} // namespace

ExitCode execute(const CompileArguments &a) {
  if (a.model.empty() == a.shape.empty()) {
    return fail(kUsage, {"compile: expected a model file or --shape FILE"});
  }
  if (Status ok = checkWritable(a.output); !ok) {
    return fail(kBadInput, ok.error());
  }
  auto machine = loadMachine(a.target.machine);
  if (!machine) {
    return fail(kBadInput, machine.error());
  }
  auto subject = a.shape.empty() ? openModel(a) : openShape(a);
  if (!subject) {
    return fail(kBadInput, subject.error());
  }
  if (Status ok = complete(a, *subject); !ok) {
    return fail(kBadInput, ok.error());
  }
  if (Status ok = wholeTiles(a, *subject, *machine); !ok) {
    return fail(kBadInput, ok.error());
  }
  return a.emit == CompileArguments::Emit::Program
             ? compileProgram(a, *subject, *machine)
             : emit(a, *subject);
}

} // namespace orrery::command
