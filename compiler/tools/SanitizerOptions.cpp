// Debian's MLIR shares bump allocators with our instrumented headers, which
// ASan would report as use after poison.
extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0:detect_stack_use_after_return=0";
}
