// Rules address, kind, lifetime: every access falls into a region that allows
// it. Reads of weights and tables are settled by their bounding box; all
// other accesses are split at region borders and handed on by region.
#include "simulator/check/Memory.h"

#include "simulator/check/Regions.h"

#include <algorithm>
#include <map>
#include <queue>

namespace orrery::check {

namespace {

struct Pending {
  Access access;
  bool write;
  uint64_t order; ///< makes the sweep deterministic
};
struct Later {
  bool operator()(const Pending &a, const Pending &b) const {
    return std::pair(a.access.cell.first(), a.order) >
           std::pair(b.access.cell.first(), b.order);
  }
};
using Queue = std::priority_queue<Pending, std::vector<Pending>, Later>;

/// The Temporary regions of one bank that hold a value at the sweep's tick.
class AliveRegions {
public:
  AliveRegions(const RegionMap &map, const BankRegions &bank)
      : map(map), byBirth(bank.temporary) {
    std::sort(byBirth.begin(), byBirth.end(), [&](uint32_t a, uint32_t b) {
      return map[a].born < map[b].born;
    });
  }
  int64_t at(int64_t address, Tick tick) {
    for (; next < byBirth.size() && map[byBirth[next]].born <= tick; ++next) {
      alive.emplace(map[byBirth[next]].base, byBirth[next]);
    }
    for (auto it = alive.upper_bound(address); it != alive.begin();) {
      --it;
      const SramRegion &r = map[it->second];
      if (r.dies <= tick) {
        it = alive.erase(it);
      } else if (address < endOf(r)) {
        return it->second;
      } else {
        return -1; // regions alive together do not overlap
      }
    }
    return -1;
  }

private:
  const RegionMap &map;
  std::vector<uint32_t> byBirth;
  size_t next = 0;
  std::multimap<uint32_t, uint32_t> alive;
};

class MemoryCheck {
public:
  explicit MemoryCheck(Examination &exam)
      : exam(exam), m(exam.machine), g(exam.geometry),
        map(exam.program, exam.machine), complaints(exam),
        pending(size_t(g.slices()) * m.sram.banks) {
    size_t total = 0;
    for (const SramRegion &r : exam.program.regions) {
      firstOf.push_back(total);
      total += r.width;
    }
    accesses.resize(total);
  }

  void run() {
    for (uint32_t i = 0; i < exam.program.instructions.size(); ++i) {
      const Instruction &instruction = exam.program.instructions[i];
      if (auto *op = std::get_if<ReadOp>(&instruction.operation)) {
        addRead(i, instruction.tick, *op);
      } else if (auto *op = std::get_if<WriteOp>(&instruction.operation)) {
        addWrite(i, instruction.tick, *op);
      }
    }
    for (int s = 0; s < g.slices(); ++s) {
      for (int b = 0; b < m.sram.banks; ++b) {
        settle(s, b);
      }
    }
    addLogits();
    for (size_t r = 0; r < exam.program.regions.size(); ++r) {
      for (int k = 0; k < map[r].width; ++k) {
        checkWrittenBeforeRead(exam, complaints, map[r], map[r].slice + k,
                               accesses[firstOf[r] + k]);
      }
    }
  }

private:
  Queue &queueOf(int slice, int bank) {
    return pending[size_t(slice) * m.sram.banks + bank];
  }
  Tick skew(Direction d, int from, int to) const {
    Position moved = g.ofSlice(to) - g.ofSlice(from);
    return d == Direction::East ? moved : -moved;
  }

  void addRead(uint32_t index, Tick tick, const ReadOp &op);
  void addWrite(uint32_t index, Tick tick, const WriteOp &op);
  bool inBank(uint32_t index, Tick tick, AddressBox box, uint64_t vectors);
  bool settledByBox(uint32_t index, Tick tick, const ReadOp &op,
                    AddressBox box);
  void push(int slice, int bank, Access access, Tick start, bool write);
  void settle(int slice, int bank);
  void place(int slice, int bank, Pending p, AliveRegions &alive);
  void failPlace(int slice, int bank, const Pending &p, int64_t address,
                 Tick tick);
  void addLogits();

