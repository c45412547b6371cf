// What a run of the emulation leaves open on purpose: in which order threads
// run, and what is in memory that nobody wrote. Results must depend on neither,
// so tests run kernels under several of these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orrery::gpu::emulated {

/// Which of the threads that can go on goes on next, and which block starts
/// next: the lowest number, the highest, or any.
enum class Order { Forward, Backward, Shuffled };

/// The barrier that no thread waits at: the `number`th, from 0, that a thread
/// comes to in source `file`. For tests that see whether anything shows it.
struct IgnoredBarrier {
  std::string_view file; ///< how its name ends; empty: no barrier
  unsigned number = 0;
};

struct Settings {
  Order order = Order::Forward;
  /// Of Order::Shuffled.
  uint64_t seed = 1;
  /// What cudaMalloc gives out at most; *assumed*: enough for test models.
  size_t memoryBytes = size_t(16) << 30;
  /// Shared memory a block may ask for, static and dynamic: 227 KiB as of
  /// compute capability 9.0 (163 KiB on 8.0).
  size_t sharedBytes = 227 * 1024;
  IgnoredBarrier ignored;
};

/// Of this process. Not to be changed while a kernel runs.
Settings &settings();

/// Other settings for as long as it lives.
class SettingsScope {
public:
  explicit SettingsScope(const Settings &other) : saved(settings()) {
    settings() = other;
  }
  ~SettingsScope() { settings() = saved; }
  SettingsScope(const SettingsScope &) = delete;
  SettingsScope &operator=(const SettingsScope &) = delete;

private:
  Settings saved;
};

/// Fills fresh memory with bytes that differ between settings: NaNs, large
/// numbers, or noise.
void poison(void *memory, size_t bytes);

} // namespace orrery::gpu::emulated
