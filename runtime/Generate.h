// Text, token by token: reads a prompt, then feeds back what comes next.
#pragma once

#include "runtime/Sampler.h"
#include "runtime/Session.h"

#include <functional>

namespace orrery::runtime {

enum class Stop {
  Count,    ///< as many tokens as asked for
  EndToken, ///< the model said that the text ends
  Context,  ///< no position is left
};

struct GenerateOptions {
  int64_t count = 0;     ///< tokens at most
  int32_t endToken = -1; ///< -1: none
  Sampler sampler = {};
  /// After each step, with the ids that it read. An error ends the run.
  std::function<Status(const StepRecord &, std::span<const int32_t>)> onStep =
      {};
  /// With each token, before it is read.
  std::function<void(int32_t)> onToken = {};
};

struct Generated {
  std::vector<int32_t> ids; ///< without the end token
  Stop stop = Stop::Count;
};

/// Continues `prompt`, which is not empty, at the session's position. All
/// programs that may be needed are compiled before the first step.
Expected<Generated> generate(Session &session, std::span<const int32_t> prompt,
                             const GenerateOptions &options);

} // namespace orrery::runtime
