// N fits and runs, N + 1 does not, and the numbers of the refusal are those of
// the layout.
#include "runtime/timing/FitAdvice.h"

#include "compiler/partition/StageBytes.h"
#include "models/Zoo.h"
#include "runtime/SramUse.h"
#include "runtime/StageChips.h"
#include "runtime/timing/Refusal.h"
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

/// Of "tp=2,pp=3".
SplitOptions splitIn(const std::string &text) {
  std::smatch match;
  EXPECT_TRUE(std::regex_search(text, match, std::regex("tp=(.*),pp=(.*)")))
      << text;
  return {std::stoll(match[1]), std::stoll(match[2])};
}

/// Whether the change of a question, as printed, makes a try fit. None does.
bool fitsWith(mlir::MLIRContext &context, FitQuestion question, FitTry what,
              const std::string &change) {
  std::string value = change.substr(change.find(' ') + 1);
  if (change.starts_with("--kv")) {
    question.request.import.kvFormat = *llm::symbolizeKvFormat(value);
  } else if (change.starts_with("--partition")) {
    question.request.split = splitIn(value);
  } else if (change.starts_with("--ctx")) {
    what.positions = std::stoll(value);
  } else if (change.starts_with("--weights")) {
    question.request.import.weightFormat = *llm::symbolizeWeightFormat(value);
  }
  return change.empty() || compileTry(context, question, what);
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
  // The refusal is of one cache more, on a chip that has as much else.
  auto chips = systemSram(machine, all).parts;
  Bytes refused = numberAfter(fit->refusal, "tables and KV cache");
  EXPECT_TRUE(std::ranges::any_of(chips, [&](const SramUse &use) {
    Bytes kv = use.bytes[size_t(RegionKind::Kv)];
    return refused == kv / fit->most.users * fit->next.users +
                          use.bytes[size_t(RegionKind::Table)];
  })) << fit->refusal;
  EXPECT_EQ(stageChips(fit->step.system).size(), 2u);
}

// A step attends to one user's positions; all others only take room.
TEST(Fits, UsersAreNotAttendedOverTogether) {
  auto context = makeContext();
  FitQuestion question =
      questionOf("tinystories-656k", "lpu-small-node", SplitOptions{2, 2});
  auto fit = mostUsersFit(*context, question, 512);
  ASSERT_TRUE(fit) << fit.error().message;
  auto longest = largestContextFit(*context, question);
  ASSERT_TRUE(longest) << longest.error().message;
  // A plane's activation buffer ends a context, but no number of users.
  EXPECT_NE(longest->refusal.find("attention over"), std::string::npos)
      << longest->refusal;
  EXPECT_EQ(fit->refusal.find("attention over"), std::string::npos)
      << fit->refusal;
  EXPECT_GT(fit->most.users * 512, longest->most.positions);
  expectRuns(*fit, question);
}

TEST(Fits, WhatIsNoRefusalIsAnError) {
  auto context = makeContext();
  FitQuestion question = questionOf("stories260k", "lpu-small");
  question.request.import.layers = 6; // of 5
  auto fit = mostUsersFit(*context, question, 512);
  ASSERT_FALSE(fit);
  EXPECT_FALSE(limitOf(fit.error())) << fit.error().message;
  EXPECT_TRUE(
      fit.error().message.starts_with("compiling for 1 x 512 positions: "))
      << fit.error().message;
  // A preset of which nothing is known is passed over, and said to be.
  question.request.import.weightFormat = llm::WeightFormat::Q4_0;
  auto advice = fitAdvice(*context, question, {512, 1});
  ASSERT_TRUE(advice) << advice.error().message;
  EXPECT_EQ(advice->preset, "");
  ASSERT_EQ(advice->skipped.size(), presetNames().size());
  EXPECT_TRUE(advice->skipped.front().starts_with("lpu-small: compiling for"))
      << advice->skipped.front();
  EXPECT_TRUE(skippedText(*advice).starts_with("; not known of lpu-small: "));
  // Nor is it given advice.
  Error told = withAdvice(fit.error(), *context, question, {512, 1});
  EXPECT_EQ(told.message, fit.error().message);
}

struct Bound {
  const char *shape, *machine;
  SplitOptions split;
  int64_t positions; ///< of a user; 0: the largest context
  Limit limit;
};

