// Rules port, queue, bank: no unit is asked for two things in one cycle, and
// the instructions of one queue do not overlap in time.
//
// Each port, and each link in each direction, has its own queue. Two
// instructions of a queue whose spans overlap break rule `port` when two of
// their vectors come in the same cycle, and rule `queue` when they only
// interleave.
#include "simulator/check/Bursts.h"
#include "simulator/check/Examination.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::check {

namespace {

/// One instruction's time on one queue; `last` is the tick of its last vector.
struct Claim {
  uint32_t queue;
  uint32_t instruction;
  Tick first, last;
  BurstShape shape;
};
/// One run of accesses to one bank of one slice.
struct BankUse {
  Run ticks;
  uint32_t instruction;
  bool write;
};

class PortCheck {
public:
  explicit PortCheck(Examination &exam)
      : exam(exam), m(exam.machine), g(exam.geometry),
        banks(size_t(g.slices()) * m.sram.banks) {}

  void run() {
    for (uint32_t i = 0; i < exam.program.instructions.size(); ++i) {
      current = i;
      tick = exam.program.instructions[i].tick;
      std::visit([this](const auto &op) { add(op); },
                 exam.program.instructions[i].operation);
    }
    sweepQueues();
    for (size_t b = 0; b < banks.size(); ++b) {
      sweepBank(banks[b], b);
    }
  }

private:
  void claim(uint32_t queue, Tick first, const BurstShape &shape) {
    claims.push_back({queue, current, first, first + shape.span(), shape});
  }
  // Queue numbers, in the order of rule 5 of machine/README.md.
  uint32_t readQueue(int slice) const { return slice; }
  uint32_t writeQueue(int slice) const { return g.slices() + slice; }
  uint32_t planeQueue(int port, int plane) const {
    return 2 * g.slices() + port * g.planes() + plane;
  }
  uint32_t otherQueue(int which) const {
    return 2 * g.slices() + 3 * g.planes() + which;
  }

  void addAccess(int slice, int width, int bank, Direction d,
                 const BurstShape &shape, bool write) {
    for (int s = slice; s < slice + width; ++s) {
      Position moved = g.ofSlice(s) - g.ofSlice(slice);
      Tick first = d == Direction::East ? tick + moved : tick - moved;
      claim(write ? writeQueue(s) : readQueue(s), first, shape);
      for (const Run &run : runsOf(shape, first)) {
        banks[size_t(s) * m.sram.banks + bank].push_back({run, current, write});
      }
    }
  }
  /// f16 takes the unit of all planes of the hemisphere.
  void addPlanes(int port, int plane, bool f16, const BurstShape &shape) {
    int first =
        f16 ? plane / g.planesPerHemisphere * g.planesPerHemisphere : plane;
    int count = f16 ? g.planesPerHemisphere : 1;
    for (int p = first; p < first + count; ++p) {
      claim(planeQueue(port, p), tick, shape);
    }
  }

  void add(const ReadOp &op) {
    addAccess(op.slice, op.width, op.bank, op.out.ref.direction, op.shape,
              false);
  }
  void add(const WriteOp &op) {
    addAccess(op.slice, op.width, op.bank, op.in.direction, op.shape, true);
  }
  void add(const LoadOp &op) { addPlanes(0, op.plane, false, op.shape); }
  void add(const InstallOp &op) {
    addPlanes(1, op.plane, op.format == WeightFormat::F16, op.shape);
  }
  void add(const MatmulOp &op) {
    addPlanes(2, op.plane, op.format == WeightFormat::F16,
              {op.rows, matmulTicksPerRow(m, op.format), op.tiles * op.inner,
               op.period});
  }
  void add(const VectorOp &op) {
    const VectorProgram &p = exam.program.vectorPrograms[op.program];
    claim(otherQueue(0), tick, vectorInputShape(m, p, op.count));
  }
  void add(const PermuteOp &op) {
    claim(otherQueue(1 + op.sxm), tick, {op.count, 1, 1, 0});
  }
  void add(const ReceiveOp &op) {
    claim(otherQueue(3 + 2 * op.link), tick, op.shape);
  }
  void add(const SendOp &op) {
    claim(otherQueue(4 + 2 * op.link), tick, op.shape);
  }
  /// The read port is the slice's, whoever has it read.
  void add(const FetchOp &op) {
    BurstShape shape{uint32_t(m.fetchVectors), 1, 1, 0};
    claim(otherQueue(5 + 2 * m.link.ports), tick, shape);
    addAccess(op.slice, 1, op.bank, Direction::East, shape, false);
  }

  void sweepQueues();
  void sweepBank(std::vector<BankUse> &uses, size_t bank);
  void report(const Claim &early, const Claim &late);

  Examination &exam;
  const Machine &m;
  Geometry g;
  uint32_t current = 0;
  Tick tick = 0;
  std::vector<Claim> claims;
  std::vector<std::vector<BankUse>> banks; ///< [slice * banks + bank]
};

void PortCheck::sweepQueues() {
  std::sort(claims.begin(), claims.end(), [](const Claim &a, const Claim &b) {
    return std::pair(a.queue, a.first) < std::pair(b.queue, b.first);
  });
  // The claim of the queue so far that ends last is the one to beat.
  const Claim *last = nullptr;
  for (const Claim &c : claims) {
    if (last && last->queue == c.queue && c.first <= last->last) {
      report(*last, c);
    }
    if (!last || last->queue != c.queue || c.last > last->last) {
      last = &c;
    }
  }
}

void PortCheck::report(const Claim &early, const Claim &late) {
  std::optional<Tick> same;
  for (const Run &a : runsOf(early.shape, early.first)) {
    for (const Run &b : runsOf(late.shape, late.first)) {
      if (auto t = firstCommon(a, b); t && (!same || *t < *same)) {
        same = t;
      }
    }
  }
  std::string other = exam.describe(early.instruction);
  if (same) {
    exam.fail(Rule::Port, late.instruction, *same,
              "the port is taken in this cycle by " + other);
    return;
  }
  exam.fail(Rule::Queue, late.instruction, late.first,
            "the queue is busy with " + other + " from tick " +
                std::to_string(early.first) + " to " +
                std::to_string(early.last));
}

void PortCheck::sweepBank(std::vector<BankUse> &uses, size_t bank) {
  std::sort(uses.begin(), uses.end(), [](const BankUse &a, const BankUse &b) {
    return a.ticks.first < b.ticks.first;
  });
  std::vector<BankUse> alive;
  for (const BankUse &use : uses) {
    std::erase_if(alive, [&](const BankUse &u) {
      return u.ticks.last() < use.ticks.first;
    });
    for (const BankUse &other : alive) {
      auto same = firstCommon(other.ticks, use.ticks);
      if (other.write != use.write && same) {
        exam.fail(Rule::Bank, use.instruction, *same,
                  "bank " + std::to_string(bank % m.sram.banks) + " of slice " +
                      std::to_string(bank / m.sram.banks) + " is in use by " +
                      exam.describe(other.instruction));
        return;
      }
    }
    alive.push_back(use);
  }
}

} // namespace

void checkPorts(Examination &exam) { PortCheck(exam).run(); }

} // namespace orrery::check
