#include "tests/simulator/check/Mutations.h"

#include "tests/simulator/check/Board.h"
#include "tests/simulator/check/Gang.h"

#include <algorithm>

// Why a program breaks: no two producers share a cell of a stream, so that a
// consumer's cells hold its own producer's vectors or nothing; and every
// driven vector has a consumer, so that a consumer that goes astray leaves
// vectors to nobody, unless a twin takes the same ones.

namespace orrery::test {

namespace {

using Instructions = std::vector<Instruction>;

template <class Op> Op *opOf(Instruction &i) {
  return std::get_if<Op>(&i.operation);
}
Instruction &any(Program &p, Random &r) {
  return p
      .instructions[size_t(r.between(0, int64_t(p.instructions.size()) - 1))];
}
SramRegion &anyRegion(Program &p, Random &r) {
  return p.regions[size_t(r.between(0, int64_t(p.regions.size()) - 1))];
}

BurstShape *shapeOf(Operation &o) {
  if (auto *op = std::get_if<ReadOp>(&o)) {
    return &op->shape;
  }
  if (auto *op = std::get_if<WriteOp>(&o)) {
    return &op->shape;
  }
  if (auto *op = std::get_if<LoadOp>(&o)) {
    return &op->shape;
  }
  if (auto *op = std::get_if<InstallOp>(&o)) {
    return &op->shape;
  }
  if (auto *op = std::get_if<ReceiveOp>(&o)) {
    return &op->shape;
  }
  auto *op = std::get_if<SendOp>(&o);
  return op ? &op->shape : nullptr;
}
StreamRef *drivenBy(Operation &o) {
  if (auto *op = std::get_if<ReadOp>(&o)) {
    return &op->out.ref;
  }
  if (auto *op = std::get_if<PermuteOp>(&o)) {
    return &op->out.ref;
  }
  auto *op = std::get_if<VectorOp>(&o);
  return op ? &op->out[0].ref : nullptr;
}
AddressPattern *addressOf(Operation &o) {
  if (auto *op = std::get_if<ReadOp>(&o)) {
    return &op->address;
  }
  auto *op = std::get_if<WriteOp>(&o);
  return op ? &op->address : nullptr;
}
bool isDriver(const Operation &o) {
  return !std::holds_alternative<WriteOp>(o) &&
         !std::holds_alternative<LoadOp>(o) &&
         !std::holds_alternative<InstallOp>(o) &&
         !std::holds_alternative<SendOp>(o);
}

bool holds(const SramRegion &r, const Touch &t) {
  return t.slice >= r.slice && t.slice < r.slice + r.width &&
         t.bank == r.bank && t.address >= r.base &&
         t.address < int64_t(r.base) + r.length;
}
/// Whether some address that the instruction touches lies in no region.
bool goesAstray(const Instruction &i, const Program &p, const Machine &m) {
  for (const Touch &t : touchesOf(i, m)) {
    if (std::none_of(p.regions.begin(), p.regions.end(),
                     [&](const SramRegion &r) { return holds(r, t); })) {
      return true;
    }
  }
  return false;
}
/// Whether another write of the same gang takes the same vectors.
bool hasTwin(const Instruction &i, const Program &p) {
  const auto *op = std::get_if<WriteOp>(&i.operation);
  return op && std::count_if(p.instructions.begin(), p.instructions.end(),
                             [&](const Instruction &other) {
                               auto *o = std::get_if<WriteOp>(&other.operation);
                               return o && other.location == i.location &&
                                      o->in == op->in;
                             }) > 1;
}

bool shift(Program &p, Random &r, Tick by) {
  Instruction &i = any(p, r);
  i.tick += by;
  return i.tick >= 0;
}

/// Of a producer: its consumers find nothing in their cells.
bool moveStream(Program &p, const Machine &m, Random &r) {
  StreamRef *ref = drivenBy(any(p, r).operation);
  if (!ref) {
    return false;
  }
  ref->stream =
      uint8_t((ref->stream + r.between(1, 5)) % m.streamsPerDirection);
  return true;
}
bool turn(Program &p, const Machine &, Random &r) {
  StreamRef *ref = drivenBy(any(p, r).operation);
  if (ref) {
    ref->direction = opposite(ref->direction);
  }
  return ref != nullptr;
}
/// Of a consumer without a twin: its vectors, or its first stream's, are lost.
bool moveConsumer(Program &p, const Machine &, Random &r) {
  Instruction &i = any(p, r);
  if (auto *op = opOf<WriteOp>(i); op && !hasTwin(i, p)) {
    ++op->in.stream;
    return true;
  }
  if (auto *op = opOf<LoadOp>(i)) {
    ++op->stream;
    return true;
  }
  if (auto *op = opOf<InstallOp>(i)) {
    ++op->stream;
    return true;
  }
  if (auto *op = opOf<VectorOp>(i); op && op->inputs > 0) {
    ++op->in[0].stream;
    return true;
  }
  return false;
}

/// Also cuts the address pattern to fit: to the first address, repeated.
bool resize(Instruction &i, int by) {
  if (auto *op = opOf<PermuteOp>(i)) {
    op->count += by;
    return op->count > 0 && op->kind == PermuteKind::LaneMap;
  }
  BurstShape *s = shapeOf(i.operation);
  if (!s || s->runs > 1 || int(s->length) + by < 1) {
    return false;
  }
  s->length += by;
  if (AddressPattern *a = addressOf(i.operation)) {
    a->extent = {s->length, 1, 1};
    a->step = {0, 0, 0};
  }
  return true;
}
/// Of a producer: a consumer lacks a vector.
bool shrink(Program &p, const Machine &, Random &r) {
  Instruction &i = any(p, r);
  return isDriver(i.operation) && resize(i, -1);
}
/// Of a producer: nobody takes the last vector. Of a load, install or send:
/// the last operand is missing.
bool lengthen(Program &p, const Machine &, Random &r) {
  Instruction &i = any(p, r);
  return !opOf<WriteOp>(i) && resize(i, 1);
}
/// On one side of a stream only.
bool restride(Program &p, const Machine &, Random &r) {
  BurstShape *s = shapeOf(any(p, r).operation);
  if (!s || s->length < 2) {
    return false;
  }
  ++s->stride;
  s->period += s->runs > 1 ? s->length : 0;
  return true;
}
bool rePeriod(Program &p, const Machine &, Random &r) {
  Instruction &i = any(p, r);
  if (auto *op = opOf<MatmulOp>(i); op && op->tiles * op->inner > 1) {
    ++op->period;
    return true;
  }
  BurstShape *s = shapeOf(i.operation);
  if (!s || s->runs < 2) {
    return false;
  }
  ++s->period;
  return true;
}

bool swapBank(Program &p, const Machine &m, Random &r) {
  Instruction &i = any(p, r);
  auto bank = uint8_t(r.between(0, m.sram.banks - 1));
  if (auto *op = opOf<ReadOp>(i)) {
    op->bank = bank;
  } else if (auto *op = opOf<WriteOp>(i)) {
    op->bank = bank;
  }
  return goesAstray(i, p, m);
}
bool moveAddress(Program &p, const Machine &m, Random &r) {
  Instruction &i = any(p, r);
  AddressPattern *a = addressOf(i.operation);
  if (!a) {
    return false;
  }
  int64_t base = a->base + r.between(-40, 40);
  a->base = uint32_t(std::max<int64_t>(base, 0));
  return goesAstray(i, p, m);
}

/// Puts one region on top of another that lives at the same time.
bool overlap(Program &p, const Machine &, Random &r) {
  SramRegion &a = anyRegion(p, r);
  const SramRegion &b = anyRegion(p, r);
  bool both =
      a.kind == RegionKind::Temporary && b.kind == RegionKind::Temporary;
  if (&a == &b || a.width > b.width || a.length > b.length ||
      (both && (a.born >= b.dies || b.born >= a.dies))) {
    return false;
  }
  a.slice = b.slice;
  a.bank = b.bank;
  a.base = b.base;
  return true;
}
bool drop(Program &p, const Machine &, Random &r) {
  Instruction &i = any(p, r);
  if (hasTwin(i, p)) {
    return false;
  }
  p.instructions.erase(p.instructions.begin() + (&i - p.instructions.data()));
  return true;
}
bool duplicate(Program &p, const Machine &, Random &r) {
  Instruction copy = any(p, r);
  p.instructions.push_back(copy);
  return true;
}

bool moveStop(Program &p, const Machine &m, Random &r, int by) {
  Instruction &i = any(p, r);
  if (!isDriver(i.operation)) {
    return false;
  }
  Position &stop = stopOf(i.operation, 0);
  Direction d = Direction::West;
  if (auto *op = opOf<MatmulOp>(i)) {
    d = inward(m.geometry().hemisphereOfPlane(op->plane));
  } else if (StreamRef *ref = drivenBy(i.operation)) {
    d = ref->direction;
  }
  stop += d == Direction::East ? by : -by;
  return stop >= 0 && stop <= m.geometry().ofHost();
}
bool narrow(Program &p, const Machine &, Random &r) {
  auto *op = opOf<ReadOp>(any(p, r));
  if (!op || op->width < 2) {
    return false;
  }
  --op->width;
  return true;
}
/// At another position the same tick is another diagonal.
bool changePlane(Program &p, const Machine &m, Random &r) {
  Instruction &i = any(p, r);
  auto plane = uint8_t(r.between(0, m.geometry().planes() - 1));
  if (auto *op = opOf<LoadOp>(i)) {
    op->plane = plane;
  } else if (auto *op = opOf<InstallOp>(i)) {
    op->plane = plane;
  } else if (auto *op = opOf<MatmulOp>(i)) {
    op->plane = plane;
  }
  return true;
}
/// Of different gangs: within one, the parts of a split burst could change
/// places.
bool swapTicks(Program &p, const Machine &, Random &r) {
  Instruction &a = any(p, r), &b = any(p, r);
  std::swap(a.tick, b.tick);
  return a.location != b.location;
}
bool changeFormat(Program &p, const Machine &, Random &r) {
  Instruction &i = any(p, r);
  if (auto *op = opOf<InstallOp>(i)) {
    op->format = WeightFormat(r.between(0, 3));
    return true;
  }
  if (auto *op = opOf<MatmulOp>(i)) {
    op->format = WeightFormat(r.between(0, 3));
    return true;
  }
  if (auto *op = opOf<LoadOp>(i)) {
    op->f16 = !op->f16;
    return true;
  }
  return false;
}
bool reduceRows(Program &p, const Machine &, Random &r) {
  auto *op = opOf<MatmulOp>(any(p, r));
  if (!op || op->rows < 2) {
    return false;
  }
  --op->rows;
  return true;
}
bool changeColumns(Program &p, const Machine &, Random &r) {
  Instruction &i = any(p, r);
  auto *in = opOf<InstallOp>(i);
  auto *mm = opOf<MatmulOp>(i);
  if (!in && !mm) {
    return false;
  }
  WeightFormat f = in ? in->format : mm->format;
  int by = f == WeightFormat::Q8 || f == WeightFormat::Q4 ? 16 : 1;
  uint16_t &low = in ? in->low : mm->low, high = in ? in->high : mm->high;
  low += by;
  return low < high;
}
/// The last entry of the load is then one that no load ever fills.
bool changeBase(Program &p, const Machine &m, Random &r) {
  auto *op = opOf<MatmulOp>(any(p, r));
  if (!op) {
    return false;
  }
  uint32_t entry = op->base + op->inner * op->rows;
  for (Instruction &i : p.instructions) {
    auto *load = opOf<LoadOp>(i);
    if (load && load->plane == op->plane && entry >= load->base &&
        entry < load->base + load->shape.count()) {
      return false;
    }
  }
  ++op->base;
  return int(entry) < m.matrix.activationVectors;
}

bool constantWritten(Program &p, const Machine &m, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.kind != RegionKind::Temporary && region.kind != RegionKind::Kv) {
    return false;
  }
  region.kind = r.chance(50) ? RegionKind::Weight : RegionKind::Table;
  region.born = region.dies = 0;
  for (Instruction &i : p.instructions) {
    for (const Touch &t : touchesOf(i, m)) {
      if (opOf<WriteOp>(i) && holds(region, t)) {
        return true;
      }
    }
  }
  return false;
}
bool uninitialised(Program &p, const Machine &m, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.kind != RegionKind::Table && region.kind != RegionKind::Weight) {
    return false;
  }
  region.kind = RegionKind::Temporary;
  region.dies = p.predictedTicks + 1;
  for (Instruction &i : p.instructions) {
    for (const Touch &t : touchesOf(i, m)) {
      if (holds(region, t)) {
        return true;
      }
    }
  }
  return false;
}
bool shortenRegion(Program &p, const Machine &m, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.length < 2) {
    return false;
  }
  --region.length;
  for (const Instruction &i : p.instructions) {
    if (goesAstray(i, p, m)) {
      return true;
    }
  }
  return false;
}
bool shortenLife(Program &p, const Machine &, Random &r) {
  SramRegion &region = anyRegion(p, r);
  if (region.kind != RegionKind::Temporary) {
    return false;
  }
  if (r.chance(50)) {
    ++region.born;
  } else {
    --region.dies;
  }
  return region.born < region.dies;
}
bool noRoomForText(Program &p, const Machine &, Random &) {
  std::erase_if(p.regions, [](const SramRegion &region) {
    return region.kind == RegionKind::Instructions;
  });
  return true;
}
/// The host's vectors one tick before they can be there.
bool earlyHost(Program &p, const Machine &m, Random &) {
  for (Instruction &i : p.instructions) {
    if (opOf<ReceiveOp>(i)) {
      Tick by = m.timing.host - 1 - i.tick;
      uint32_t gang = i.location;
      for (Instruction &other : p.instructions) {
        other.tick += other.location == gang ? by : 0;
      }
      return std::all_of(p.instructions.begin(), p.instructions.end(),
                         [](const Instruction &j) { return j.tick >= 0; });
    }
  }
  return false;
}
bool longContext(Program &p, const Machine &m, Random &) {
  p.context += 4 * uint32_t(m.lanes);
  return std::any_of(
      p.regions.begin(), p.regions.end(),
      [](const SramRegion &r) { return r.kind == RegionKind::Kv; });
}

} // namespace

