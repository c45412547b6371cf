// A whole system: what it costs to compile, check and simulate one token of a
// published shape on hundreds of chips, and how the token's ticks depend on
// each number of the machine.
//
// system: host seconds of each part, the most memory of the process, and what
// was worked on; in a child process, so that models do not share a peak. Cost
// is to follow instructions, not chips: parts are compiled once, and of chips
// that do the same one is simulated.
//
// layer70b: what one more layer of Llama-2-70B costs on 8 chips, beside its
// lower bounds: the difference between three layers and two, on chips with
// deeper banks, since 8 as they are hold no three.
//
// sensitivity: Llama-2-70B in q8_0 on lpu-v1-576 (docs/llama-2-70b.md), at 640
// positions, with one number of the machine changed by a half either way;
// `change` is what that does to the ticks of a token, compiled anew in the same
// split.
#include "compiler/Compile.h"
#include "machine/MachineFields.h"
#include "models/Zoo.h"
#include "simulator/SystemSimulator.h"
#include "simulator/check/SystemCheck.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace orrery::bench {
namespace {

constexpr int64_t kContext = 4096;

double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// What a child finds out; plain, to go through a pipe.
struct Figures {
  double compileSeconds = 0, checkSeconds = 0, simulateSeconds = 0;
  double chips = 0, simulatedChips = 0, stages = 0, parts = 0;
  double instructions = 0; ///< of all parts, each once
  double simulatedInstructions = 0;
  double ticks = 0;
  char error[512] = {};
};

CompileRequest requestOn(const std::string &machine, llm::WeightFormat format) {
  CompileRequest request;
  request.machine = machine;
  request.import.context = request.import.bucket = kContext;
  request.import.weightFormat = format;
  return request;
}

/// The error; empty: none.
std::string measure(const std::string &model, const CompileRequest &request,
                    Figures &f) {
  auto config = models::loadShape(model);
  auto machine = loadMachine(request.machine);
  if (!config || !machine) {
    return config ? machine.error().message : config.error().message;
  }
  auto context = makeContext();
  double start = now();
  auto step = compileStep(*context, *config, request);
  f.compileSeconds = now() - start;
  if (!step) {
    return step.error().message;
  }
  start = now();
  check::SystemReport report = check::checkSystem(step->system, *machine);
  f.checkSeconds = now() - start;
  start = now();
  sim::SystemSimulator simulator(*machine);
  auto result = simulator.run(step->system, {});
  f.simulateSeconds = now() - start;
  if (!report.ok() || !result) {
    return result ? report.violations.front().message : result.error().message;
  }
  f.chips = double(step->system.chips.size());
  f.simulatedChips = double(result->simulated.size());
  f.stages = double(step->stages.size());
  f.parts = double(step->parts.size());
  f.ticks = double(result->ticks);
  for (const Program &part : step->system.parts) {
    f.instructions += double(part.instructions.size());
  }
  for (const sim::ChipStep &chip : result->simulated) {
    f.simulatedInstructions += double(chip.result.executed.size());
  }
  return result->ticks == step->system.predictedTicks
             ? ""
             : "executed ticks are not the predicted ones";
}

/// In a process of its own; its peak memory in MiB comes back beside it.
Figures measureApart(const std::string &model, const CompileRequest &request,
                     double &mebibytes) {
  Figures figures;
  int ends[2];
  if (pipe(ends) != 0) {
    std::snprintf(figures.error, sizeof figures.error, "no pipe");
    return figures;
  }
  pid_t child = fork();
  if (child == 0) {
    std::string error = measure(model, request, figures);
    std::snprintf(figures.error, sizeof figures.error, "%s", error.c_str());
    ssize_t written = write(ends[1], &figures, sizeof figures);
    _exit(written == ssize_t(sizeof figures) ? 0 : 1);
  }
  close(ends[1]);
  ssize_t got = read(ends[0], &figures, sizeof figures);
  close(ends[0]);
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  mebibytes = double(usage.ru_maxrss) / 1024;
  if (got != ssize_t(sizeof figures)) {
    std::snprintf(figures.error, sizeof figures.error, "the child died");
  }
  return figures;
}

/// Nodes of 8 chips in a ring like that of lpu-v1-576; as a file.
std::string nodeRing(int64_t nodes) {
  auto path = std::filesystem::temp_directory_path() /
              ("orrery-ring-" + std::to_string(getpid()) + ".json");
  std::ofstream(path)
      << "{\"extends\": \"lpu-v1\", \"name\": \"lpu-v1-" << nodes * 8
      << "\", \"system\": {\"chips\": " << nodes * 8
      << ", \"node_chips\": 8, \"topology\": {\"kind\": \"node_ring\", "
         "\"reach\": 2}, \"source\": {\"chips\": \"assumed (benchmark)\", "
         "\"node_chips\": \"assumed (benchmark)\", \"topology\": \"assumed "
         "(benchmark)\"}}}";
  return path.string();
}

void report(benchmark::State &state, const std::string &model,
            const CompileRequest &request) {
  for (auto _ : state) {
    double mebibytes = 0;
    Figures f = measureApart(model, request, mebibytes);
    if (f.error[0]) {
      state.SkipWithError(f.error);
      return;
    }
    auto &c = state.counters;
    c["compile_s"] = f.compileSeconds;
    c["check_s"] = f.checkSeconds;
    c["simulate_s"] = f.simulateSeconds;
    c["peak_MiB"] = mebibytes;
    c["chips"] = f.chips;
    c["simulated_chips"] = f.simulatedChips;
    c["stages"] = f.stages;
    c["programs"] = f.parts;
    c["instructions"] = f.instructions;
    c["compiled_instructions/s"] = f.instructions / f.compileSeconds;
    c["simulated_instructions/s"] = f.simulatedInstructions / f.simulateSeconds;
    c["token_ticks"] = f.ticks;
  }
}

constexpr auto kQ8 = llm::WeightFormat::Q8_0, kQ4 = llm::WeightFormat::Q4_0;

void system576(benchmark::State &state, const char *model,
               llm::WeightFormat format) {
  report(state, model, requestOn("lpu-v1-576", format));
}
/// On that many nodes, wired like lpu-v1-576.
void nodes(benchmark::State &state, const char *model,
           llm::WeightFormat format) {
  std::string machine = nodeRing(state.range(0));
  report(state, model, requestOn(machine, format));
  std::filesystem::remove(machine);
}
void once(benchmark::internal::Benchmark *bench) {
  bench->Iterations(1)->Unit(benchmark::kMillisecond);
}
BENCHMARK_CAPTURE(system576, llama_2_7b_q8_0, "llama-2-7b", kQ8)->Apply(once);
BENCHMARK_CAPTURE(system576, llama_2_13b_q8_0, "llama-2-13b", kQ8)->Apply(once);
BENCHMARK_CAPTURE(system576, llama_2_70b_q4_0, "llama-2-70b", kQ4)->Apply(once);
BENCHMARK_CAPTURE(system576, llama_2_70b_q8_0, "llama-2-70b", kQ8)->Apply(once);
// Without feed-forward networks that are cut in two.
BENCHMARK_CAPTURE(nodes, llama_2_70b_q8_0, "llama-2-70b", kQ8)
    ->ArgName("nodes")
    ->Arg(80)
    ->Apply(once);
BENCHMARK_CAPTURE(nodes, llama_3_1_405b_q4_0, "llama-3.1-405b", kQ4)
    ->ArgName("nodes")
    ->Arg(512)
    ->Apply(once);

void layer70b(benchmark::State &state) {
  Machine machine = *loadMachine("lpu-v1-node");
  machine.sram.vectorsPerBank *= 8;
  auto path = std::filesystem::temp_directory_path() /
              ("orrery-deep-node-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << formatMachine(machine);
  CompileRequest request = requestOn(path.string(), kQ8);
  request.split = {8, 1};
  auto config = models::loadShape("llama-2-70b");
  auto context = makeContext();
  auto layers = [&](int64_t number) {
    request.import.layers = number;
    return compileStep(*context, *config, request);
  };
  for (auto _ : state) {
    auto two = layers(2), three = layers(3);
    if (!two || !three) {
      state.SkipWithError((two ? three : two).error().message.c_str());
      break;
    }
    const schedule::LowerBounds &less = two->parts.front().bounds;
    const schedule::LowerBounds &more = three->parts.front().bounds;
    double ticks =
        double(three->program().predictedTicks - two->program().predictedTicks);
    double operands = double(more.criticalPath - less.criticalPath);
    double busiest = double(more.busiest - less.busiest);
    state.counters["layer_ticks"] = ticks;
    state.counters["critical_path"] = operands;
    state.counters["busiest"] = busiest;
    state.counters["over_bound"] = ticks / std::max(operands, busiest);
  }
  std::filesystem::remove(path);
}
BENCHMARK(layer70b)->Unit(benchmark::kMillisecond);

/// Ticks of a token of Llama-2-70B on that machine, in that split; -1: refused.
/// `split` becomes the one that was chosen.
double tokenTicks(const Machine &machine, SplitOptions &split,
                  std::string &error) {
  auto path = std::filesystem::temp_directory_path() /
              ("orrery-variant-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << formatMachine(machine);
  auto config = models::loadShape("llama-2-70b");
  CompileRequest request = requestOn(path.string(), kQ8);
  request.import.context = request.import.bucket = 640;
  request.split = split;
  auto context = makeContext();
  auto step = compileStep(*context, *config, request);
  std::filesystem::remove(path);
  if (!step) {
    error = step.error().message;
    return -1;
  }
  split = {int64_t(step->system.chips.size() / step->stages.size()),
           int64_t(step->stages.size())};
  return double(step->system.predictedTicks);
}

struct Base {
  Machine machine = *loadMachine("lpu-v1-576");
  SplitOptions split;
  std::string error;
  double ticks = tokenTicks(machine, split, error);
};
const Base &base() {
  static const Base one;
  return one;
}

/// A number and what it becomes: half of it, rounded down, or half as much
/// again, rounded up.
void sensitivity(benchmark::State &state, const NumberField &field, bool more) {
  Machine machine = base().machine;
  double from = field.get(machine), to = more ? 1.5 * from : 0.5 * from;
  to = !field.whole() ? to : more ? std::ceil(to) : std::floor(to);
  field.set(machine, to);
  for (auto _ : state) {
    SplitOptions split = base().split;
    std::string error = base().error;
    double ticks = base().ticks < 0 || !field.allows(to)
                       ? -1
                       : tokenTicks(machine, split, error);
    if (ticks < 0) {
      state.SkipWithError(error.empty() ? "no such machine" : error.c_str());
      return;
    }
    state.counters["from"] = from;
    state.counters["to"] = to;
    state.counters["token_ticks"] = ticks;
    state.counters["token_us"] = machine.microseconds(Tick(ticks));
    state.counters["change_%"] = 100 * (ticks / base().ticks - 1);
  }
}

/// What docs/llama-2-70b.md bounds: several numbers changed at once.
void instead(benchmark::State &state, Tick linkTicks, int32_t installStreams,
             bool latenciesDoubled) {
  Machine machine = base().machine;
  machine.link.latency = linkTicks;
  machine.matrix.installStreams = installStreams;
  for (const NumberField &field : numberFields()) {
    bool assumed = field.object == "timing" && field.key != "host_vector_ticks";
    if (latenciesDoubled && assumed) {
      field.set(machine, 2 * field.get(machine));
    }
  }
  for (auto _ : state) {
    SplitOptions split = base().split;
    std::string error;
    double ticks = tokenTicks(machine, split, error);
    if (ticks < 0) {
      state.SkipWithError(error.c_str());
      return;
    }
    state.counters["token_ticks"] = ticks;
    state.counters["tokens/s"] = machine.clockMhz * 1e6 / ticks;
  }
}
BENCHMARK_CAPTURE(instead, as_described, 217, 16, false)->Apply(once);
BENCHMARK_CAPTURE(instead, deskew_epoch, 217 + 256, 16, false)->Apply(once);
BENCHMARK_CAPTURE(instead, hop_of_722_ns, 650, 16, false)->Apply(once);
BENCHMARK_CAPTURE(instead, half_install_rate, 217, 8, false)->Apply(once);
BENCHMARK_CAPTURE(instead, latencies_doubled, 217, 16, true)->Apply(once);
BENCHMARK_CAPTURE(instead, all, 650 + 256, 8, true)->Apply(once);

/// Numbers on which no tick depends, and the shape of the chip, which is
/// published.
bool isTime(const NumberField &field) {
  return field.object == "timing" || field.object == "c2c" ||
         field.object == "icu" || field.key == "activation_vectors" ||
         field.key == "f16_ticks_per_row";
}

[[maybe_unused]] const bool kRegistered = [] {
  for (const NumberField &field : numberFields()) {
    for (bool more : {false, true}) {
      if (isTime(field)) {
        benchmark::RegisterBenchmark(
            ("sensitivity/" + field.path() + (more ? "/more" : "/less"))
                .c_str(),
            [&field, more](benchmark::State &state) {
              sensitivity(state, field, more);
            })
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
      }
    }
  }
  return true;
}();

} // namespace
} // namespace orrery::bench
