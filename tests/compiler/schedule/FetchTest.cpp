// Fetches come in time, into room, through free ports; the verifier is tested
// by breaking them. Seeds are printed on failure.
#include "compiler/schedule/BusyTimes.h"
#include "compiler/schedule/ScheduleFetch.h"
#include "compiler/schedule/VerifyFetch.h"
#include "machine/Timing.h"
#include "tests/machine/RandomProgram.h"

#include "gtest/gtest.h"

#include <chrono>
#include <functional>

namespace orrery::schedule {
namespace {

bool isFetch(const Instruction &i) {
  return std::holds_alternative<FetchOp>(i.operation);
}
std::vector<Instruction> fetchesOf(const Program &program) {
  std::vector<Instruction> all;
  std::copy_if(program.instructions.begin(), program.instructions.end(),
               std::back_inserter(all), isFetch);
  return all;
}

/// `count` reads of slice 0, `apart` ticks from one to the next; on a chip
/// whose queues hold one chunk of eight instructions.
class FetchSchedule : public ::testing::Test {
protected:
  FetchSchedule() { machine.queueBytes = 128; }

  void reads(int count, Tick apart) {
    for (int k = 0; k < count; ++k) {
      program.instructions.push_back({100 + apart * k, 0, ReadOp()});
    }
    program.predictedTicks = 100 + apart * count + 1;
    program.locations = {"layer 0 attn_q"};
  }
  /// A read that keeps the ports of slices [first, last] from tick 0 on.
  void keep(int first, int last, uint32_t ticks) {
    ReadOp read;
    read.slice = uint16_t(first);
    read.width = uint8_t(last - first + 1);
    read.shape.length = ticks;
    program.instructions.insert(program.instructions.begin(), {0, 0, read});
  }
  std::string schedule() {
    auto taken = scheduleFetch(program, machine, 0);
    if (!taken) {
      return taken.error().message;
    }
    Status ok = verifyFetch(program, machine);
    return ok ? "" : ok.error().message;
  }

