// The threads of one block at a time: who can go on, who waits for what, and in
// which order they are let go on. Not here: what an operation computes.
#pragma once

#include "gpu-reference/emulation/Fiber.h"
#include "gpu-reference/emulation/Launch.h"
#include "gpu-reference/emulation/Settings.h"
#include "gpu-reference/emulation/WarpOps.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <vector>

namespace orrery::gpu::emulated {

/// Memory of one shared array, alone so that ASan sees its ends.
struct SharedArray {
  const void *key;
  std::unique_ptr<std::byte[]> bytes;
};

/// Runs the blocks of one launch, one after another, on this OS thread.
class Block {
public:
  Block(const LaunchShape &shape, const std::function<void()> &thread);
  ~Block();
  Block(const Block &) = delete;
  Block &operator=(const Block &) = delete;

  /// Runs block `index` to the end of all its threads. What went wrong, with
  /// kernel, block and threads, or nothing.
  std::string run(const uint3 &index);

  /// The block this OS thread runs; there must be one.
  static Block &current();

  // Called by the running thread.
  /// How many threads have the predicate.
  unsigned meetBlock(bool predicate, const std::source_location &where);
  void meetWarp(const char *name, uint32_t mask, WarpFunction function,
                const std::source_location &where);
  unsigned lane() const { return running % 32; }
  unsigned threads() const { return unsigned(threadList.size()); }
  void *dynamicShared();
  void *staticShared(const void *key, const char *name, size_t bytes);

private:
  enum class State : uint8_t { Ready, Warp, Barrier, Ended };
  struct Thread {
    Fiber fiber;
    uint3 index{};
    State state = State::Ready;
    bool predicate = false;
    unsigned barriers = 0; ///< come to in settings().ignored.file
    // What it waits for.
    const char *operation = nullptr;
    uint32_t mask = 0;
    WarpFunction function = nullptr;
    std::source_location where;
  };
  struct Warp {
    uint32_t ready = 0;
    uint32_t waiting = 0; ///< at a warp operation
    uint32_t ended = 0;   ///< or never there
    WarpWords words;
  };

  void start();
  void runBody();
  unsigned nextThread();
  void resume(unsigned thread);
  void park(State state);
  void makeReady(unsigned thread);
  void endThread();
  bool tryMeeting(unsigned warp, unsigned first);
  void releaseBarrier();
  bool ignores(Thread &thread, const std::source_location &where) const;
  void unwindAll();
  std::string whoWaits() const;

  LaunchShape shape;
  const std::function<void()> &kernelThread;
  const std::function<void()> body;
  std::vector<Thread> threadList;
  std::vector<Warp> warps;
  uint32_t readyWarps = 0;
  unsigned running = 0;
  unsigned atBarrier = 0;
  unsigned lastCount = 0;
  unsigned endedThreads = 0;
  bool unwinding = false;
  std::string problem;
  const Order order;
  const IgnoredBarrier ignored;
  std::mt19937_64 random;
  std::unique_ptr<std::byte[]> dynamic;
  std::vector<SharedArray> arrays;
  size_t arrayBytes = 0;
};

} // namespace orrery::gpu::emulated
