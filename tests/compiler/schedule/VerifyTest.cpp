// The verifier accepts what the algorithm makes and names what is then broken.
#include "compiler/schedule/Verify.h"
#include "compiler/pipeline/Pipeline.h"
#include "compiler/schedule/ListSchedule.h"
#include "compiler/schedule/ReadFlow.h"
#include "tests/compiler/schedule/HandMade.h"
#include "tests/compiler/schedule/RandomStep.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "gtest/gtest.h"

namespace orrery::schedule {
namespace {

/// A compiled step up to its schedule.
class Scheduled : public ::testing::TestWithParam<uint64_t> {
protected:
  void SetUp() override {
    auto [config, request] = testing::randomStep(GetParam());
    module = compiler::importModel(*context, config, request.import);
    ASSERT_TRUE(module);
    mlir::PassManager passes(context.get());
    buildPartition(passes, request.machine, {});
    buildPlacement(passes);
    ASSERT_TRUE(succeeded(passes.run(*module)));
    auto read = readFlow(*module->getOps<flow::ProgramOp>().begin(), machine);
    ASSERT_TRUE(succeeded(read));
    flow.emplace(std::move(*read));
    auto solution = listSchedule(flow->problem);
    ASSERT_TRUE(solution) << solution.error().message;
    schedule = *solution;
  }
  bool readsTemporaries(uint32_t gang) const {
    const auto &members = flow->problem.gangs[gang].members;
    return std::any_of(members.begin(), members.end(), [](const Member &m) {
      return m.memory == Memory::Temporary &&
             std::holds_alternative<ReadOp>(m.operation);
    });
  }
  uint32_t gangs() const { return uint32_t(flow->problem.gangs.size()); }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  const Machine machine = *loadMachine("lpu-small");
  std::optional<FlowProblem> flow;
  Schedule schedule;
};

TEST_P(Scheduled, IsAccepted) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Status ok = verify(flow->problem, schedule);
  EXPECT_TRUE(ok) << ok.error().message;
}

// An op that starts with the step comes before its operands.
TEST_P(Scheduled, AnOpMovedToTheStartIsNamed) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  for (uint32_t gang = 0; gang < gangs(); ++gang) {
    if (readsTemporaries(gang)) {
      Tick first = 0;
      for (const Member &member : flow->problem.gangs[gang].members) {
        first = std::min(first, member.offset);
      }
      Schedule broken = schedule;
      broken.start[gang] = 64 - first; // its slices' skew stays above zero
      EXPECT_FALSE(verify(flow->problem, broken)) << "gang " << gang;
    }
  }
}

// An op that starts after the end comes after its users.
TEST_P(Scheduled, AnOpMovedToTheEndIsNamed) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  Tick end = *std::max_element(schedule.start.begin(), schedule.start.end());
  for (uint32_t gang = 0; gang + 1 < gangs(); ++gang) {
    const Gang &g = flow->problem.gangs[gang];
    bool writes =
        std::any_of(g.members.begin(), g.members.end(), [](const Member &m) {
          return m.memory == Memory::Temporary &&
                 std::holds_alternative<WriteOp>(m.operation);
        });
    if (writes || g.loads != kNoLoad) {
      EXPECT_FALSE(
          verify(flow->problem,
                 moved(schedule, gang, end + 100000 - schedule.start[gang])))
          << "gang " << gang;
    }
  }
}

TEST_P(Scheduled, AnOpOnAnothersTickIsNamed) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  for (uint32_t gang = 1; gang < gangs(); ++gang) {
    Schedule broken = schedule;
    broken.start[gang] = schedule.start[gang - 1];
    const Gang &a = flow->problem.gangs[gang - 1];
    const Gang &b = flow->problem.gangs[gang];
    bool both = std::holds_alternative<VectorOp>(a.members.back().operation) &&
                std::holds_alternative<VectorOp>(b.members.back().operation);
    if (both && broken.start[gang] != schedule.start[gang]) {
      EXPECT_FALSE(verify(flow->problem, broken)) << "gang " << gang;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, Scheduled, ::testing::Range<uint64_t>(0, 8));

TEST(Verify, AMovedStreamIsNamed) {
  HandMade hand;
  hand.copy(HandMade::table(28, 0, 0), hand.temporary(16, 0, 0), 3);
  hand.problem.gangs.push_back({});
  // A second group of the same direction over the same positions.
  GangBuilder b(hand.machine, 0);
  b.read(HandMade::table(32, 0, 0), {.base = 0}, {1, 1, 1, 0}, Direction::West,
         hand.geometry.ofVxm(), hand.geometry.ofVxm());
  hand.problem.gangs.back() = std::move(b.gang);
  auto s = listSchedule(hand.problem);
  ASSERT_TRUE(s);
  ASSERT_TRUE(verify(hand.problem, *s));
  s->start[0] = s->start[1] = 20;
  s->streams[1][0] = uint8_t(s->streams[0][0] - 4);
  ASSERT_TRUE(verify(hand.problem, *s));
  s->streams[1][0] = uint8_t(s->streams[0][0] - 3); // the last meets the first
  Status broken = verify(hand.problem, *s);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message.rfind("stream west ", 0), 0u)
      << broken.error().message;
}

