// Fields full of nonsense are violations, never a crash, an endless loop or an
// overflow (run it with sanitizers).
#include "simulator/check/SystemCheck.h"
#include "tests/simulator/check/ProgramBuilder.h"
#include "tests/simulator/check/Random.h"
#include "tests/simulator/check/SystemBuilder.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

class Corruptor {
public:
  explicit Corruptor(uint64_t seed) : r(seed) {}

  void corrupt(Instruction &i) {
    if (r.chance(20)) {
      i.tick = any<Tick>() * (r.chance(50) ? 1 : int64_t(1) << 31);
    }
    std::visit([this](auto &op) { corrupt(op); }, i.operation);
  }
  /// Changes one of the fields.
  template <class... Ts> void one(Ts &...fields) {
    int64_t chosen = r.between(0, int64_t(sizeof...(fields)) - 1);
    (void)((chosen-- == 0 ? (fields = any<Ts>(), true) : false) || ...);
  }
  template <class T> T any() {
    switch (r.between(0, 5)) {
    case 0:
      return T(0);
    case 1:
      return T(~T(0));
    case 2:
      return T(uint64_t(1) << r.between(0, 31));
    case 3:
      return T(r.between(0, 1 << 20));
    default:
      return T(r.between(0, 64));
    }
  }

private:
  void corrupt(BurstShape &s) { one(s.length, s.stride, s.runs, s.period); }
  void corrupt(AddressPattern &a) {
    a.dynamic = Dynamic(r.between(0, 2));
    one(a.base, a.extent[0], a.extent[1], a.extent[2], a.step[0], a.step[1],
        a.step[2], a.dynamicStep);
    if (r.chance(50)) { // as many addresses as vectors
      a.extent[1] = a.extent[2] = 1;
    }
  }
  void corrupt(ReadOp &op) {
    r.chance(50) ? corrupt(op.shape) : corrupt(op.address);
    if (r.chance(50)) {
      op.address.extent = {uint32_t(op.shape.count()), 1, 1};
    }
    one(op.slice, op.width, op.bank, op.out.ref.stream, op.out.stop);
  }
  void corrupt(WriteOp &op) {
    r.chance(50) ? corrupt(op.shape) : corrupt(op.address);
    if (r.chance(50)) {
      op.address.extent = {uint32_t(op.shape.count()), 1, 1};
    }
    op.mask = LaneMask(r.between(0, 3));
    one(op.slice, op.width, op.bank, op.in.stream, op.low, op.high,
        op.tokenDimension, op.stripeBytes, op.stripeStep);
  }
  void corrupt(LoadOp &op) {
    corrupt(op.shape);
    one(op.plane, op.stream, op.base);
  }
  void corrupt(InstallOp &op) {
    corrupt(op.shape);
    one(op.plane, op.stream, op.width, op.low, op.high);
  }
  void corrupt(MatmulOp &op) {
    one(op.plane, op.low, op.high, op.tiles, op.inner, op.rows, op.period,
        op.base, op.stream, op.stop);
  }
  void corrupt(VectorOp &op) {
    one(op.program, op.count, op.inputs, op.outputs, op.in[0].stream,
        op.out[0].ref.stream, op.out[0].stop);
  }
  void corrupt(PermuteOp &op) {
    one(op.sxm, op.map, op.width, op.outWidth, op.rows, op.count);
  }
  void corrupt(ReceiveOp &op) {
    corrupt(op.shape);
    one(op.stream, op.stop, op.link, op.width);
  }
  void corrupt(SendOp &op) {
    corrupt(op.shape);
    one(op.stream, op.link, op.width);
  }
  void corrupt(FetchOp &op) {
    op.target.kind = QueueId::Kind(r.between(0, kQueueKinds - 1));
    one(op.target.index, op.slice, op.bank, op.address);
  }

  test::Random r;
};

TEST(HostileTest, NonsenseIsAViolation) {
  int deep = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const test::BuiltProgram built = test::buildProgram(seed);
    for (uint64_t k = 0; k < 100; ++k) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", draw " +
                   std::to_string(k));
      Corruptor corruptor(seed * 1000 + k);
      Program p = built.program;
      Instruction &i =
          p.instructions[(seed * 31 + k * 7) % p.instructions.size()];
      corruptor.corrupt(i);
      if (k % 10 == 0) {
        p.bucket = p.context = corruptor.any<uint32_t>();
      }
      if (k % 10 == 1) {
        p.regions[k % p.regions.size()].base = corruptor.any<uint32_t>();
        p.regions[k % p.regions.size()].width = corruptor.any<uint16_t>();
      }
      check::Report report = check::checkProgram(p, built.machine);
      for (const check::Violation &v : report.violations) {
        deep += v.rule != "form" && v.rule != "order";
      }
    }
  }
  EXPECT_GT(deep, 100); // not all stopped at the door
}

TEST(HostileTest, NonsenseOfChipsIsAViolation) {
  int deep = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const test::BuiltSystem built = test::buildSystem(seed);
    for (uint64_t k = 0; k < 50; ++k) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", draw " +
                   std::to_string(k));
      Corruptor corruptor(seed * 1000 + k);
      SystemProgram p = built.program;
      ChipProgram &chip = p.chips[k % p.chips.size()];
      LinkPorts &link = chip.links[k % chip.links.size()];
      corruptor.one(chip.chip, chip.part, chip.stage, chip.rank, chip.start,
                    link.out, link.in);
      std::vector<Instruction> &all = p.parts[k % p.parts.size()].instructions;
      for (Instruction &i : all) {
        if (k % 5 == 0 && (std::holds_alternative<SendOp>(i.operation) ||
                           std::holds_alternative<ReceiveOp>(i.operation))) {
          corruptor.corrupt(i);
          break;
        }
      }
      if (k % 10 == 1) {
        chip.links.resize(corruptor.any<uint8_t>());
      }
      if (k % 10 == 2) {
        p.parts.pop_back();
      }
      auto report = check::checkSystem(p, built.machine);
      for (const check::SystemViolation &v : report.violations) {
        deep += v.rule != "form" && v.rule != "system";
      }
    }
  }
  EXPECT_GT(deep, 100);
}

} // namespace
} // namespace orrery