  Examination &exam;
  const Machine &m;
  Geometry g;
  RegionMap map;
  Complaints complaints;
  std::vector<Queue> pending;  ///< [slice * banks + bank]
  std::vector<size_t> firstOf; ///< region to its first entry of `accesses`
  std::vector<RegionAccesses> accesses;
  uint64_t pushed = 0;
};

void MemoryCheck::push(int slice, int bank, Access access, Tick start,
                       bool write) {
  access.cell.tick += start;
  queueOf(slice, bank).push({access, write, pushed++});
}

/// Whether an access may be expanded into cells.
bool MemoryCheck::inBank(uint32_t index, Tick tick, AddressBox box,
                         uint64_t vectors) {
  if (box.low < 0 || box.high >= m.sram.vectorsPerBank) {
    complaints.fail(Rule::Address, index, tick,
                    "its addresses are " + std::to_string(box.low) + "-" +
                        std::to_string(box.high) + "; a bank has " +
                        std::to_string(m.sram.vectorsPerBank));
    return false;
  }
  if (vectors > kMaxAccessVectors) {
    complaints.fail(Rule::Form, index, tick, "its burst is too long");
    return false;
  }
  return true;
}

/// Weights and tables: nobody writes them, so time does not matter.
bool MemoryCheck::settledByBox(uint32_t index, Tick tick, const ReadOp &op,
                               AddressBox box) {
  for (int s = op.slice; s < op.slice + op.width; ++s) {
    int64_t r = map.fixedAt(s, op.bank, box.low);
    if (r < 0 || box.high >= endOf(map[r]) || map[r].kind == RegionKind::Kv) {
      return false;
    }
    if (map[r].kind == RegionKind::Instructions) {
      complaints.fail(Rule::Kind, index, tick,
                      "reads instructions region " + map[r].name);
    }
  }
  ++exam.report.readsProven;
  return true;
}

void MemoryCheck::addRead(uint32_t index, Tick tick, const ReadOp &op) {
  AddressBox box = boxOf(op.address, exam.program.bucket, m.lanes);
  if (settledByBox(index, tick, op, box) ||
      !inBank(index, tick, box, op.shape.count())) {
    return;
  }
  std::vector<Cell> cells = cellsOf(op, exam.program.bucket, m.lanes);
  for (int s = op.slice; s < op.slice + op.width; ++s) {
    Tick start = tick + skew(op.out.ref.direction, op.slice, s);
    for (const Cell &cell : cells) {
      push(s, op.bank, {cell, index, false, 0, 0}, start, false);
    }
  }
}

void MemoryCheck::addWrite(uint32_t index, Tick tick, const WriteOp &op) {
  AddressBox box = boxOf(op, exam.program.bucket, m.lanes);
  if (!inBank(index, tick, box, op.shape.count())) {
    return;
  }
  bool range = op.mask == LaneMask::Range;
  Access access = {{},
                   index,
                   op.stripeBytes > 0 || op.mask == LaneMask::TokenLane ||
                       op.mask == LaneMask::TokenSpan ||
                       op.address.dynamic != Dynamic::None,
                   range ? op.low : uint16_t(0),
                   range ? op.high : uint16_t(m.lanes)};
  std::vector<Cell> cells = cellsOf(op, exam.program.bucket, m.lanes);
  for (int s = op.slice; s < op.slice + op.width; ++s) {
    Tick start = tick + skew(op.in.direction, op.slice, s);
    for (const Cell &cell : cells) {
      access.cell = cell;
      push(s, op.bank, access, start, true);
    }
  }
}

void MemoryCheck::settle(int slice, int bank) {
  AliveRegions alive(map, map.of(slice, bank));
  Queue &queue = queueOf(slice, bank);
  while (!queue.empty()) {
    Pending p = queue.top();
    queue.pop();
    place(slice, bank, p, alive);
  }
}

void MemoryCheck::place(int slice, int bank, Pending p, AliveRegions &alive) {
  Cell &cell = p.access.cell;
  bool fromLow = cell.perAddress >= 0;
  int64_t address = fromLow ? cell.low : cell.high();
  Tick tick = cell.first();
  int64_t index = alive.at(address, tick);
  if (index < 0) {
    index = map.fixedAt(slice, bank, address);
  }
  if (index < 0) {
    failPlace(slice, bank, p, address, tick);
    return;
  }
  const SramRegion &r = map[index];
  int64_t low = std::max<int64_t>(cell.low, r.base);
  int64_t high = std::min(cell.high(), endOf(r) - 1);
  Pending part = p;
  part.access.cell = {low, high - low + 1, cell.at(low), cell.perAddress};
  bool fixed = r.kind != RegionKind::Temporary;
  bool constant = fixed && r.kind != RegionKind::Kv;
  if (constant && (p.write || r.kind == RegionKind::Instructions)) {
    complaints.fail(Rule::Kind, p.access.instruction, tick,
                    std::string(p.write ? "writes " : "reads ") +
                        kindName(r.kind) + " region " + r.name);
    return;
  }
  if (!fixed && part.access.cell.last() >= r.dies) {
    failPlace(slice, bank, part, fromLow ? high : low, part.access.cell.last());
    return;
  }
  RegionAccesses &to = accesses[firstOf[index] + (slice - r.slice)];
  (p.write ? to.writes : to.reads).push_back(part.access);
  int64_t left = cell.count - part.access.cell.count;
  if (left > 0) {
    int64_t from = fromLow ? high + 1 : cell.low;
    cell = {from, left, cell.at(from), cell.perAddress};
    queueOf(slice, bank).push(p);
  }
}

void MemoryCheck::failPlace(int slice, int bank, const Pending &p,
                            int64_t address, Tick tick) {
  std::string what = std::string(p.write ? "writes" : "reads") + " address " +
                     std::to_string(address) + " of slice " +
                     std::to_string(slice) + " bank " + std::to_string(bank) +
                     " at tick " + std::to_string(tick);
  for (uint32_t i : map.of(slice, bank).temporary) {
    const SramRegion &r = map[i];
    if (address >= r.base && address < endOf(r)) {
      complaints.fail(Rule::Lifetime, p.access.instruction, tick,
                      what + ", outside the lifetime [" +
                          std::to_string(r.born) + ", " +
                          std::to_string(r.dies) + ") of region " + r.name);
      return;
    }
  }
  complaints.fail(Rule::Address, p.access.instruction, tick,
                  what + ", where no region is; a bank has " +
                      std::to_string(m.sram.vectorsPerBank) + " addresses");
}

/// The host reads the logits when the step has ended, from the regions that
/// were born last at their place.
void MemoryCheck::addLogits() {
  const LogitsPlace &logits = exam.program.logits;
  int64_t count = int64_t(exam.program.tokens) * logits.vectors;
  if (count == 0) {
    return;
  }
  Cell cell{logits.base, count, exam.report.endTick, 0};
  for (int s = logits.slice; s < logits.slice + 4; ++s) {
    int64_t best = -1;
    for (uint32_t r = 0; r < exam.program.regions.size(); ++r) {
      const SramRegion &region = map[r];
      bool holds = onChip(region, m) && s >= region.slice &&
                   s < region.slice + region.width &&
                   region.bank == logits.bank && cell.low >= region.base &&
                   cell.high() < endOf(region);
      if (holds && (best < 0 || region.born > map[best].born)) {
        best = r;
      }
    }
    if (best < 0) {
      complaints.fail(Rule::Logits, kNoInstruction, 0,
                      "no region holds the logits in slice " +
                          std::to_string(s));
      return;
    }
    accesses[firstOf[best] + (s - map[best].slice)].reads.push_back(
        {cell, kNoInstruction, false, 0, 0});
  }
}

} // namespace

void checkMemory(Examination &exam) { MemoryCheck(exam).run(); }

/// Rule context: what the step writes at any position below the context, not
/// only below this program's bucket, has room in a KV region.
void checkContext(Examination &exam) {
  RegionMap map(exam.program, exam.machine);
  Complaints complaints(exam);
  for (uint32_t i = 0; i < exam.program.instructions.size(); ++i) {
    const Instruction &instruction = exam.program.instructions[i];
    const auto *op = std::get_if<WriteOp>(&instruction.operation);
    if (!op || (op->stripeBytes == 0 && op->address.dynamic == Dynamic::None)) {
      continue;
    }
    AddressBox box = boxOf(*op, exam.program.context, exam.machine.lanes);
    if (box.high >= exam.machine.sram.vectorsPerBank ||
        op->shape.count() > kMaxAccessVectors) {
      complaints.fail(Rule::Context, i, instruction.tick,
                      "at a position below the context of " +
                          std::to_string(exam.program.context) +
                          " it would write address " +
                          std::to_string(box.high) + " of a bank");
      continue;
    }
    for (const Cell &cell :
         cellsOf(*op, exam.program.context, exam.machine.lanes)) {
      for (int s = op->slice; s < op->slice + op->width; ++s) {
        int64_t r = map.fixedAt(s, op->bank, cell.low);
        if (r < 0 || map[r].kind != RegionKind::Kv ||
            cell.high() >= endOf(map[r])) {
          complaints.fail(
              Rule::Context, i, instruction.tick,
              "at a position below the context of " +
                  std::to_string(exam.program.context) +
                  " it would write addresses " + std::to_string(cell.low) +
                  "-" + std::to_string(cell.high()) + " of slice " +
                  std::to_string(s) + ", which are not in one kv region");
        }
      }
    }
  }
}

} // namespace orrery::check
