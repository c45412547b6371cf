#include "runtime/timing/Fits.h"

#include "runtime/timing/GreatestFit.h"
#include "runtime/timing/Refusal.h"

#include <algorithm>

namespace orrery::runtime {

namespace {

int64_t wholeTiles(int64_t positions, int64_t lanes) {
  return (positions + lanes - 1) / lanes * lanes;
}

CompileRequest requestOf(const CompileRequest &base, const FitTry &what,
                         int64_t lanes) {
  CompileRequest request = base;
  request.import.tokens = 1;
  request.import.bucket = request.reach = what.positions;
  request.import.context = what.users == 1
                               ? what.positions
                               : what.users * wholeTiles(what.positions, lanes);
  return request;
}

/// Searches tries that a number makes.
Expected<Fit> search(mlir::MLIRContext &context, const FitQuestion &question,
                     int64_t most, const std::function<FitTry(int64_t)> &at) {
  // Of those that fit the last tried is the greatest, of those that do not the
  // smallest.
  std::optional<CompiledStep> best;
  std::string refusal;
  auto fits = [&](int64_t number) -> Expected<bool> {
    FitTry what = at(number);
    if (question.progress) {
      question.progress("compiling for " + std::to_string(what.users) + " of " +
                        std::to_string(what.positions) + " positions");
    }
    auto step = compileTry(context, question, what);
    if (step) {
      best = std::move(*step);
      return true;
    }
    if (!limitOf(step.error())) {
      return step.error();
    }
    refusal = step.error().message;
    return false;
  };
  auto found = greatestFit(most, fits);
  if (!found) {
    return found.error();
  }
  if (!best) {
    return Error{refusal};
  }
  return Fit{at(*found), std::move(*best), at(*found + 1),
             *found == most ? "" : withoutAdvice(refusal)};
}

Expected<int64_t> lanesOf(const FitQuestion &question) {
  auto machine = loadMachine(question.request.machine);
  if (!machine) {
    return machine.error();
  }
  return int64_t(machine->lanes);
}

} // namespace

std::string withoutAdvice(const std::string &refusal) {
  size_t end = std::string::npos;
  for (const char *begin :
       {"; the smallest preset", "; no preset would",
        "; tp=", "; a q8 KV cache would", "; a context of",
        "; q4_0 weights would", "; no context above", "; would need"}) {
    end = std::min(end, refusal.find(begin));
  }
  return refusal.substr(0, end);
}

Expected<CompiledStep> compileTry(mlir::MLIRContext &context,
                                  const FitQuestion &question,
                                  const FitTry &what) {
  auto lanes = lanesOf(question);
  if (!lanes) {
    return lanes.error();
  }
  auto step = compileStep(context, question.config,
                          requestOf(question.request, what, *lanes));
  if (!step && !limitOf(step.error())) {
    return Error{"compiling for " + std::to_string(what.users) + " x " +
                 std::to_string(what.positions) +
                 " positions: " + step.error().message};
  }
  return step;
}

Expected<bool> tryFits(mlir::MLIRContext &context, const FitQuestion &question,
                       const FitTry &what) {
  auto step = compileTry(context, question, what);
  if (!step && !limitOf(step.error())) {
    return step.error();
  }
  return bool(step);
}

Expected<Fit> largestContextFit(mlir::MLIRContext &context,
                                const FitQuestion &question) {
  auto lanes = lanesOf(question);
  if (!lanes) {
    return lanes.error();
  }
  auto tiles = [&](int64_t number) { return FitTry{number * *lanes, 1}; };
  return search(context, question, kMostPositions / *lanes, tiles);
}

Expected<Fit> mostUsersFit(mlir::MLIRContext &context,
                           const FitQuestion &question, int64_t positions) {
  auto users = [&](int64_t number) { return FitTry{positions, number}; };
  int64_t most = std::max<int64_t>(1, kMostPositions / positions);
  return search(context, question, most, users);
}

} // namespace orrery::runtime
