// What fits a machine, by trying: the largest context of one user, the most
// users at a context, and what would help one more. Only compiling tells: what
// padding, tables, temporaries and text take is known once all have a place.
//
// The caches of several users are one behind the other in the regions of one:
// room for U caches of a bucket is room for a context of U such buckets.
#pragma once

#include "compiler/Compile.h"

#include <functional>
#include <optional>

namespace orrery::runtime {

/// What is asked about. `request.import` has one token and the formats.
struct FitQuestion {
  models::ModelConfig config;
  CompileRequest request;
  /// Told what takes long, before it starts.
  std::function<void(const std::string &)> progress;
};

/// One try: a step for one token that attends to `positions`, with room for the
/// caches of `users` such users.
struct FitTry {
  int64_t positions, users;
};

/// The greatest that fits, compiled, and the next one, which does not.
struct Fit {
  FitTry most;
  CompiledStep step;
  FitTry next;
  /// Why `next` does not fit; empty: nothing was found that does not.
  std::string refusal;
};

/// How far a search goes: nobody has such contexts, nor as many users.
inline constexpr int64_t kMostPositions = int64_t(1) << 24;

/// For one user, in whole position tiles. The error is the refusal of a single
/// tile.
Expected<Fit> largestContextFit(mlir::MLIRContext &context,
                                const FitQuestion &question);
/// At `positions` positions a user. The error is the refusal of one user.
Expected<Fit> mostUsersFit(mlir::MLIRContext &context,
                           const FitQuestion &question, int64_t positions);

/// What would have room for a try that did not fit, each found by compiling.
struct FitAdvice {
  std::string preset; ///< the smallest that would do; empty: none
  std::string change; ///< the cheapest that would do; empty: none
};
FitAdvice fitAdvice(mlir::MLIRContext &context, const FitQuestion &question,
                    const FitTry &refused);

/// The refusal of a try, with what would do added, unless the refusal says so
/// itself; errors about the split that was asked for stay as they are.
Error withAdvice(Error refusal, mlir::MLIRContext &context,
                 const FitQuestion &question, const FitTry &refused);

/// Compiles one try.
Expected<CompiledStep> compileTry(mlir::MLIRContext &context,
                                  const FitQuestion &question,
                                  const FitTry &what);

} // namespace orrery::runtime
