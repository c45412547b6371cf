// main of every GoogleTest binary. libsystemc has a `main` of its own: with
// gtest_main behind it, no test would run and the exit code would be 0.
//
// Freed memory is overwritten, here and in the commands that tests run: whoever
// still reads it fails every time, not once in twenty.
#include <gtest/gtest.h>

#include <cstdlib>
#include <malloc.h>

extern "C" int sc_main(int, char **) { return 0; }

// Debian's libMLIR shares bump allocators with instrumented headers, and
// SystemC switches stacks: both make ASan report what is not there.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_stack_use_after_return=0";
}

int main(int argc, char **argv) {
  mallopt(M_PERTURB, 0xa5);
  setenv("MALLOC_PERTURB_", "165", 1);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
