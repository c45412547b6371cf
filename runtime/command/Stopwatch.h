// Host time, for what the user waits.
#pragma once

#include <chrono>

namespace orrery::command {

class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
};

} // namespace orrery::command
