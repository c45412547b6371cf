// Breaking what travels: ticks, streams, bursts, units and formats.
//
// Why a program breaks: no two producers share a cell of a stream, so that a
// consumer's cells hold its own producer's vectors or nothing; and every
// driven vector has a consumer, so that a consumer that goes astray leaves
// vectors to nobody, unless a twin takes the same ones.

#include "tests/simulator/check/MutationMakers.h"

namespace orrery::test {

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
/// places. Equal instructions do.
bool swapTicks(Program &p, const Machine &, Random &r) {
  Instruction &a = any(p, r), &b = any(p, r);
  std::swap(a.tick, b.tick);
  return a.location != b.location && !(a.operation == b.operation);
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

} // namespace orrery::test
