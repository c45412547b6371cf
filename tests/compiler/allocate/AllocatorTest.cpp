// Random requests: no two live ones share an address, neighbours never meet on
// a port, everybody lies where its kind may. Seeds are printed on failure.
#include "compiler/allocate/Allocator.h"

#include "gtest/gtest.h"

#include <random>

namespace orrery::allocate {
namespace {

class Requests {
public:
  Requests(uint64_t seed, const Machine &machine, const ChipLayout &layout)
      : random(seed), layout(layout),
        depth(uint32_t(machine.sram.vectorsPerBank)) {}

  std::vector<Request> make() {
    for (uint32_t n = below(20); n > 0; --n) {
      addWeights();
    }
    for (uint32_t n = below(12); n > 0; --n) {
      addLasting();
    }
    for (uint32_t op = 1; op <= 30; ++op) {
      addOp(op);
    }
    return std::move(all);
  }

private:
  uint32_t below(uint32_t n) { return uint32_t(random() % n); }
  Request base(uint32_t width, uint32_t length, int32_t side) {
    Request r{};
    r.name = "r" + std::to_string(all.size());
    r.width = width;
    r.length = length;
    r.side = side;
    r.dies = kForever;
    return r;
  }
  void addWeights() {
    Request r = base(uint32_t(layout.groupWidth), 1 + below(depth / 16),
                     int32_t(below(2)));
    r.weights = true;
    r.spillWidth = uint32_t(layout.kvWidth);
    r.spillLength = 2 * r.length;
    all.push_back(r);
  }
  void addLasting() {
    bool tiles = below(2) == 0;
    all.push_back(base(tiles ? uint32_t(layout.kvWidth) : 2,
                       1 + below(depth / 8), int32_t(below(2))));
  }
  // An op that reads up to two buffers and writes up to two new ones.
  void addOp(uint32_t op) {
    std::vector<std::pair<uint32_t, Use>> uses;
    for (uint32_t n = below(3); n > 0 && !buffers.empty(); --n) {
      uint32_t old = buffers[below(uint32_t(buffers.size()))];
      all[old].dies = op;
      if (uses.empty() || uses[0].first != old) {
        uses.push_back({old, Use::Read});
      }
    }
    for (uint32_t n = 1 + below(2); n > 0; --n) {
      static const uint32_t widths[] = {4, 2, 1};
      Request r = base(widths[below(3)], 1 + below(200), int32_t(below(3)) - 1);
      r.born = r.dies = op;
      uses.push_back({uint32_t(all.size()), Use::Write});
      buffers.push_back(uint32_t(all.size()));
      all.push_back(r);
    }
    for (auto [a, ours] : uses) {
      for (auto [b, theirs] : uses) {
        if (a != b) {
          all[a].neighbours.push_back({b, theirs, ours});
        }
      }
    }
  }

  std::mt19937_64 random;
  const ChipLayout &layout;
  uint32_t depth;
  std::vector<Request> all;
  std::vector<uint32_t> buffers;
};

bool meet(uint32_t a, uint32_t lengthA, uint32_t b, uint32_t lengthB) {
  return a < b + lengthB && b < a + lengthA;
}
uint32_t lengthOf(const Request &r, const Place &p) {
  return p.width == r.width ? r.length : r.spillLength;
}

class RandomRequests : public ::testing::TestWithParam<uint64_t> {
protected:
  void SetUp() override {
    requests = Requests(GetParam(), machine, layout).make();
    ASSERT_EQ(allocator.place(requests), std::nullopt) << "seed " << GetParam();
    ASSERT_EQ(allocator.places.size(), requests.size());
  }
  const Machine machine =
      *loadMachine(GetParam() % 2 == 0 ? "lpu-small" : "lpu-v1");
  const ChipLayout layout{machine};
  Allocator allocator{machine, layout};
  std::vector<Request> requests;
};

TEST_P(RandomRequests, LiveOnesShareNoAddress) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  for (size_t a = 0; a < requests.size(); ++a) {
    for (size_t b = a + 1; b < requests.size(); ++b) {
      const Place &p = allocator.places[a], &q = allocator.places[b];
      const Request &r = requests[a], &s = requests[b];
      bool alive = r.born <= s.dies && s.born <= r.dies;
      bool shared = p.bank == q.bank &&
                    meet(p.slice, p.width, q.slice, q.width) &&
                    meet(p.base, lengthOf(r, p), q.base, lengthOf(s, q));
      EXPECT_FALSE(alive && shared) << r.name << " and " << s.name;
    }
  }
}

TEST_P(RandomRequests, NeighboursNeverMeetOnAPort) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  for (size_t a = 0; a < requests.size(); ++a) {
    const Place &p = allocator.places[a];
    for (const Request::Neighbour &n : requests[a].neighbours) {
      const Place &q = allocator.places[n.request];
      bool slices = meet(p.slice, p.width, q.slice, q.width);
      bool port = n.ours == n.theirs || p.bank == q.bank;
      EXPECT_FALSE(slices && port)
          << requests[a].name << " and " << requests[n.request].name;
    }
  }
}

