#include "gpu-reference/emulation/Fiber.h"

#include <cstdint>

#ifdef ORRERY_ASAN_FIBERS
#include <sanitizer/common_interface_defs.h>
#endif

namespace context = boost::context;

namespace orrery::gpu::emulated {

StackPool::~StackPool() {
  for (context::stack_context &stack : unused) {
    allocator.deallocate(stack);
  }
}

context::stack_context StackPool::take() {
  if (unused.empty()) {
    return allocator.allocate();
  }
  const context::stack_context stack = unused.back();
  unused.pop_back();
  return stack;
}

void StackPool::give(context::stack_context stack) { unused.push_back(stack); }

StackPool &StackPool::shared() {
  static thread_local StackPool pool;
  return pool;
}

namespace {
/// What boost::context gives a stack back to.
struct PoolAllocator {
  context::stack_context allocate() { return StackPool::shared().take(); }
  void deallocate(context::stack_context &stack) noexcept {
    StackPool::shared().give(stack);
  }
};
} // namespace

#ifdef ORRERY_ASAN_FIBERS
// ASan must be told before and after each change of stacks.

void Fiber::announceResume() {
  __sanitizer_start_switch_fiber(&outsideFake, insideLow, insideSize);
}

void Fiber::arrived() {
  __sanitizer_finish_switch_fiber(insideFake, &outsideLow, &outsideSize);
}
#else
void Fiber::announceResume() {}
void Fiber::arrived() {}
#endif

/// Stacks start at pages, so the parts in use would fall on the same few lines
/// of the cache; each starts a different number of lines lower.
static size_t unusedTop(const context::stack_context &stack) {
  return (reinterpret_cast<uintptr_t>(stack.sp) >> 12) % 64 * 64;
}

void Fiber::start(const std::function<void()> &body) {
  const context::stack_context stack = StackPool::shared().take();
  const size_t unused = unusedTop(stack);
#ifdef ORRERY_ASAN_FIBERS
  insideSize = stack.size;
  insideLow = static_cast<char *>(stack.sp) - stack.size;
  insideFake = nullptr;
#endif
  inside = context::fiber(
      std::allocator_arg,
      context::preallocated(static_cast<char *>(stack.sp) - unused,
                            stack.size - unused, stack),
      PoolAllocator(), [this, &body](context::fiber &&caller) {
        outside = std::move(caller);
        arrived();
        body();
#ifdef ORRERY_ASAN_FIBERS
        __sanitizer_start_switch_fiber(nullptr, outsideLow, outsideSize);
#endif
        return std::move(outside);
      });
}

void Fiber::resume() {
  announceResume();
  inside = std::move(inside).resume();
#ifdef ORRERY_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(outsideFake, nullptr, nullptr);
#endif
}

void Fiber::stop() {
#ifdef ORRERY_ASAN_FIBERS
  __sanitizer_start_switch_fiber(&insideFake, outsideLow, outsideSize);
#endif
  outside = std::move(outside).resume();
  arrived();
}

} // namespace orrery::gpu::emulated
