// orrery time: what a shape takes on a system, in ticks and bytes: compiled,
// checked, and, unless asked not to, simulated without values.
#include "runtime/command/OpenModel.h"
#include "runtime/command/ShapeSubject.h"
#include "runtime/command/Stopwatch.h"
#include "runtime/command/TimeFits.h"
#include "runtime/command/TimeReport.h"

#include "runtime/NominalBytes.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace orrery::command {
namespace {

using namespace runtime;

/// The prompt whose first token is timed, unless the user says how long it is.
constexpr int64_t kPromptTokens = 512;

class TimeRun {
public:
  TimeRun(const TimeArguments &a, const ShapeSubject &subject, StepSet &set,
          Progress &progress)
      : a(a), set(set), progress(progress), report(set.machine()) {
    report.config = subject.config;
    report.weights = subject.weights;
    report.kv = formatName(a.target.kv);
    report.context = set.positions();
  }

  ExitCode go() {
    Stopwatch watch;
    if (Status ok = compile(); !ok) {
      progress.clear();
      return fail(kDoesNotFit, ok.error());
    }
    report.compileSeconds = watch.seconds();
    progress.show("checking");
    Stopwatch checking;
    auto programs = set.programs();
    report.receipt.addPrograms(programs);
    report.checkSeconds = checking.seconds();
    if (Status ok = a.simulate ? simulate() : Status(Success{}); !ok) {
      progress.clear();
      return fail(kBroken, ok.error());
    }
    finish();
    progress.clear();
    llvm::outs() << (a.json ? formatJson(report) : formatText(report));
    return report.receipt.ok() ? kOk : kBroken;
  }

private:
  // Decoding at the full context first: it decides the split.
  Status compile() {
    progress.show("compiling");
    auto whole = set.step(1, set.bucketFor(set.positions()));
    if (!whole) {
      return withAdvice(whole.error(), set.context(),
                        {set.config(), set.requestFor(1, 1), {}},
                        {set.positions(), 1});
    }
    auto first = set.step(1, set.bucketFor(1));
    if (!first) {
      return first.error();
    }
    int64_t tokens =
        a.prompt ? a.prompt : std::min(kPromptTokens, set.positions());
    auto steps = promptSteps(set, tokens);
    if (!steps) {
      return steps.error();
    }
    report.prompt = promptTime(*steps, set.machine());
    for (const CompiledStep *step : set.steps()) {
      report.shortDecode =
          step == *first ? report.programs.size() : report.shortDecode;
      report.programs.push_back(
          {step, StepTimes(step->system, set.machine()), set.positions()});
    }
    return Success{};
  }

  Status simulate() {
    Stopwatch watch;
    for (TimedStep &timed : report.programs) {
      progress.show("simulating");
      Status ok = confirm(timed, set.machine(), report.receipt);
      if (ok) {
        ok = confirmPair(timed, set.machine());
      }
      if (!ok) {
        return ok;
      }
    }
    report.simulateSeconds = watch.seconds();
    return Success{};
  }

  void finish() {
    const CompiledStep &decode = *report.decode().step;
    report.parts = stepParts(decode, set.machine());
    report.macs =
        matrixWork(decode, set.machine(), set.config(), set.positions());
    auto programs = set.programs();
    report.sram = systemSram(set.machine(), programs);
    addNominal(report.sram.total, set.config(), set.requestFor(1, 1).import);
    if (report.sram.chips == 1) {
      report.sram.parts.front().nominal = report.sram.total.nominal;
    }
    report.users = -1;
    for (size_t part = 0; part < decode.parts.size(); ++part) {
      std::vector<const Program *> onChip;
      for (const SystemProgram *program : programs) {
        onChip.push_back(&program->parts[part]);
      }
      SramItems items = sramItems(set.machine(), onChip);
      int64_t caches = cachesByBytes(items);
      if (caches >= 0 && (report.users < 0 || caches < report.users)) {
        report.users = caches;
      }
      if (part == report.sram.fullest) {
        report.fullest = std::move(items);
      }
    }
  }

  const TimeArguments &a;
  StepSet &set;
  Progress &progress;
  TimeReport report;
};

} // namespace

ExitCode execute(const TimeArguments &a) {
  auto subject = openSubject(a.model, a.target);
  if (!subject) {
    return fail(kBadInput, subject.error());
  }
  if (a.prompt > subject->options.context) {
    return fail(kBadInput, {"--prompt " + std::to_string(a.prompt) +
                            ": expected at most the context, " +
                            std::to_string(subject->options.context)});
  }
  auto set = StepSet::open(subject->config, subject->options);
  if (!set) {
    return fail(kBadInput, set.error());
  }
  Progress progress(true);
  return a.fits ? timeFits(a, *subject, **set, progress)
                : TimeRun(a, *subject, **set, progress).go();
}

} // namespace orrery::command
