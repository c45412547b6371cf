// Overlapping bursts of reads and of writes fed by them, against a memory that
// does one vector after another in the order of the cycles.
#include "simulator/function/SramValues.h"
#include "tests/simulator/TestChip.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <random>

namespace orrery::sim::test {
namespace {

constexpr uint32_t kCopies = 12;
/// Copy j reads in cycles 16 j and writes in 16 j + 8 modulo this, give or take
/// the skew of its width: no two vectors of a slice share a cycle.
constexpr uint32_t kRound = 16 * kCopies;
constexpr int32_t kSlices = 4; ///< few slices and addresses: many collisions
constexpr uint32_t kAddresses = 8;

/// A burst read and written elsewhere some time later.
struct Copy {
  ReadOp read;
  WriteOp write;
  Tick readTick, writeTick;
};

Copy randomCopy(std::mt19937 &random, uint32_t j) {
  auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random);
  };
  uint32_t count = pick(1, kAddresses);
  auto width = uint8_t(pick(1, 3));
  BurstShape shape{count, kRound * pick(1, 3), 1, 0};
  auto address = [&] {
    uint32_t base = pick(0, kAddresses - count);
    AddressPattern p = linear(base, count);
    if (pick(0, 1) == 1) { // downwards
      p.base = base + count - 1;
      p.step[0] = -1;
    }
    return p;
  };
  auto slice = [&] { return uint16_t(pick(0, uint32_t(kSlices - width))); };
  auto direction = [&] { return Direction(pick(0, 1)); };
  Copy c;
  c.read =
      TestChip::read(slice(), width, address(), {{direction(), 0}, 0}, shape);
  c.write = TestChip::write(slice(), width, address(), {direction(), 0}, shape);
  c.readTick = 100 + 16 * j + kRound * pick(0, 8);
  c.writeTick = c.readTick + 8 + kRound * pick(0, 2);
  return c;
}

struct Memories {
  Machine machine = smallMachine();
  StepRegisters registers{0, 1, 32};
  SramImage image{machine}, naive{machine};
  std::vector<Copy> copies;

  explicit Memories(uint32_t seed) {
    std::mt19937 random(seed);
    for (uint32_t j = 0; j < kCopies; ++j) {
      copies.push_back(randomCopy(random, j));
    }
    for (int32_t s = 0; s < kSlices; ++s) {
      for (uint32_t a = 0; a < kAddresses; ++a) {
        std::memset(image.vector(s, 0, a), int(16 * s) + int(a), 32);
        std::memset(naive.vector(s, 0, a), int(16 * s) + int(a), 32);
      }
    }
  }

  /// One vector after another.
  void runNaive() {
    std::multimap<Tick, std::function<void()>> events;
    std::deque<uint8_t> onTheWay;
    for (const Copy &c : copies) {
      MemAccess r(c.read, c.readTick, 0, machine, registers);
      MemAccess w(c.write, c.writeTick, 0, machine, registers);
      for (uint32_t k = 0; k < uint32_t(r.width); ++k) {
        for (uint64_t n = 0; n < r.count(); ++n) {
          uint8_t &value = onTheWay.emplace_back();
          events.emplace(r.ticksAt(k).at(n), [this, r, k, n, &value] {
            value = *naive.vector(r.slice + int32_t(k), 0, r.address(n));
          });
          events.emplace(w.ticksAt(k).at(n), [this, w, k, n, &value] {
            std::memset(naive.vector(w.slice + int32_t(k), 0, w.address(n)),
                        value, 32);
          });
        }
      }
    }
    for (auto &[tick, happen] : events) {
      happen();
    }
  }

  /// As the modules do it: each burst once, writes looked at when over.
  void runBursts() {
    BufferPool pool;
    SramValues sram(image, pool, machine.lanes, machine.geometry().slices());
    std::multimap<Tick, std::function<void()>> events;
    std::deque<std::shared_ptr<ReadValues>> values(copies.size());
    for (size_t j = 0; j < copies.size(); ++j) {
      const Copy &c = copies[j];
      MemAccess r(c.read, c.readTick, 0, machine, registers);
      MemAccess w(c.write, c.writeTick, 0, machine, registers);
      auto &value = values[j];
      events.emplace(r.firstTick(),
                     [&sram, &value, r] { value = sram.read(r, false); });
      events.emplace(w.firstTick(), [&sram, &value, w] {
        Operands operands;
        for (uint32_t k = 0; k < uint32_t(w.width); ++k) {
          operands.push_back({value, k, 0});
        }
        sram.write(w, std::move(operands));
      });
      events.emplace(w.lastTick(), [&sram, w] { sram.finish(w); });
    }
    for (auto &[tick, happen] : events) {
      happen();
    }
  }
};

TEST(SramValues, OverlappingBurstsHappenInTheOrderOfTheirCycles) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Memories m(seed);
    m.runNaive();
    m.runBursts();
    for (int32_t s = 0; s < kSlices; ++s) {
      for (uint32_t a = 0; a < kAddresses; ++a) {
        ASSERT_EQ(int(m.image.vector(s, 0, a)[31]),
                  int(m.naive.vector(s, 0, a)[31]))
            << "seed " << seed << " slice " << s << " address " << a;
      }
    }
  }
}

} // namespace
} // namespace orrery::sim::test
