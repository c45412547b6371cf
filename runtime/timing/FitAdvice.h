// What would have room for a try that did not fit, each found by compiling.
#pragma once

#include "runtime/timing/Fits.h"

namespace orrery::runtime {

struct FitAdvice {
  std::string preset; ///< the smallest that would do; empty: none
  /// "tp=4,pp=1": how it would do, where it would not as asked for.
  std::string presetSplit;
  /// "lpu-small: …": presets on which compiling ended in no refusal; nothing is
  /// known of those.
  std::vector<std::string> skipped;
  std::string change; ///< the cheapest that would do; empty: none
};

/// An error is that of a change for which compiling ended in no refusal.
Expected<FitAdvice> fitAdvice(mlir::MLIRContext &context,
                              const FitQuestion &question,
                              const FitTry &refused);

/// The preset, and the split where it needs another one.
std::string presetText(const FitAdvice &advice);
/// "; not known of lpu-small: …" and so on; empty when all are known.
std::string skippedText(const FitAdvice &advice);

/// The refusal of a try, with the context that fits and what else would do in
/// place of what phases advise by estimate. Errors that are no refusal stay as
/// they are, and so do those about a split that no machine can have.
Error withAdvice(Error refusal, mlir::MLIRContext &context,
                 const FitQuestion &question, const FitTry &refused);

} // namespace orrery::runtime
