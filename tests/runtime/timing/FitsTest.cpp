// N fits and runs, N + 1 does not, and the numbers of the refusal are those of
// the layout.
#include "runtime/timing/Fits.h"

#include "compiler/partition/StageBytes.h"
#include "models/Zoo.h"
#include "runtime/SramUse.h"
#include "runtime/StageChips.h"
#include "simulator/SystemSimulator.h"
#include "simulator/check/SystemCheck.h"

#include <gtest/gtest.h>

#include <regex>

namespace orrery::runtime {
namespace {

FitQuestion questionOf(const char *shape, const char *machine,
                       SplitOptions split = {}) {
  FitQuestion question{*models::loadShape(shape), {}, {}};
  question.request.machine = machine;
  question.request.split = split;
  return question;
}

void expectRuns(const Fit &fit, const FitQuestion &question) {
  Machine machine = *loadMachine(question.request.machine);
  check::SystemReport report = check::checkSystem(fit.step.system, machine);
  EXPECT_TRUE(report.ok()) << report.violations.front().message;
  sim::SystemSimulator simulator(machine);
  sim::SystemInput last;
  last.position = uint32_t(fit.most.positions) - 1;
  auto result = simulator.run(fit.step.system, last);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->ticks, fit.step.system.predictedTicks);
}

/// KV bytes on one chip that holds all layers.
Bytes cacheBytes(const FitQuestion &question, int64_t positions) {
  Machine machine = *loadMachine(question.request.machine);
  auto shape = partition::uniformShape(question.config, WeightFormat::Q8, false,
                                       positions);
  Bytes sum = 0;
  partition::ByteModel bytes(machine, shape, 1);
  for (const auto &layer : shape.layers) {
    sum += bytes.layer(layer).kv;
  }
  return sum;
}

Bytes kvOf(const Fit &fit, const Machine &machine) {
  const SystemProgram *set[] = {&fit.step.system};
  return systemSram(machine, set).chip().bytes[size_t(RegionKind::Kv)];
}

/// The number after `words` in a message.
int64_t numberAfter(const std::string &message, const std::string &words) {
  std::smatch match;
  bool found =
      std::regex_search(message, match, std::regex(words + " ([0-9]+)"));
  EXPECT_TRUE(found) << message;
  return found ? std::stoll(match[1].str()) : -1;
}

TEST(Fits, TheLargestContextRunsAndTheNextTileIsRefused) {
  auto context = makeContext();
  FitQuestion question = questionOf("tinystories-656k", "lpu-small");
  Machine machine = *loadMachine("lpu-small");
  auto fit = largestContextFit(*context, question);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_GT(fit->most.positions, question.config.contextLength);
  EXPECT_EQ(fit->most.positions % machine.lanes, 0);
  EXPECT_EQ(fit->next.positions, fit->most.positions + machine.lanes);
  expectRuns(*fit, question);
  EXPECT_EQ(kvOf(*fit, machine), cacheBytes(question, fit->most.positions));
  EXPECT_FALSE(compileTry(*context, question, fit->next));
  // Weights, tables, KV: what is refused is what is laid out, a tile larger.
  EXPECT_EQ(numberAfter(fit->refusal, "at a context of"), fit->next.positions);
  const SystemProgram *set[] = {&fit->step.system};
  SramUse use = systemSram(machine, set).chip();
  EXPECT_EQ(numberAfter(fit->refusal, "tables and KV cache"),
            cacheBytes(question, fit->next.positions) +
                use.bytes[size_t(RegionKind::Table)]);
  EXPECT_EQ(numberAfter(fit->refusal, "weights need"),
            use.bytes[size_t(RegionKind::Weight)]);
}

TEST(Fits, TheMostUsersRunAndOneMoreIsRefused) {
  auto context = makeContext();
  FitQuestion question =
      questionOf("tinystories-656k", "lpu-small-node", SplitOptions{2, 2});
  Machine machine = *loadMachine("lpu-small-node");
  auto fit = mostUsersFit(*context, question, 500);
  ASSERT_TRUE(fit) << fit.error().message;
  EXPECT_GT(fit->most.users, 1);
  EXPECT_EQ(fit->next.users, fit->most.users + 1);
  expectRuns(*fit, question);
  EXPECT_FALSE(compileTry(*context, question, fit->next));
  // As many caches as users, each of whole tiles.
  auto one = compileTry(*context, question, {500, 1});
  ASSERT_TRUE(one) << one.error().message;
  const SystemProgram *alone[] = {&one->system};
  const SystemProgram *all[] = {&fit->step.system};
  EXPECT_EQ(systemSram(machine, all).total.bytes[size_t(RegionKind::Kv)],
            fit->most.users *
                systemSram(machine, alone).total.bytes[size_t(RegionKind::Kv)]);
  EXPECT_EQ(one->system.predictedTicks > 0, true);
  EXPECT_EQ(stageChips(fit->step.system).size(), 2u);
}

TEST(Fits, AdviceIsTrue) {
  auto context = makeContext();
  FitQuestion question = questionOf("stories15m", "lpu-v1");
  question.request.import.kvFormat = llm::KvFormat::F16;
  auto fit = mostUsersFit(*context, question, 256);
  ASSERT_TRUE(fit) << fit.error().message;
  ASSERT_FALSE(fit->refusal.empty());
  FitAdvice advice = fitAdvice(*context, question, fit->next);
  ASSERT_FALSE(advice.preset.empty());
  FitQuestion elsewhere = question;
  elsewhere.request.machine = advice.preset;
  EXPECT_TRUE(compileTry(*context, elsewhere, fit->next));
  EXPECT_EQ(advice.change, "--kv q8");
  FitQuestion changed = question;
  changed.request.import.kvFormat = llm::KvFormat::Q8;
  EXPECT_TRUE(compileTry(*context, changed, fit->next));
}

TEST(Fits, ANarrowSplitIsToldOfAnother) {
  auto context = makeContext();
  FitQuestion question =
      questionOf("tinystories-656k", "lpu-small-node", SplitOptions{1, 1});
  auto fit = mostUsersFit(*context, question, 512);
  ASSERT_TRUE(fit) << fit.error().message;
  FitAdvice advice = fitAdvice(*context, question, fit->next);
  EXPECT_TRUE(advice.change.starts_with("--partition tp=")) << advice.change;
}

TEST(Fits, NothingFits) {
  auto context = makeContext();
  FitQuestion question = questionOf("llama-2-7b", "lpu-v1");
  auto fit = largestContextFit(*context, question);
  ASSERT_FALSE(fit);
  Error told = withAdvice(fit.error(), *context, question, {320, 1});
  EXPECT_NE(told.message.find("does not fit lpu-v1"), std::string::npos);
  EXPECT_NE(told.message.find("; the smallest preset that would do is lpu-"),
            std::string::npos)
      << told.message;
}

} // namespace
} // namespace orrery::runtime
