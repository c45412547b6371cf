// orrery compile: a step of a model, or of a published shape, as a program
// file or as IR.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/EmitIr.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/RunReport.h"
#include "runtime/command/Stopwatch.h"

#include "models/NotModelled.h"
#include "models/Zoo.h"
#include "runtime/NominalBytes.h"
#include "simulator/check/SystemCheck.h"

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
  auto config = models::loadShape(a.shape);
  if (!config) {
    return config.error();
  }
  if (Status ok = models::verifyCompiled(*config); !ok) {
    return ok.error();
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
  subject.request.split = splitOf(a.target.partition);
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

/// A compiled step and what is known of it.
struct Compiled {
  const Subject &subject;
  const Machine &machine;
  const CompiledStep &step;
  check::SystemReport report;
  double seconds;
  runtime::SystemSram sram;
  int64_t instructions = 0; ///< of all parts, each once
  Bytes text = 0;           ///< likewise

  Compiled(const Subject &subject, const Machine &machine,
           const CompiledStep &step, double seconds)
      : subject(subject), machine(machine), step(step),
        report(check::checkSystem(step.system, machine)), seconds(seconds) {
    const SystemProgram *set[] = {&step.system};
    sram = runtime::systemSram(machine, set);
    runtime::addNominal(sram.total, subject.config, subject.request.import);
    for (const Program &part : step.system.parts) {
      instructions += int64_t(part.instructions.size());
      text += programBytes(part, machine);
    }
  }
  int64_t layers() const {
    int64_t kept = subject.request.import.layers;
    return kept ? kept : subject.config.layers;
  }
};

std::string formatText(const Compiled &c) {
  const Program &p = c.step.system.parts.front();
  Tick ticks = c.step.system.predictedTicks;
  std::string out = formatv(
      "{0} on {1}: {2} a step, {3} of {4} positions, {5} of {6} layers, "
      "weights {7}\n"
      "predicted {8:N} ticks, {9:f2} us a step\n",
      p.modelName, c.machine.name, counted(p.tokens, "token"), p.bucket,
      p.context, c.layers(), c.subject.config.layers, c.subject.weights, ticks,
      c.machine.microseconds(ticks));
  out += chipsText(c.step.system);
  out += "schedule " + scheduleText(LongestPart(c.step));
  out +=
      formatv("{0}, {1:N} B of text{2}, compiled in {3:f2} s\n"
              "static check: {4}, {5}{6}\n",
              counted(c.instructions, "instruction"), c.text,
              c.step.parts.size() > 1
                  ? formatv(" in {0} programs", c.step.parts.size()).str()
                  : "",
              c.seconds, c.report.ok() ? "ok" : "FAIL",
              counted(int64_t(c.report.violations.size()), "violation"),
              c.report.ok() ? "" : ": " + c.report.violations.front().message);
  return out +
         systemSramText(c.sram, formatv("at {0} positions", p.context).str()) +
         models::omissionText({&c.subject.config, 1});
}

Json document(const Compiled &c) {
  const Program &p = c.step.system.parts.front();
  Tick ticks = c.step.system.predictedTicks;
  Json violations = Json::array(), omitted = Json::array();
  for (const models::Omission &o : models::omissions(c.subject.config)) {
    omitted.push_back({{"what", o.what}, {"effect", o.effect}});
  }
  for (const check::SystemViolation &v : c.report.violations) {
    violations.push_back(v.message);
  }
  return {{"model", p.modelName},
          {"machine", c.machine.name},
          {"chips", chipsJson(c.step.system)},
          {"weights", c.subject.weights},
          {"tokens", p.tokens},
          {"bucket_positions", p.bucket},
          {"context_positions", p.context},
          {"layers", c.layers()},
          {"model_layers", c.subject.config.layers},
          {"predicted_ticks", ticks},
          {"predicted_us", c.machine.microseconds(ticks)},
          {"schedule", toJson(LongestPart(c.step))},
          {"instructions", c.instructions},
          {"program_bytes", c.text},
          {"compile_seconds", c.seconds},
          {"violations", violations},
          {"not_modelled", omitted},
          {"sram", systemSramJson(c.sram)}};
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
  Compiled compiled(subject, machine, *step, seconds);
  if (!a.output.empty()) {
    if (Status ok = saveSystemProgram(step->system, a.output); !ok) {
      return fail(kBadInput, ok.error());
    }
  }
  llvm::outs() << (a.json ? dump(document(compiled)) : formatText(compiled));
  return compiled.report.ok() ? kOk : kBroken;
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
    return fail(kUsage, {"compile: expected a model file or --shape NAME"});
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
