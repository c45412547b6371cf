// main of every benchmark; the stub keeps libsystemc's own main out.
#include <benchmark/benchmark.h>

extern "C" int sc_main(int, char **) { return 0; }

BENCHMARK_MAIN();
