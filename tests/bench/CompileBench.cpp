// Compile time and schedule quality of 4096-wide Llama layers on lpu-v1:
// predicted ticks over the greater of the two lower bounds (operands alone;
// busiest resource). A q8_0 layer (215 MB and padding) leaves no room for
// anything else on one chip, so q4_0 is what fits, one layer of it.
#include "compiler/Compile.h"
#include "tests/bench/Shapes.h"

#include <benchmark/benchmark.h>

#include <algorithm>

namespace orrery::bench {
namespace {

void compileLlama7b(benchmark::State &state) {
  auto context = makeContext();
  CompileRequest request;
  request.import.weightFormat = llm::WeightFormat::Q4_0;
  for (auto _ : state) {
    auto step = compileStep(*context, llama7b(1), request);
    if (!step) {
      state.SkipWithError(step.error().message.c_str());
      return;
    }
    double bound =
        double(std::max(step->bounds.criticalPath, step->bounds.busiest));
    state.counters["predicted_ticks"] = double(step->program.predictedTicks);
    state.counters["critical_path"] = double(step->bounds.criticalPath);
    state.counters["busiest"] = double(step->bounds.busiest);
    state.counters["over_bound"] = double(step->program.predictedTicks) / bound;
    state.counters["instructions"] = double(step->program.instructions.size());
  }
}
BENCHMARK(compileLlama7b)->Unit(benchmark::kMillisecond);

void compileSmolLm2(benchmark::State &state) {
  auto context = makeContext();
  for (auto _ : state) {
    auto step = compileStep(*context, smolLm2(), {});
    if (!step) {
      state.SkipWithError(step.error().message.c_str());
      return;
    }
    state.counters["predicted_ticks"] = double(step->program.predictedTicks);
    state.counters["over_bound"] =
        double(step->program.predictedTicks) /
        double(std::max(step->bounds.criticalPath, step->bounds.busiest));
  }
}
BENCHMARK(compileSmolLm2)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace orrery::bench
