// A SystemC simulation of its own: many can run one after another in a
// process. Every process body goes through `guard`, so that no exception
// crosses the kernel.
#pragma once

#include <systemc>

#include <exception>
#include <functional>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define ORRERY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ORRERY_ASAN 1
#endif
#endif
#ifdef ORRERY_ASAN
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace orrery::sim {

/// libsystemc tells ASan about its stack switches but not the bounds of the
/// main stack; without this, an exception thrown later looks like an overflow.
inline void fixMainStack() {
#ifdef ORRERY_ASAN
  pthread_attr_t attributes;
  void *low = nullptr, *saved = nullptr;
  size_t size = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  __sanitizer_start_switch_fiber(&saved, low, size);
  __sanitizer_finish_switch_fiber(saved, nullptr, nullptr);
#endif
}

/// Swaps a fresh SystemC context in for its lifetime. Modules must be made
/// after it and destroyed before it. Only SC_METHODs: nothing to unwind.
class Simulation {
public:
  Simulation()
      : before(sc_core::sc_curr_simcontext),
        beforeDefault(sc_core::sc_default_global_context),
        context(new sc_core::sc_simcontext) {
    use(context, context);
  }
  ~Simulation() {
    delete context;
    use(before, beforeDefault);
  }
  Simulation(const Simulation &) = delete;
  Simulation &operator=(const Simulation &) = delete;

  /// Runs until nothing is due any more; throws what a guarded body threw.
  void run() {
    sc_core::sc_start();
    if (error && sc_core::sc_pending_activity()) {
      // Pending notifications would leak with the context: let them come, the
      // guarded bodies do nothing any more.
      sc_core::sc_start();
    }
    fixMainStack();
    if (error) {
      std::rethrow_exception(std::exchange(error, nullptr));
    }
  }

  template <class F> void guard(F f) {
    if (error) {
      return; // processes of the same instant may still be called
    }
    try {
      f();
    } catch (...) {
      error = std::current_exception();
      sc_core::sc_pause();
    }
  }

private:
  static void use(sc_core::sc_simcontext *current,
                  sc_core::sc_simcontext *global) {
    sc_core::sc_curr_simcontext = current;
    sc_core::sc_default_global_context = global;
  }

  sc_core::sc_simcontext *before, *beforeDefault, *context;
  std::exception_ptr error;
};

} // namespace orrery::sim
