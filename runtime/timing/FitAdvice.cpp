#include "runtime/timing/FitAdvice.h"

#include "runtime/timing/GreatestFit.h"
#include "runtime/timing/Refusal.h"

#include <algorithm>

namespace orrery::runtime {

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

/// Tries one change of the question after another.
class AdviceSearch {
public:
  AdviceSearch(mlir::MLIRContext &context, const FitQuestion &question,
               const FitTry &refused)
      : context(context), question(question), refused(refused),
        splitAsked(!(question.request.split == SplitOptions{})) {}

  void findPreset(FitAdvice &advice) {
    FitQuestion elsewhere = question;
    for (const std::string &preset : presetsBySize()) {
      elsewhere.request.machine = preset;
      auto fits = tryFits(context, elsewhere, refused);
      auto split = fits && !*fits ? splitOf(elsewhere)
                                  : Expected<std::string>(std::string());
      if (!fits || !split) {
        // One preset says nothing of the others.
        advice.skipped.push_back(preset + ": " +
                                 (fits ? split.error() : fits.error()).message);
        continue;
      }
      if (*fits || !split->empty()) {
        advice.preset = preset;
        advice.presetSplit = *split;
        return;
      }
    }
  }

  Status findChange(FitAdvice &advice) {
    for (auto change :
         {&AdviceSearch::smallerKv, &AdviceSearch::otherSplit,
          &AdviceSearch::shorterContext, &AdviceSearch::smallerWeights}) {
      auto found = (this->*change)();
      if (!found) {
        return found.error();
      }
      if (!found->empty()) {
        advice.change = *found;
        return Success{};
      }
    }
    return Success{};
  }

private:
  /// The split that the compiler chooses when none is asked for; empty: none,
  /// or none was asked for.
  Expected<std::string> splitOf(FitQuestion changed) {
    if (!splitAsked) {
      return std::string();
    }
    changed.request.split = {};
    auto step = compileTry(context, changed, refused);
    if (!step) {
      return limitOf(step.error()) ? Expected<std::string>(std::string())
                                   : step.error();
    }
    return "tp=" + std::to_string(step->split.tensorParallel) +
           ",pp=" + std::to_string(step->split.stages);
  }

  /// `words` when the changed question has room.
  Expected<std::string> ifFits(const FitQuestion &changed, const char *words) {
    auto fits = tryFits(context, changed, refused);
    return fits ? Expected<std::string>(*fits ? words : "") : fits.error();
  }

  Expected<std::string> smallerKv() {
    if (question.request.import.kvFormat != llm::KvFormat::F16) {
      return std::string();
    }
    FitQuestion changed = question;
    changed.request.import.kvFormat = llm::KvFormat::Q8;
    return ifFits(changed, "--kv q8");
  }

  Expected<std::string> otherSplit() {
    auto split = splitOf(question);
    return split && !split->empty() ? "--partition " + *split : split;
  }

  /// As many users at fewer positions. (For one user the search has just found
  /// how many there are.)
  Expected<std::string> shorterContext() {
    auto machine = loadMachine(question.request.machine);
    if (!machine || refused.users == 1) {
      return std::string();
    }
    int64_t lanes = machine->lanes;
    auto fits = [&](int64_t tiles) {
      return tryFits(context, question, {tiles * lanes, refused.users});
    };
    auto tiles = greatestFit((refused.positions - 1) / lanes, fits);
    if (!tiles) {
      return tiles.error();
    }
    return *tiles > 0 ? "--ctx " + std::to_string(*tiles * lanes)
                      : std::string();
  }

  Expected<std::string> smallerWeights() {
    bool floats = question.request.import.tensorFormats.empty();
    if (!floats ||
        question.request.import.weightFormat == llm::WeightFormat::Q4_0) {
      return std::string();
    }
    FitQuestion changed = question;
    changed.request.import.weightFormat = llm::WeightFormat::Q4_0;
    return ifFits(changed, "--weights q4_0");
  }

  mlir::MLIRContext &context;
  const FitQuestion &question;
  FitTry refused;
  bool splitAsked;
};

} // namespace

Expected<FitAdvice> fitAdvice(mlir::MLIRContext &context,
                              const FitQuestion &question,
                              const FitTry &refused) {
  FitAdvice advice;
  AdviceSearch search(context, question, refused);
  search.findPreset(advice);
  Status ok = search.findChange(advice);
  return ok ? Expected<FitAdvice>(std::move(advice)) : ok.error();
}

std::string presetText(const FitAdvice &advice) {
  return advice.presetSplit.empty()
             ? advice.preset
             : advice.preset + " with --partition " + advice.presetSplit;
}

std::string skippedText(const FitAdvice &advice) {
  std::string out;
  for (const std::string &why : advice.skipped) {
    out += "; not known of " + why;
  }
  return out;
}

Error withAdvice(Error refusal, mlir::MLIRContext &context,
                 const FitQuestion &question, const FitTry &refused) {
  auto limit = limitOf(refusal);
  if (!limit || *limit == Limit::Split) {
    return refusal;
  }
  refusal.message = withoutAdvice(refusal.message);
  // Of several users it is one of the changes.
  if (refused.users == 1) {
    CompileRequest request = question.request;
    request.import.context = refused.positions;
    refusal = withRoomFor(refusal, context, question.config, request);
  }
  auto advice = fitAdvice(context, question, refused);
  if (!advice) {
    refusal.message += "; looking for what would do: " + advice.error().message;
    return refusal;
  }
  refusal.message +=
      advice->preset.empty()
          ? "; no preset would do"
          : "; the smallest preset that would do is " + presetText(*advice);
  refusal.message += skippedText(*advice);
  if (!advice->change.empty()) {
    refusal.message += "; " + advice->change + " would fit";
  }
  return refusal;
}

} // namespace orrery::runtime