const std::vector<Mutation> &mutations() {
  using P = Program &;
  using M = const Machine &;
  using R = Random &;
  static const std::vector<Mutation> kinds = {
      {"tick + 1",
       {"operand", "dropped"},
       true,
       [](P p, M, R r) { return shift(p, r, 1); }},
      {"tick - 1",
       {"operand", "dropped", "form"},
       true,
       [](P p, M, R r) { return shift(p, r, -1); }},
      {"swap ticks", {"operand", "dropped", "form"}, true, swapTicks},
      {"move stream", {"operand", "form"}, true, moveStream},
      {"change direction", {"operand", "form"}, true, turn},
      {"move consumer", {"operand", "dropped", "form"}, true, moveConsumer},
      {"shrink burst", {"operand"}, true, shrink},
      {"lengthen burst", {"operand", "dropped"}, true, lengthen},
      {"change stride", {"operand", "dropped"}, true, restride},
      {"change period", {"operand"}, true, rePeriod},
      {"stop short",
       {"operand"},
       true,
       [](P p, M m, R r) { return moveStop(p, m, r, -1); }},
      {"stop far",
       {"stop"},
       false,
       [](P p, M m, R r) { return moveStop(p, m, r, 1); }},
      {"change width", {"operand"}, true, narrow},
      {"drop instruction", {"operand", "dropped"}, true, drop},
      {"duplicate instruction", {"port"}, true, duplicate},
      {"swap bank", {"address", "lifetime"}, true, swapBank},
      {"move address", {"address", "lifetime"}, true, moveAddress},
      {"overlap regions", {"overlap"}, true, overlap},
      {"shorten region", {"address"}, true, shortenRegion},
      {"shorten lifetime", {"lifetime"}, true, shortenLife},
      {"write a constant", {"kind"}, true, constantWritten},
      {"read uninitialised", {"uninitialised"}, true, uninitialised},
      {"change plane", {"operand", "form"}, true, changePlane},
      {"change format",
       {"tile", "activation", "type", "form"},
       true,
       changeFormat},
      {"change columns", {"tile", "form"}, true, changeColumns},
      {"reduce rows", {"operand", "dropped"}, true, reduceRows},
      {"activation base", {"activation"}, true, changeBase},
      {"host too early", {"host"}, true, earlyHost},
      {"end + 1",
       {"end"},
       true,
       [](P p, M, R) { return ++p.predictedTicks > 0; }},
      {"end - 1",
       {"end"},
       true,
       [](P p, M, R) { return --p.predictedTicks > 0; }},
      {"no room for text", {"capacity"}, false, noRoomForText},
      {"longer context", {"context"}, false, longContext},
  };
  return kinds;
}

bool mutate(const Mutation &mutation, Program &program, const Machine &machine,
            Random &random) {
  for (int draw = 0; draw < 200; ++draw) {
    Program copy = program;
    if (!mutation.apply(copy, machine, random)) {
      continue;
    }
    std::sort(copy.instructions.begin(), copy.instructions.end(),
              [](const Instruction &a, const Instruction &b) {
                return a.tick < b.tick;
              });
    if (copy == program) {
      continue;
    }
    program = std::move(copy);
    return true;
  }
  return false;
}

} // namespace orrery::test
