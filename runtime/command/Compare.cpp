// orrery compare: this system beside GPUs, for the same model, formats, context
// and users. What is printed of this system was simulated.
#include "runtime/command/CompareBits.h"
#include "runtime/command/CompareGpus.h"
#include "runtime/command/CompareReport.h"
#include "runtime/command/OpenModel.h"
#include "runtime/command/ShapeSubject.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

const char *evidenceName(Evidence evidence) {
  switch (evidence) {
  case Evidence::Simulated:
    return "simulated";
  case Evidence::Measured:
    return "measured";
  case Evidence::Modelled:
    return "modelled";
  case Evidence::Published:
    return "published";
  }
  return "?";
}

bool tooSlowToCompare(const CompareRow &row) {
  return (row.how == Evidence::Measured || row.how == Evidence::Modelled) &&
         row.usPerToken && *row.rooflineShare < kLeastRooflineShare;
}

namespace {

class CompareRun {
public:
  CompareRun(const CompareArguments &a, const ShapeSubject &subject,
             StepSet &set, std::vector<CompareRow> gpus, Progress &progress)
      : a(a), set(set), progress(progress), report(set.machine()) {
    report.config = subject.config;
    report.weights = subject.weights;
    report.kv = formatName(a.target.kv);
    report.context = set.positions();
    report.batch = a.batch;
    report.tensorParallel = a.tensorParallel;
    report.allowSlowGpu = a.allowSlowGpu;
    report.others = std::move(gpus);
  }

  ExitCode go() {
    if (Status ok = compile(); !ok) {
      progress.clear();
      return fail(kDoesNotFit, ok.error());
    }
    if (Status ok = simulate(); !ok) {
      progress.clear();
      return fail(kBroken, ok.error());
    }
    fillSelf();
    for (CompareRow &row : report.others) {
      bool same = row.how != Evidence::Published && row.usPerToken;
      if (same && (a.allowSlowGpu || !tooSlowToCompare(row))) {
        row.speedUp = *row.usPerToken / *report.self.usPerToken;
      }
    }
    progress.show("comparing bits");
    report.bits = compareBits(a);
    progress.clear();
    llvm::outs() << (a.json ? formatJson(report) : formatText(report));
    const BitsOutcome &bits = report.bits;
    bool broken = bits.failed || (bits.made && !bits.made->equal);
    return report.receipt.ok() && !broken ? kOk : kBroken;
  }

private:
  Status compile() {
    progress.show("compiling");
    FitQuestion question{set.config(), set.requestFor(1, 1), {}};
    FitTry users{set.positions(), a.batch};
    auto step = compileTry(set.context(), question, users);
    if (!step) {
      return withAdvice(step.error(), set.context(), question, users);
    }
    report.step = std::move(*step);
    report.timed.emplace(TimedStep{&report.step,
                                   StepTimes(report.step.system, set.machine()),
                                   set.positions()});
    return Success{};
  }

  Status simulate() {
    progress.show("checking");
    const SystemProgram *programs[] = {&report.step.system};
    report.receipt.addPrograms(programs);
    progress.show("simulating");
    if (Status ok = confirm(*report.timed, set.machine(), report.receipt);
        !ok) {
      return ok;
    }
    return confirmPair(*report.timed, set.machine());
  }

  // A user's next token starts when the last is done and the others have had
  // their turn at the slowest stage.
  void fillSelf() {
    const StepTimes &times = report.timed->times;
    Tick round = std::max<Tick>(times.ticks, a.batch * times.interval());
    CompareRow &row = report.self;
    row.system = report.machine.name;
    row.how = Evidence::Simulated;
    row.chips = int64_t(report.step.system.chips.size());
    row.usPerToken = report.machine.microseconds(round);
    row.batch = a.batch;
    row.context = report.context;
    row.detail =
        formatv("{0}; {1:N} ticks a step at {2:f0} MHz, {3:N} simulated",
                splitText(report.step, report.machine), times.ticks,
                report.machine.clockMhz, *report.timed->simulated)
            .str();
  }

  const CompareArguments &a;
  StepSet &set;
  Progress &progress;
  CompareReport report;
};

} // namespace

ExitCode execute(const CompareArguments &a) {
  auto subject = openSubject(a.model, a.target);
  if (!subject) {
    return fail(kBadInput, subject.error());
  }
  auto set = StepSet::open(subject->config, subject->options);
  if (!set) {
    return fail(kBadInput, set.error());
  }
  auto setting = decodeCase(a, *subject);
  auto rows = gpuRows(a, setting);
  if (!rows) {
    return fail(kBadInput, rows.error());
  }
  auto maker = makerRows((*set)->machine(), setting);
  if (!maker) {
    return fail(kBroken, maker.error());
  }
  rows->insert(rows->begin(), maker->begin(), maker->end());
  Progress progress(true);
  return CompareRun(a, *subject, **set, std::move(*rows), progress).go();
}

} // namespace orrery::command
