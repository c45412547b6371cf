// What fits a machine, by trying: the largest context of one user and the most
// users at a context. Only compiling tells: what padding, tables, temporaries
// and text take is known once all have a place.
//
// The caches of several users are one behind the other in the regions of one:
// room for U caches of a bucket is room for a context of U such buckets. A step
// attends to one of them.
#pragma once

#include "compiler/Compile.h"

#include <functional>

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
/// tile, or whatever else than a limit of the machine stopped a compilation.
Expected<Fit> largestContextFit(mlir::MLIRContext &context,
                                const FitQuestion &question);
/// At `positions` positions a user. The error is the refusal of one user, or as
/// above.
Expected<Fit> mostUsersFit(mlir::MLIRContext &context,
                           const FitQuestion &question, int64_t positions);

/// Compiles one try. Errors are refusals (Refusal.h), or say at which try.
Expected<CompiledStep> compileTry(mlir::MLIRContext &context,
                                  const FitQuestion &question,
                                  const FitTry &what);
/// Whether it compiles. Errors are those that are no refusal.
Expected<bool> tryFits(mlir::MLIRContext &context, const FitQuestion &question,
                       const FitTry &what);

/// A refusal without the advice that phases give by estimate.
std::string withoutAdvice(const std::string &refusal);

} // namespace orrery::runtime
