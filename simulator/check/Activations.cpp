// Rule activation: every row of a pass finds the entry that was loaded for it,
// in its format, and nobody overwrites an entry that is still to be used. An
// entry that is loaded and never used is a load that missed its matmul.
#include "simulator/check/Examination.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::check {

namespace {

struct Loaded {
  Tick tick;
  uint32_t instruction;
  bool f16;
  bool used;
};
/// A matmul's uses of one entry, from the first pass to the last.
struct Used {
  Tick first, last;
  uint32_t instruction;
  bool f16;
};
struct Entry {
  std::vector<Loaded> loads;
  std::vector<Used> uses;
};

class ActivationCheck {
public:
  explicit ActivationCheck(Examination &exam)
      : exam(exam), m(exam.machine), capacity(m.matrix.activationVectors),
        entries(size_t(exam.geometry.planes()) * capacity) {}

  void run() {
    for (uint32_t i = 0; i < exam.program.instructions.size(); ++i) {
      const Instruction &instruction = exam.program.instructions[i];
      if (auto *op = std::get_if<LoadOp>(&instruction.operation)) {
        add(i, instruction.tick, *op);
      } else if (auto *op = std::get_if<MatmulOp>(&instruction.operation)) {
        add(i, instruction.tick, *op);
      }
    }
    for (size_t e = 0; e < entries.size(); ++e) {
      check(entries[e], e % capacity);
    }
  }

private:
  bool fits(uint32_t index, Tick tick, uint64_t base, uint64_t count) {
    if (base + count <= uint64_t(capacity)) {
      return true;
    }
    exam.fail(Rule::Activation, index, tick,
              "it names entries " + std::to_string(base) + "-" +
                  std::to_string(base + count - 1) + " of " +
                  std::to_string(capacity));
    return false;
  }
  Entry &entry(int plane, uint64_t number) {
    return entries[size_t(plane) * capacity + number];
  }

  void add(uint32_t index, Tick tick, const LoadOp &op) {
    if (!fits(index, tick, op.base, op.shape.count())) {
      return;
    }
    for (uint64_t n = 0; n < op.shape.count(); ++n) {
      entry(op.plane, op.base + n)
          .loads.push_back({tick + op.shape.at(n), index, op.f16, false});
    }
  }
  void add(uint32_t index, Tick tick, const MatmulOp &op) {
    if (!fits(index, tick, op.base, uint64_t(op.inner) * op.rows)) {
      return;
    }
    Tick perRow = matmulTicksPerRow(m, op.format);
    Tick again = Tick(op.tiles - 1) * op.inner * op.period;
    for (uint32_t k = 0; k < op.inner; ++k) {
      for (uint32_t row = 0; row < op.rows; ++row) {
        Tick first = tick + Tick(k) * op.period + row * perRow;
        entry(op.plane, op.base + uint64_t(k) * op.rows + row)
            .uses.push_back(
                {first, first + again, index, op.format == WeightFormat::F16});
      }
    }
  }

  void check(Entry &entry, size_t number);
  void checkUse(Entry &entry, const Used &use, const std::string &name);

  Examination &exam;
  const Machine &m;
  int64_t capacity;
  std::vector<Entry> entries; ///< [plane][entry]
};

void ActivationCheck::check(Entry &entry, size_t number) {
  std::sort(entry.loads.begin(), entry.loads.end(),
            [](const Loaded &a, const Loaded &b) { return a.tick < b.tick; });
  std::string name = "entry " + std::to_string(number);
  for (const Used &use : entry.uses) {
    checkUse(entry, use, name);
  }
  for (const Loaded &load : entry.loads) {
    if (!load.used) {
      exam.fail(Rule::Activation, load.instruction, load.tick,
                "no pass uses what it loads into " + name);
    }
  }
}

void ActivationCheck::checkUse(Entry &entry, const Used &use,
                               const std::string &name) {
  // The first load that comes too late for the first use.
  auto late = std::upper_bound(
      entry.loads.begin(), entry.loads.end(), use.first - m.timing.load,
      [](Tick t, const Loaded &l) { return t < l.tick; });
  if (late == entry.loads.begin()) {
    std::string found =
        late == entry.loads.end()
            ? "nothing loads it"
            : exam.describe(late->instruction) + " loads it at tick " +
                  std::to_string(late->tick) + ", to be used from tick " +
                  std::to_string(late->tick + m.timing.load);
    exam.fail(Rule::Activation, use.instruction, use.first,
              "its row needs " + name + ", but " + found);
    return;
  }
  Loaded &load = *std::prev(late);
  load.used = true;
  if (load.f16 != use.f16) {
    exam.fail(Rule::Activation, use.instruction, use.first,
              name + " has another format than the weights; " +
                  exam.describe(load.instruction) + " loaded it");
  } else if (late != entry.loads.end() && late->tick <= use.last) {
    exam.fail(Rule::Activation, use.instruction, use.first,
              name + " is overwritten by " + exam.describe(late->instruction) +
                  " at tick " + std::to_string(late->tick) +
                  ", before its last use at tick " + std::to_string(use.last));
  }
}

} // namespace

void checkActivations(Examination &exam) { ActivationCheck(exam).run(); }

} // namespace orrery::check
