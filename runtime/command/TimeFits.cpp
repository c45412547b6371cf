#include "runtime/command/TimeFits.h"

#include "runtime/command/OpenModel.h"
#include "runtime/command/Stopwatch.h"
#include "runtime/command/TimeReport.h"

#include "models/NotModelled.h"
#include "runtime/timing/Refusal.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {

class FitsRun {
public:
  FitsRun(const TimeArguments &a, const ShapeSubject &subject, StepSet &set,
          Progress &progress)
      : a(a), set(set), progress(progress), report(set.machine()) {
    report.config = subject.config;
    report.weights = subject.weights;
    report.kv = formatName(a.target.kv);
    report.context = set.positions();
    question.config = set.config();
    question.request = set.requestFor(1, 1);
    question.progress = [&progress](const std::string &what) {
      progress.show(what);
    };
  }

  ExitCode go() {
    Stopwatch watch;
    auto longest = largestContextFit(set.context(), question);
    if (!longest) {
      return refuse(longest.error(), {set.machine().lanes, 1});
    }
    report.longest.emplace(std::move(*longest), set.machine());
    auto users = mostUsersFit(set.context(), question, set.positions());
    if (users) {
      report.users.emplace(std::move(*users), set.machine());
    } else if (limitOf(users.error())) {
      report.noUser = withAdvice(users.error(), set.context(), question,
                                 {set.positions(), 1})
                          .message;
    } else {
      return refuse(users.error(), {set.positions(), 1});
    }
    for (auto *found : {&report.longest, &report.users}) {
      Status ok = *found ? confirmFit(**found) : Status(Success{});
      if (!ok) {
        progress.clear();
        return fail(kBroken, ok.error());
      }
    }
    report.seconds = watch.seconds();
    progress.clear();
    llvm::outs() << (a.json ? formatJson(report) : formatText(report));
    bool holds = report.longest->receipt.ok() &&
                 (!report.users || report.users->receipt.ok());
    return holds ? kOk : kBroken;
  }

private:
  /// Of what is no refusal the machine is not to blame.
  ExitCode refuse(const Error &error, const FitTry &what) {
    ExitCode code = limitOf(error) ? kDoesNotFit : kBroken;
    Error advised = withAdvice(error, set.context(), question, what);
    progress.clear();
    return fail(code, advised);
  }

  Status confirmFit(FitFound &found) {
    if (!found.fit->refusal.empty()) {
      progress.show("looking for what would help");
      auto advice = fitAdvice(set.context(), question, found.fit->next);
      if (!advice) {
        return advice.error();
      }
      found.advice = std::move(*advice);
    }
    return a.simulate ? confirm(found.at, set.machine(), found.receipt)
                      : Status(Success{});
  }

  const TimeArguments &a;
  StepSet &set;
  Progress &progress;
  FitsReport report;
  FitQuestion question;
};

std::string triedText(const FitTry &what, bool users) {
  return users ? formatv("{0} of {1:N} positions", counted(what.users, "user"),
                         what.positions)
                     .str()
               : formatv("{0:N} positions", what.positions).str();
}

/// Whether what found no place is a weight, which may lie in any slice.
bool ofWeight(const FitFound &f) {
  for (const Program &part : f.fit->step.system.parts) {
    for (const SramRegion &r : part.regions) {
      if (r.kind == RegionKind::Weight &&
          f.fit->refusal.find(" for " + r.name + " (") != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

/// What there is too little of, and, of SRAM, whose most of it is: of a chip
/// or, since KV caches lie nowhere else, of the data slices.
std::string bindsText(const FitFound &f) {
  auto limit = limitOf({f.fit->refusal});
  if (!limit || !isSram(*limit)) {
    return formatv("  what binds is {0}, not SRAM\n",
                   limit ? limitName(*limit) : "");
  }
  bool whole = *limit == Limit::Chip || ofWeight(f);
  const SramItems &items = f.fullest;
  auto used = [&](RegionKind kind) {
    return items.used(true, kind) + (whole ? items.used(false, kind) : 0);
  };
  RegionKind owner = RegionKind::Weight;
  Bytes all = items.free(true) + (whole ? items.free(false) : 0);
  for (RegionKind kind : {RegionKind::Weight, RegionKind::Table, RegionKind::Kv,
                          RegionKind::Instructions, RegionKind::Temporary}) {
    owner = used(kind) > used(owner) ? kind : owner;
    all += used(kind);
  }
  return formatv("  what binds is {0}; the room is that of {1}: {2:N} of the "
                 "{3:N} B of {4}\n",
                 limitName(*limit), sramKindName(owner), used(owner), all,
                 whole ? "a chip"
                       : "the data slices; KV caches lie nowhere else");
}

std::string foundText(const FitsReport &r, const FitFound &f, bool users) {
  const StepTimes &times = f.at.times;
  std::string out =
      formatv("\n{0}: {1}, {2}\n  {3:N} ticks a token, {4}\n",
              users ? "most users" : "largest context, one user",
              triedText(f.fit->most, users), splitText(f.fit->step, r.machine),
              times.ticks,
              f.at.simulated ? formatv("confirmed by simulation: {0:N} ticks",
                                       *f.at.simulated)
                                   .str()
                             : "predicted, not simulated");
  if (f.fit->refusal.empty()) {
    return out + "  nothing that does not fit was found\n";
  }
  out += formatv("  {0}: refused: {1}\n", triedText(f.fit->next, users),
                 f.fit->refusal);
  out += bindsText(f);
  out += formatv("  smallest preset that would do: {0}; cheapest change: {1}\n",
                 (f.advice.preset.empty() ? "none" : presetText(f.advice)) +
                     skippedText(f.advice),
                 f.advice.change.empty() ? "none of KV format, split, context "
                                           "and weights"
                                         : f.advice.change);
  out += formatv("a chip with least free (it runs part {0})\n", f.part);
  return out + itemsText(f.fullest, 8);
}

} // namespace

std::string formatText(const FitsReport &r) {
  std::string out =
      formatv("{0} on {1}: weights {2}, KV {3}; shape only\n",
              models::titleOf(r.config), r.machine.name, r.weights, r.kv);
  out += foundText(r, *r.longest, false);
  int64_t most = r.longest->fit->most.positions;
  if (most > r.config.contextLength) {
    out += formatv("  more than the {0:N} positions the model was trained "
                   "for\n",
                   r.config.contextLength);
  }
  out += r.users ? foundText(r, *r.users, true)
                 : formatv("\nmost users: none of {0:N} positions: {1}\n",
                           r.context, r.noUser)
                       .str();
  out += brokenText(r.longest->receipt);
  out += r.users ? brokenText(r.users->receipt) : "";
  return out + models::omissionText({&r.config, 1});
}

FitFound::FitFound(Fit found, const Machine &machine)
    : fit(std::make_unique<Fit>(std::move(found))),
      at{&fit->step, StepTimes(fit->step.system, machine), fit->most.positions},
      receipt(machine) {
  const SystemProgram *all[] = {&fit->step.system};
  receipt.addPrograms(all);
  part = uint32_t(systemSram(machine, all).fullest);
  const Program *one[] = {&fit->step.system.parts[part]};
  fullest = sramItems(machine, one);
}

ExitCode timeFits(const TimeArguments &a, const ShapeSubject &subject,
                  StepSet &set, Progress &progress) {
  return FitsRun(a, subject, set, progress).go();
}

} // namespace orrery::command
