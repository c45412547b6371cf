// The simulator beside the interpreter that uses the same kernels, in one run:
// a decode step of the SmolLM2-135M shape, random weights, q8_0, one lpu-v1.
// Counters, all of CPU time: tokens/s, simulated cycles/s and MACs/s, and the
// ratio to the interpreter, best step to best step. Timing only:
// instructions/s. Everything is set up before the loops start.
//
// shippedModel: a decode step of models/tiny on systems of lpu-small, as ratio
// to its tokens/s on one of these chips.
#include "dialects/llm/Interpreter.h"
#include "models/RandomWeights.h"
#include "models/Weights.h"
#include "runtime/Session.h"
#include "tests/bench/Shapes.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>

namespace orrery::bench {
namespace {

struct Model {
  models::RandomWeights weights{smolLm2(), 1};
  std::unique_ptr<runtime::Session> session;

  Model() {
    auto opened = runtime::Session::open(weights, {});
    if (!opened) {
      std::fprintf(stderr, "%s\n", opened.error().message.c_str());
      std::abort();
    }
    session = std::move(*opened);
    decode(); // packs the weight tiles once
  }
  runtime::StepRecord decode() {
    session->reset();
    const int32_t id = 1;
    auto records = session->read({&id, 1});
    if (!records) {
      std::fprintf(stderr, "%s\n", records.error().message.c_str());
      std::abort();
    }
    return std::move(records->front());
  }
};
Model &model() {
  static Model one;
  return one;
}

/// CPU seconds of the process; elapsed time would measure other processes too.
double cpuSeconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// CPU seconds of one interpreter step of the same shape, the best of ten.
double interpreterSeconds() {
  static const double best = [] {
    llm::Interpreter interpreter(model().weights);
    auto module = model().session->stepModule(*model().session->programs()[0]);
    auto step = *module.getOps<mlir::func::FuncOp>().begin();
    const int32_t id = 1;
    double seconds = 1e9;
    for (int pass = 0; pass <= 10; ++pass) { // the first packs the weights
      double start = cpuSeconds();
      auto out = interpreter.run(step, {&id, 1}, 0);
      seconds = std::min(seconds, cpuSeconds() - start);
      if (!out) {
        std::fprintf(stderr, "%s\n", out.error().message.c_str());
        std::abort();
      }
    }
    return seconds;
  }();
  return best;
}

void functionalDecode(benchmark::State &state) {
  double interpreted = interpreterSeconds();
  uint64_t macs = 0;
  Tick ticks = 0;
  double best = 1e9, start = cpuSeconds();
  for (auto _ : state) {
    double stepStart = cpuSeconds();
    runtime::StepRecord record = model().decode();
    best = std::min(best, cpuSeconds() - stepStart);
    macs = record.result.simulated.front().result.counters.int8Macs;
    ticks = record.result.ticks;
  }
  double perStep = (cpuSeconds() - start) / double(state.iterations());
  state.counters["tokens/s"] = 1 / perStep;
  state.counters["of_interpreter"] = interpreted / best;
  state.counters["simulated_cycles/s"] = double(ticks) / perStep;
  // The model's at position 0; with padding, what the array is charged.
  int64_t useful = models::decodeMacsPerToken(smolLm2()) +
                   models::attentionMacsPerToken(smolLm2(), 1);
  state.counters["MAC/s"] = double(useful) / perStep;
  state.counters["padded_MAC/s"] = double(macs) / perStep;
}
BENCHMARK(functionalDecode)->Unit(benchmark::kMillisecond);

void timingOnly(benchmark::State &state) {
  const SystemProgram &program = *model().session->programs()[0];
  sim::SystemSimulator simulator(model().session->machine());
  for (auto _ : state) {
    auto result = simulator.run(program, {});
    if (!result) {
      state.SkipWithError(result.error().message.c_str());
      return;
    }
  }
  state.counters["instructions/s"] =
      benchmark::Counter(double(program.parts[0].instructions.size()),
                         benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(timingOnly)->Unit(benchmark::kMillisecond);

const models::WeightFile &shipped() {
  static const auto file = models::WeightFile::open(
      ORRERY_SOURCE_DIR "/models/tiny/orrery-tiny-Q8_0.gguf");
  return *file;
}

std::unique_ptr<runtime::Session> shippedOn(int64_t tp, int64_t pp) {
  runtime::SessionOptions options;
  options.machine = "lpu-small-node";
  options.split = {tp, pp};
  options.tensorFormats = compiler::storedFormats(shipped().gguf());
  auto session = runtime::Session::open(shipped(), options);
  if (!session) {
    std::fprintf(stderr, "%s\n", session.error().message.c_str());
    return nullptr;
  }
  return std::move(*session);
}

/// CPU seconds of a decode step.
double decodeSeconds(runtime::Session &session) {
  session.reset();
  const int32_t id = 1;
  double start = cpuSeconds();
  auto records = session.read({&id, 1});
  return records ? cpuSeconds() - start : 1e9;
}

/// CPU seconds of a decode step on one chip, the best of twenty.
double oneChipSeconds() {
  static const double best = [] {
    auto session = shippedOn(1, 1);
    double seconds = 1e9;
    for (int pass = 0; session && pass <= 20; ++pass) {
      seconds = std::min(seconds, decodeSeconds(*session));
    }
    return seconds;
  }();
  return best;
}

void shippedModel(benchmark::State &state) {
  auto session = shippedOn(state.range(0), state.range(1));
  if (!session) {
    state.SkipWithError("does not compile");
    return;
  }
  decodeSeconds(*session); // packs the weight tiles once
  double best = 1e9;
  for (auto _ : state) {
    best = std::min(best, decodeSeconds(*session));
  }
  state.counters["tokens/s"] = 1 / best;
  state.counters["of_one_chip"] = oneChipSeconds() / best;
}
BENCHMARK(shippedModel)
    ->ArgNames({"tp", "pp"})
    ->Args({1, 1})
    ->Args({2, 1})
    ->Args({4, 1})
    ->Args({8, 1})
    ->Args({4, 2})
    ->Args({2, 4})
    ->Unit(benchmark::kMillisecond);

} // namespace
} // namespace orrery::bench