  Machine machine = *loadMachine("lpu-small");
  Program program{};
};

TEST_F(FetchSchedule, AsSoonAsThereIsRoom) {
  reads(20, 10);
  std::vector<Instruction> before = program.instructions;
  ASSERT_EQ(schedule(), "");
  auto fetches = fetchesOf(program);
  ASSERT_EQ(fetches.size(), 2u);   // 20 of 16 bytes are three chunks
  EXPECT_EQ(fetches[0].tick, 171); // the eighth read came at 170
  EXPECT_EQ(fetches[1].tick, 251);
  std::erase_if(program.instructions, isFetch);
  EXPECT_EQ(program.instructions, before);
}

TEST_F(FetchSchedule, NothingWhenTheQueueHoldsAll) {
  reads(8, 1);
  ASSERT_EQ(schedule(), "");
  EXPECT_TRUE(fetchesOf(program).empty());
}

// 1 vector more and 6 ticks from the fetch at 170 + 1 to the ninth read.
TEST_F(FetchSchedule, InTimeOrNotAtAll) {
  reads(20, 8);
  EXPECT_EQ(schedule(), "");
  program = {};
  reads(20, 7);
  EXPECT_EQ(schedule(),
            "read slice 0 would run dry at tick 156 (layer 0 attn_q): its "
            "buffer of 128 B has room for the next 128 B from tick 150 on; "
            "they must be fetched by tick 149");
  program = {};
  reads(20, 7);
  machine.queueBytes += 16;
  EXPECT_EQ(schedule(), "");
}

TEST_F(FetchSchedule, ThroughAPortThatIsFree) {
  reads(12, 10);
  keep(0, 55, 400);
  std::string error = schedule();
  EXPECT_NE(error.find("read slice 0 would run dry"), std::string::npos);
  EXPECT_NE(error.find("up to which the icu or all read ports are taken"),
            std::string::npos)
      << error;
  program = {};
  reads(12, 10);
  keep(0, 6, 400);
  keep(8, 55, 400);
  ASSERT_EQ(schedule(), "");
  ASSERT_EQ(fetchesOf(program).size(), 1u);
  EXPECT_EQ(std::get<FetchOp>(fetchesOf(program)[0].operation).slice, 7);
}

TEST_F(FetchSchedule, ATextThatOnlyFetchesItself) {
  machine.instructionBytes = 64;
  machine.fetchVectors = 1; // a chunk is one instruction
  machine.queueBytes = 64;
  reads(4, 100);
  EXPECT_NE(schedule().find("icu would run dry"), std::string::npos);
}

//===-- Random programs ---------------------------------------------------===//

Machine randomMachine(std::mt19937_64 &random) {
  auto one = [&](std::initializer_list<int32_t> of) {
    return *(of.begin() + random() % of.size());
  };
  Machine m = *loadMachine("lpu-small");
  m.instructionBytes = one({8, 11, 16, 32});
  m.fetchVectors = one({1, 2, 2, 3});
  m.queueBytes = int32_t(m.fetchBytes()) * one({1, 2, 3}) +
                 m.instructionBytes * one({0, 1, 2, 5});
  m.timing.fetch = one({1, 6, 30});
  return m;
}

/// Instructions that meet each other in every way; as a schedule they make no
/// sense, and fetches need not care.
Program randomProgram(uint64_t seed, const Machine &machine, int count) {
  Program p = testing::RandomProgram(seed, machine).make(count);
  std::erase_if(p.instructions, isFetch);
  p.predictedTicks = p.instructions.back().tick;
  return p;
}

TEST(RandomFetches, VerifyOrAreRefused) {
  int done = 0, fetches = 0, own = 0, dry = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    Machine machine = randomMachine(random);
    Program p = randomProgram(seed, machine, 60);
    std::vector<Instruction> before = p.instructions;
    auto taken = scheduleFetch(p, machine, int64_t(seed % 3) * 30);
    if (!taken) {
      EXPECT_NE(taken.error().message.find("would run dry at tick"),
                std::string::npos)
          << taken.error().message;
      ++dry;
      continue;
    }
    ++done;
    Status ok = verifyFetch(p, machine);
    ASSERT_TRUE(ok) << ok.error().message;
    int64_t vectors = 0;
    for (const SramRegion &r : p.regions) {
      vectors += r.kind == RegionKind::Instructions ? r.length : 0;
    }
    EXPECT_EQ(vectors, *taken);
    EXPECT_LE(programBytes(p, machine), vectors * machine.lanes);
    for (const Instruction &i : fetchesOf(p)) {
      ++fetches;
      own += std::get<FetchOp>(i.operation).target.kind == QueueId::Kind::Fetch;
    }
    std::erase_if(p.instructions, isFetch);
    EXPECT_EQ(p.instructions, before);
  }
  std::printf("%d programs, %d fetches (%d of the icu's text), %d would run "
              "dry\n",
              done, fetches, own, dry);
  EXPECT_GT(done, 50);
  EXPECT_GT(own, 50);
}

using Edit = std::function<void(Program &, size_t)>;

/// What the verifier says after an edit of each fetch in turn.
void expectRefused(const Edit &edit, const std::vector<const char *> &reasons) {
  int refused = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 random(seed);
    Machine machine = randomMachine(random);
    Program p = randomProgram(seed, machine, 30);
    if (!scheduleFetch(p, machine, 0)) {
      continue;
    }
    for (size_t i = 0; i < p.instructions.size(); i += 7) {
      if (!isFetch(p.instructions[i])) {
        continue;
      }
      Program broken = p;
      edit(broken, i);
      Status ok = verifyFetch(broken, machine);
      ASSERT_FALSE(ok) << "seed " << seed << ", instruction " << i;
      bool known =
          std::any_of(reasons.begin(), reasons.end(), [&](const char *reason) {
            return ok.error().message.find(reason) != std::string::npos;
          });
      EXPECT_TRUE(known) << ok.error().message;
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST(VerifyFetch, ADroppedFetch) {
  expectRefused(
      [](Program &p, size_t i) {
        p.instructions.erase(p.instructions.begin() + std::ptrdiff_t(i));
      },
      {"is not in its buffer", "a fetch from"});
}
TEST(VerifyFetch, AnotherPlace) {
  expectRefused(
      [](Program &p, size_t i) {
        ++std::get<FetchOp>(p.instructions[i].operation).address;
      },
      {"a fetch from"});
}
TEST(VerifyFetch, AnotherQueue) {
  expectRefused(
      [](Program &p, size_t i) {
        auto &op = std::get<FetchOp>(p.instructions[i].operation);
        op.target = {op.target.kind == QueueId::Kind::Vector
                         ? QueueId::Kind::Fetch
                         : QueueId::Kind::Vector,
                     0};
      },
      {"a fetch from", "past the end", "is not in its buffer",
       "without instructions"});
}
TEST(VerifyFetch, ATakenIcu) {
  expectRefused(
      [](Program &p, size_t i) {
        p.instructions.insert(p.instructions.begin() + std::ptrdiff_t(i),
                              p.instructions[i]);
      },
      {"a fetch from", "past the end", "finds its port", "is not in its",
       "in a buffer of"});
}

/// A text that is not small: the cost per instruction stays.
TEST(RandomFetches, CostIsAboutLinear) {
  auto seconds = [](int count) {
    Machine machine = *loadMachine("lpu-v1");
    machine.queueBytes = int32_t(2 * machine.fetchBytes());
    Program p = randomProgram(5, machine, count);
    auto start = std::chrono::steady_clock::now();
    auto taken = scheduleFetch(p, machine, 0);
    std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(taken) << taken.error().message;
    std::printf("%zu instructions, %zu of them fetches: %.1f ms\n",
                p.instructions.size(), fetchesOf(p).size(), 1e3 * took.count());
    return took.count();
  };
  double few = seconds(500), many = seconds(4000);
  EXPECT_LT(many, 16 * few + 0.1);
}

TEST(BusyTimes, AsATableSays) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    BusyTimes times;
    std::vector<bool> busy(600);
    for (uint64_t k = random() % 30; k > 0; --k) {
      auto first = Tick(random() % 500);
      Tick last = first + Tick(random() % 40);
      times.add(first, last);
      std::fill(busy.begin() + first, busy.begin() + last + 1, true);
    }
    times.sort();
    for (Tick tick = 0; tick < 500; tick += Tick(1 + random() % 9)) {
      auto length = Tick(1 + random() % 4);
      Tick expected = tick;
      while (std::any_of(busy.begin() + expected,
                         busy.begin() + expected + length,
                         [](bool taken) { return taken; })) {
        ++expected;
      }
      EXPECT_EQ(times.freeFrom(tick, length), expected)
          << "seed " << seed << ", tick " << tick;
    }
  }
}

} // namespace
} // namespace orrery::schedule