// The refusal itself says of what how much is needed, and how much there is.
TEST(Fits, ARefusalNamesWhatBinds) {
  auto context = makeContext();
  for (const Bound &bound : {
           Bound{"tinystories-656k",
                 "lpu-small-node",
                 {2, 2},
                 0,
                 Limit::PlaneBuffer},
           Bound{
               "tinystories-656k", "lpu-small-node", {2, 2}, 512, Limit::Place},
           Bound{"stories15m", "lpu-v1-node", {1, 6}, 256, Limit::TileBank},
           Bound{"stories260k", "lpu-small", {}, 0, Limit::Place},
       }) {
    FitQuestion question = questionOf(bound.shape, bound.machine, bound.split);
    auto fit = bound.positions
                   ? mostUsersFit(*context, question, bound.positions)
                   : largestContextFit(*context, question);
    ASSERT_TRUE(fit) << fit.error().message;
    auto limit = limitOf({fit->refusal});
    ASSERT_TRUE(limit) << fit->refusal;
    EXPECT_STREQ(limitName(*limit), limitName(bound.limit)) << fit->refusal;
    int64_t need = 0, have = 0;
    if (bound.limit == Limit::PlaneBuffer) {
      need = numberAfter(fit->refusal, "positions needs");
      have = numberAfter(fit->refusal, "a plane has");
    } else if (bound.limit == Limit::Place) {
      have = numberAfter(fit->refusal, "lacks least has");
      need = numberAfter(fit->refusal,
                         "lacks least has " + std::to_string(have) + " of");
    } else {
      need = numberAfter(fit->refusal, "for tiles .*:");
      have = numberAfter(fit->refusal, std::to_string(need) + " B of");
    }
    EXPECT_GT(need, have) << fit->refusal;
  }
}

// Each suggestion, as it is printed, is compiled.
TEST(Fits, EachSuggestionFits) {
  auto context = makeContext();
  struct Asked {
    const char *shape, *machine;
    SplitOptions split;
    llm::KvFormat kv;
    int64_t positions;
  };
  for (const Asked &asked : {
           Asked{"stories15m", "lpu-v1", {}, llm::KvFormat::F16, 256},
           Asked{"tinystories-656k",
                 "lpu-small-node",
                 {1, 1},
                 llm::KvFormat::Q8,
                 512},
           Asked{"tinystories-656k",
                 "lpu-small-node",
                 {4, 2},
                 llm::KvFormat::Q8,
                 512},
           Asked{"stories260k", "lpu-small", {}, llm::KvFormat::Q8, 512},
       }) {
    FitQuestion question = questionOf(asked.shape, asked.machine, asked.split);
    question.request.import.kvFormat = asked.kv;
    auto fit = mostUsersFit(*context, question, asked.positions);
    ASSERT_TRUE(fit) << fit.error().message;
    auto advice = fitAdvice(*context, question, fit->next);
    ASSERT_TRUE(advice) << advice.error().message;
    ASSERT_FALSE(advice->preset.empty() && advice->change.empty());
    if (!advice->preset.empty()) {
      FitQuestion other = question;
      other.request.machine = advice->preset;
      if (!advice->presetSplit.empty()) {
        other.request.split = splitIn(advice->presetSplit);
      }
      EXPECT_TRUE(compileTry(*context, other, fit->next)) << advice->preset;
    }
    EXPECT_TRUE(fitsWith(*context, question, fit->next, advice->change))
        << advice->change;
  }
}

TEST(Fits, WideCachesAreToldOfNarrowOnes) {
  auto context = makeContext();
  FitQuestion question = questionOf("stories15m", "lpu-v1");
  question.request.import.kvFormat = llm::KvFormat::F16;
  auto fit = mostUsersFit(*context, question, 256);
  ASSERT_TRUE(fit) << fit.error().message;
  ASSERT_FALSE(fit->refusal.empty());
  auto advice = fitAdvice(*context, question, fit->next);
  ASSERT_TRUE(advice) << advice.error().message;
  EXPECT_EQ(advice->change, "--kv q8");
}

TEST(Fits, ANarrowSplitIsToldOfAnother) {
  auto context = makeContext();
  FitQuestion question =
      questionOf("tinystories-656k", "lpu-small-node", SplitOptions{1, 1});
  auto fit = mostUsersFit(*context, question, 512);
  ASSERT_TRUE(fit) << fit.error().message;
  auto advice = fitAdvice(*context, question, fit->next);
  ASSERT_TRUE(advice) << advice.error().message;
  // None does it on one chip; the smallest that does has four in a ring.
  EXPECT_EQ(presetText(*advice) + "; " + advice->change,
            "lpu-small-ring with --partition tp=1,pp=2; --partition tp=1,pp=2");
}

TEST(Fits, ARefusalOfUsersIsToldOfTheirContext) {
  auto context = makeContext();
  FitQuestion question = questionOf("stories260k", "lpu-small");
  auto refused = compileTry(*context, question, {512, 7});
  ASSERT_FALSE(refused);
  Error told = withAdvice(refused.error(), *context, question, {512, 7});
  EXPECT_EQ(told.message.find("; a context of"), std::string::npos)
      << told.message;
  EXPECT_NE(told.message.find("; --ctx 448 would fit"), std::string::npos)
      << told.message;
  EXPECT_TRUE(compileTry(*context, question, {448, 7}));
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
