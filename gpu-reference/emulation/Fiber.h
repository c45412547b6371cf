// One thread's stack and how control goes to it and back.
#pragma once

#include <boost/context/fiber.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>

#include <cstddef>
#include <functional>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define ORRERY_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORRERY_ASAN_FIBERS 1
#endif
#endif

namespace orrery::gpu::emulated {

/// Stacks that ended fibers leave to later ones.
class StackPool {
public:
  StackPool() = default;
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;
  ~StackPool();

  boost::context::stack_context take();
  void give(boost::context::stack_context stack);

  /// Of this OS thread.
  static StackPool &shared();

private:
  // Room for a kernel's local arrays in an instrumented build.
  boost::context::protected_fixedsize_stack allocator{size_t(128) * 1024};
  std::vector<boost::context::stack_context> unused;
};

/// A function that can stop in the middle and go on later. All fibers of one
/// OS thread are resumed from the same place, never from each other. Whoever
/// starts one resumes it until it has ended: its stack cannot be unwound from
/// outside.
class Fiber {
public:
  Fiber() = default;
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  /// Makes ready to run `body`, which lives until its end and does not throw.
  void start(const std::function<void()> &body);
  /// Runs the body until it stops or ends.
  void resume();
  /// Inside the body: stops it.
  void stop();

private:
  void announceResume();
  void arrived();

  boost::context::fiber inside;  ///< where the body goes on
  boost::context::fiber outside; ///< where resume() was called
#ifdef ORRERY_ASAN_FIBERS
  void *insideFake = nullptr;
  void *outsideFake = nullptr;
  const void *insideLow = nullptr;
  const void *outsideLow = nullptr;
  size_t insideSize = 0;
  size_t outsideSize = 0;
#endif
};

} // namespace orrery::gpu::emulated