TEST_P(RandomRequests, EverybodyLiesWhereItsKindMay) {
  SCOPED_TRACE("seed " + std::to_string(GetParam()));
  for (size_t a = 0; a < requests.size(); ++a) {
    const Request &r = requests[a];
    const Place &p = allocator.places[a];
    auto side = layout.sideOfSlice(int32_t(p.slice));
    auto first = uint32_t(layout.dataFirst(side));
    bool data = p.slice >= first &&
                p.slice + p.width <= first + uint32_t(layout.dataSlices);
    bool spilled = r.weights && p.width == r.spillWidth;
    EXPECT_EQ(data, !r.weights || spilled) << r.name;
    EXPECT_TRUE(p.width == r.width || spilled) << r.name;
    EXPECT_LE(p.base + lengthOf(r, p), uint32_t(machine.sram.vectorsPerBank));
    EXPECT_LT(p.bank, uint32_t(machine.sram.banks));
    if (r.dies == kForever && r.side >= 0) { // a temporary's is a wish
      EXPECT_EQ(side, r.side) << r.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRequests,
                         ::testing::Range<uint64_t>(0, 60));

class Allocation : public ::testing::Test {
protected:
  Request buffer(uint32_t width, uint32_t length, uint32_t born,
                 uint32_t dies) const {
    Request r{};
    r.width = width;
    r.length = length;
    r.born = born;
    r.dies = dies;
    r.side = -1;
    return r;
  }
  Request weights(uint32_t length) const {
    Request r = buffer(uint32_t(layout.groupWidth), length, 0, kForever);
    r.weights = true;
    r.side = 0;
    return r;
  }
  const Machine machine = *loadMachine("lpu-small");
  const ChipLayout layout{machine};
  Allocator allocator{machine, layout};
  const uint32_t depth = uint32_t(machine.sram.vectorsPerBank);
};

// Six aligned groups of four slices, two banks each.
TEST_F(Allocation, ExactlyWhatThereIsFits) {
  std::vector<Request> all(12, buffer(4, depth, 1, 1));
  EXPECT_EQ(allocator.place(all), std::nullopt);
}

TEST_F(Allocation, OneMoreIsRefusedByNumber) {
  std::vector<Request> all(13, buffer(4, depth, 1, 1));
  EXPECT_EQ(allocator.place(all), 12u);
}

TEST_F(Allocation, TheDeadMakeRoom) {
  std::vector<Request> all(12, buffer(4, depth, 1, 1));
  all.push_back(buffer(4, depth, 2, 2));
  EXPECT_EQ(allocator.place(all), std::nullopt);
}

// Whatever the depth of a bank: what is free is counted to the last address.
TEST(Nearest, CountsWhatIsFree) {
  for (int32_t depth : {16, 1000, 2271, 4096, 5461}) {
    Machine machine = *loadMachine("lpu-small");
    machine.sram.vectorsPerBank = depth;
    ChipLayout layout(machine);
    // From a half on nothing else leaves a bank all of its own.
    uint32_t half = uint32_t(depth) / 2;
    for (uint32_t taken : {0u, 1u, half, half + 1, half + 2, half + 3, half + 5,
                           uint32_t(depth) - 1}) {
      Allocator allocator(machine, layout);
      Request first{};
      first.width = uint32_t(layout.dataSlices);
      first.length = taken;
      first.dies = kForever;
      std::vector<Request> all;
      for (int32_t side : {0, 1}) {
        for (int32_t bank = 0; taken > 0 && bank < machine.sram.banks; ++bank) {
          first.side = side;
          all.push_back(first);
        }
      }
      Request large = first;
      large.side = 0;
      large.length = uint32_t(depth) + 1;
      all.push_back(large);
      ASSERT_EQ(allocator.place(all), all.size() - 1);
      auto nearest = allocator.nearest(large);
      ASSERT_TRUE(nearest);
      // Others may fill one bank with two of theirs, and leave the other.
      bool oneIsFree = 2 * taken <= uint32_t(depth);
      EXPECT_EQ(nearest->free, uint32_t(depth) - (oneIsFree ? 0 : taken))
          << depth << " deep, " << taken << " taken";
    }
  }
}

TEST_F(Allocation, DeeperThanABankIsRefused) {
  EXPECT_EQ(allocator.place({buffer(4, depth + 1, 1, 1)}), 0u);
}

TEST_F(Allocation, WiderThanTheDataSlicesIsRefused) {
  EXPECT_EQ(allocator.place({buffer(13, 1, 0, kForever)}), 0u);
}

TEST_F(Allocation, WeightsOfOneSideFillItsGroup) {
  std::vector<Request> all(2, weights(depth));
  EXPECT_EQ(allocator.place(all), std::nullopt);
}

TEST_F(Allocation, WeightsBeyondItAreRefused) {
  std::vector<Request> all(3, weights(depth));
  EXPECT_EQ(allocator.place(all), 2u);
}

TEST_F(Allocation, WeightsSpillIntoDataSlicesWhenTheyMay) {
  std::vector<Request> all(3, weights(depth / 2 + 1));
  all[2].spillWidth = 8;
  all[2].spillLength = depth;
  EXPECT_EQ(allocator.place(all), std::nullopt);
  EXPECT_EQ(allocator.places[2].width, 8u);
  EXPECT_EQ(allocator.places[2].slice, uint32_t(layout.dataFirst(0)));
}

} // namespace
} // namespace orrery::allocate