/// Two loads of two rows and a matmul that uses the first, on plane 0.
class Planes : public ::testing::Test {
protected:
  Planes() {
    for (uint32_t load : {0u, 1u}) {
      Gang gang;
      gang.loads = load;
      LoadOp op;
      op.shape = {2, 1, 1, 0};
      gang.members.push_back({0, op});
      hand.problem.gangs.push_back(gang);
    }
    Gang gang;
    gang.uses = 0;
    InstallOp install;
    install.high = 64;
    install.shape = {5, 1, 3, 6};
    MatmulOp multiply;
    multiply.high = 64;
    multiply.tiles = 3;
    multiply.rows = 2;
    multiply.period = 6;
    gang.members.push_back({0, install});
    gang.members.push_back({4 + hand.machine.timing.install, multiply});
    hand.problem.gangs.push_back(gang);
    hand.problem.loads = {{0, 2, 1}, {0, 2, 0}};
  }
  std::string errorOf(std::vector<Tick> start,
                      std::vector<uint16_t> entryBase) {
    Status ok = verify(hand.problem, {start, {{}, {}, {}}, entryBase});
    return ok ? "" : ok.error().message;
  }
  HandMade hand;
};

TEST_F(Planes, CorrectIsAccepted) {
  EXPECT_EQ(errorOf({10, 12, 10}, {0, 2}), "");
}
TEST_F(Planes, ALoadMovedOntoAnotherIsNamed) {
  EXPECT_EQ(errorOf({10, 12, 10}, {0, 0}),
            "row replaced: matmul of gang 2 at tick 16 is too early for gang "
            "1 at tick 12");
}
// Rows 0 and 1 enter at 16 and 17, `load` ticks after they came at the latest.
TEST_F(Planes, ALateLoadIsNamed) {
  EXPECT_EQ(errorOf({14, 4, 10}, {0, 2}), "");
  EXPECT_EQ(errorOf({15, 4, 10}, {0, 2}),
            "matmul row of gang 2 at tick 16 is too early for gang 0 at tick "
            "15");
}
// A third tile would come while the first is still multiplied: with two rows a
// period of 3 is enough for two buffers, for eight rows it is not.
TEST_F(Planes, AThirdTileInTwoBuffersIsNamed) {
  hand.problem.gangs[2].members.erase(hand.problem.gangs[2].members.begin());
  EXPECT_EQ(errorOf({10, 12, 10}, {0, 2}), "");
  InstallOp install;
  install.high = 64;
  install.shape = {1, 1, 3, 2};
  auto &multiply =
      std::get<MatmulOp>(hand.problem.gangs[2].members[0].operation);
  hand.problem.gangs[2].members.insert(hand.problem.gangs[2].members.begin(),
                                       {0, install});
  multiply.period = 2;
  EXPECT_EQ(errorOf({10, 12, 14}, {0, 2}),
            "tile of gang 2 at tick 18 is too early for gang 2 at tick 22");
}

TEST(Verify, BeforeTickZeroIsNamed) {
  HandMade hand;
  hand.copy(HandMade::table(28, 0, 0), hand.temporary(16, 0, 0), 3);
  auto s = listSchedule(hand.problem);
  ASSERT_TRUE(s);
  Status broken = verify(hand.problem, moved(*s, 0, -1000));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "gang 0 begins before tick 0");
}

TEST(Verify, LivesThatCrossInOnePlaceAreNamed) {
  HandMade hand;
  Home old = hand.temporary(16, 0, 0), next = hand.temporary(16, 1, 0);
  hand.copy(HandMade::table(28, 0, 0), old, 5);
  hand.copy(old, hand.temporary(32, 1, 0), 5);
  hand.copy(HandMade::table(36, 0, 0), next, 5);
  auto s = listSchedule(hand.problem);
  ASSERT_TRUE(s);
  ASSERT_TRUE(verify(hand.problem, *s));
  hand.share(old, next);
  Status broken = verify(hand.problem, *s);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message.rfind("regions 0 and 1 share addresses", 0),
            0u)
      << broken.error().message;
}

} // namespace
} // namespace orrery::schedule
