#include "runtime/timing/Fits.h"

#include "runtime/ProgramSet.h"
#include "runtime/StageChips.h"

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
  request.import.bucket = what.positions;
  request.import.context = what.users == 1
                               ? what.positions
                               : what.users * wholeTiles(what.positions, lanes);
  return request;
}

/// Errors of earlier phases come with advice of their own, by estimate.
std::string withoutAdvice(const std::string &message) {
  size_t end = std::string::npos;
  for (const char *begin :
       {"; the smallest preset", "; no preset would",
        "; tp=", "; a q8 KV cache would", "; a context of",
        "; q4_0 weights would", "; no context above", "; would need"}) {
    end = std::min(end, message.find(begin));
  }
  return message.substr(0, end);
}

/// Doubles, then bisects, over tries that a number makes.
class Search {
public:
  Search(mlir::MLIRContext &context, const FitQuestion &question,
         std::function<FitTry(int64_t)> at)
      : context(context), question(question), at(std::move(at)) {}

  Expected<Fit> run(int64_t most) {
    if (!fits(1)) {
      return Error{refusal};
    }
    int64_t low = 1, high = 2;
    while (high <= most && fits(high)) {
      low = high;
      high *= 2;
    }
    if (high > most) {
      return Fit{at(low), std::move(*best), at(low + 1), ""};
    }
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      (fits(middle) ? low : high) = middle;
    }
    return Fit{at(low), std::move(*best), at(high), withoutAdvice(refusal)};
  }

private:
  // Of those that fit the last tried is the greatest, of those that do not the
  // smallest.
  bool fits(int64_t number) {
    FitTry what = at(number);
    if (question.progress) {
      question.progress("compiling for " + std::to_string(what.users) + " of " +
                        std::to_string(what.positions) + " positions");
    }
    auto step = compileTry(context, question, what);
    if (!step) {
      refusal = step.error().message;
      return false;
    }
    best = std::move(*step);
    return true;
  }

  mlir::MLIRContext &context;
  const FitQuestion &question;
  std::function<FitTry(int64_t)> at;
  std::optional<CompiledStep> best;
  std::string refusal;
};

Expected<int64_t> lanesOf(const FitQuestion &question) {
  auto machine = loadMachine(question.request.machine);
  if (!machine) {
    return machine.error();
  }
  return int64_t(machine->lanes);
}

} // namespace

Expected<CompiledStep> compileTry(mlir::MLIRContext &context,
                                  const FitQuestion &question,
                                  const FitTry &what) {
  auto lanes = lanesOf(question);
  if (!lanes) {
    return lanes.error();
  }
  return compileStep(context, question.config,
                     requestOf(question.request, what, *lanes));
}

Expected<Fit> largestContextFit(mlir::MLIRContext &context,
                                const FitQuestion &question) {
  auto lanes = lanesOf(question);
  if (!lanes) {
    return lanes.error();
  }
  auto tiles = [&](int64_t number) { return FitTry{number * *lanes, 1}; };
  return Search(context, question, tiles).run(kMostPositions / *lanes);
}

Expected<Fit> mostUsersFit(mlir::MLIRContext &context,
                           const FitQuestion &question, int64_t positions) {
  auto users = [&](int64_t number) { return FitTry{positions, number}; };
  return Search(context, question, users).run(kMostPositions / positions);
}

namespace {

/// The presets, that of least SRAM first.
std::vector<std::string> presetsBySize() {
  std::vector<std::pair<Bytes, std::string>> sizes;
  for (const std::string &name : presetNames()) {
    if (auto machine = loadMachine(name)) {
      sizes.push_back({machine->sramBytes() * machine->system.chips, name});
    }
  }
  std::ranges::sort(sizes);
  std::vector<std::string> out;
  for (auto &[bytes, name] : sizes) {
    out.push_back(std::move(name));
  }
  return out;
}

std::string splitText(const CompiledStep &step) {
  auto stages = stageChips(step.system);
  return "tp=" + std::to_string(stages.front().size()) +
         ",pp=" + std::to_string(stages.size());
}

/// Tries one change of the question after another.
class ChangeSearch {
public:
  ChangeSearch(mlir::MLIRContext &context, const FitQuestion &question,
               const FitTry &refused)
      : context(context), question(question), refused(refused) {}

  std::string cheapest() {
    FitQuestion changed = question;
    if (question.request.import.kvFormat == llm::KvFormat::F16) {
      changed.request.import.kvFormat = llm::KvFormat::Q8;
      if (compileTry(context, changed, refused)) {
        return "--kv q8";
      }
    }
    changed = question;
    changed.request.split = {};
    if (!(question.request.split == SplitOptions{})) {
      if (auto step = compileTry(context, changed, refused)) {
        return "--partition " + splitText(*step);
      }
    }
    if (std::string shorter = shorterContext(); !shorter.empty()) {
      return shorter;
    }
    changed = question;
    changed.request.import.weightFormat = llm::WeightFormat::Q4_0;
    bool floats = question.request.import.tensorFormats.empty();
    return floats && compileTry(context, changed, refused) ? "--weights q4_0"
                                                           : "";
  }

private:
  /// As many users at fewer positions. (For one user the search has just found
  /// how many there are.)
  std::string shorterContext() {
    auto lanes = lanesOf(question);
    if (!lanes || refused.users == 1) {
      return "";
    }
    int64_t low = 0, high = (refused.positions + *lanes - 1) / *lanes;
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      bool fits =
          bool(compileTry(context, question, {middle * *lanes, refused.users}));
      (fits ? low : high) = middle;
    }
    return low > 0 ? "--ctx " + std::to_string(low * *lanes) : "";
  }

  mlir::MLIRContext &context;
  const FitQuestion &question;
  FitTry refused;
};

} // namespace

FitAdvice fitAdvice(mlir::MLIRContext &context, const FitQuestion &question,
                    const FitTry &refused) {
  FitAdvice advice;
  FitQuestion elsewhere = question;
  elsewhere.request.split = {};
  for (const std::string &preset : presetsBySize()) {
    elsewhere.request.machine = preset;
    if (compileTry(context, elsewhere, refused)) {
      advice.preset = preset;
      break;
    }
  }
  advice.change = ChangeSearch(context, question, refused).cheapest();
  return advice;
}

Error withAdvice(Error refusal, mlir::MLIRContext &context,
                 const FitQuestion &question, const FitTry &refused) {
  // A split that nobody asked for is never the reason.
  bool chosen = question.request.split == SplitOptions{};
  if ((!chosen && !isLackOfRoom(refusal)) ||
      refusal.message.find(" preset ") != std::string::npos) {
    return refusal;
  }
  CompileRequest request = question.request;
  request.import.context = refused.positions;
  refusal = withRoomFor({withoutAdvice(refusal.message)}, context,
                        question.config, request);
  FitAdvice advice = fitAdvice(context, question, refused);
  refusal.message +=
      advice.preset.empty()
          ? "; no preset would do"
          : "; the smallest preset that would do is " + advice.preset;
  if (!advice.change.empty()) {
    refusal.message += "; " + advice.change + " would fit";
  }
  return refusal;
}

} // namespace orrery::runtime
