// No schedule ends before its lower bounds, on random steps; seeds are printed.
#include "machine/Validate.h"
#include "tests/compiler/schedule/RandomStep.h"

#include "gtest/gtest.h"

namespace orrery {
namespace {

class RandomSteps : public ::testing::TestWithParam<uint64_t> {};

void expectAboveBounds(const models::ModelConfig &config,
                       const CompileRequest &request) {
  auto context = makeContext();
  auto compiled = compileStep(*context, config, request);
  ASSERT_TRUE(compiled) << compiled.error().message;
  for (size_t part = 0; part < compiled->parts.size(); ++part) {
    const Program &program = compiled->system.parts[part];
    const schedule::LowerBounds &bounds = compiled->parts[part].bounds;
    EXPECT_GT(bounds.criticalPath, 0);
    EXPECT_GT(bounds.busiest, 0);
    EXPECT_LE(bounds.criticalPath, program.predictedTicks);
    EXPECT_LE(bounds.busiest, program.predictedTicks) << bounds.busiestResource;
    Status valid = validateProgram(program, *loadMachine(request.machine));
    EXPECT_TRUE(valid) << valid.error().message;
  }
}

TEST_P(RandomSteps, EndAfterTheirLowerBounds) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  auto [config, request] = testing::randomStep(GetParam());
  request.machine = "lpu-small-node";
  request.split = {int64_t(GetParam() % 4 + 1), 1};
  expectAboveBounds(config, request);
}

// What a stage passes on still crosses when its program has ended. The second
// of three is a relay.
TEST_P(RandomSteps, StagesEndAfterTheirLowerBounds) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  auto [config, request] = testing::randomStep(GetParam());
  request.machine = ORRERY_SOURCE_DIR "/tests/machine/far-pairs.json";
  request.split = {2, 2};
  expectAboveBounds(config, request);
}

TEST_P(RandomSteps, CompileToTheSameProgramTwice) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  auto [config, request] = testing::randomStep(GetParam());
  auto a = makeContext(), b = makeContext();
  auto first = compileStep(*a, config, request);
  auto second = compileStep(*b, config, request);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->system == second->system);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSteps, ::testing::Range<uint64_t>(0, 40));

} // namespace
} // namespace orrery
