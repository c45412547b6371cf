// Compile time, and schedule quality as predicted ticks over the greater of the
// two lower bounds (operands alone; busiest resource).
//
// oneLayer: what one more 4096-wide Llama layer costs, the difference between
// three and two layers, so that host link, head and the first layer's cold
// start do not count. Its chip is lpu-v1 with deeper banks, since one chip
// holds no such q8_0 layer besides its KV cache and program (215 MB and
// padding). llama7b: one q4_0 layer on lpu-v1 as it is, host and head included.
#include "compiler/Compile.h"
#include "tests/bench/Shapes.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace orrery::bench {
namespace {

/// lpu-v1 with eight times the addresses, as a file.
std::string deepChip() {
  auto machine = loadMachine("lpu-v1");
  machine->name = "lpu-v1-deep";
  machine->sram.vectorsPerBank *= 8;
  auto path = std::filesystem::temp_directory_path() /
              ("orrery-deep-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << formatMachine(*machine);
  return path.string();
}

void oneLayer(benchmark::State &state) {
  auto context = makeContext();
  CompileRequest request;
  request.machine = deepChip();
  if (state.range(0) == 4) {
    request.import.weightFormat = llm::WeightFormat::Q4_0;
  }
  for (auto _ : state) {
    auto two = compileStep(*context, llama7b(2), request);
    auto three = compileStep(*context, llama7b(3), request);
    if (!two || !three) {
      state.SkipWithError("does not compile");
      break;
    }
    double ticks =
        double(three->program().predictedTicks - two->program().predictedTicks);
    const auto &less = two->parts.front().bounds;
    const auto &more = three->parts.front().bounds;
    double path = double(more.criticalPath - less.criticalPath);
    double busiest = double(more.busiest - less.busiest);
    state.counters["layer_ticks"] = ticks;
    state.counters["critical_path"] = path;
    state.counters["busiest"] = busiest;
    state.counters["over_bound"] = ticks / std::max(path, busiest);
  }
  std::filesystem::remove(request.machine);
}
BENCHMARK(oneLayer)->Arg(8)->Arg(4)->ArgName("bits")->Unit(
    benchmark::kMillisecond);

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
    const auto &bounds = step->parts.front().bounds;
    double bound = double(std::max(bounds.criticalPath, bounds.busiest));
    state.counters["predicted_ticks"] = double(step->program().predictedTicks);
    state.counters["critical_path"] = double(bounds.criticalPath);
    state.counters["busiest"] = double(bounds.busiest);
    state.counters["over_bound"] =
        double(step->program().predictedTicks) / bound;
    state.counters["instructions"] =
        double(step->program().instructions.size());
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
    const auto &bounds = step->parts.front().bounds;
    state.counters["predicted_ticks"] = double(step->program().predictedTicks);
    state.counters["over_bound"] =
        double(step->program().predictedTicks) /
        double(std::max(bounds.criticalPath, bounds.busiest));
  }
}
BENCHMARK(compileSmolLm2)->Unit(benchmark::kMillisecond);

} // namespace
} // namespace orrery::bench
