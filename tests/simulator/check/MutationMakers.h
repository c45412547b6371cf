// The makers behind Mutations.h, and how they look at a program.
#pragma once

#include "tests/simulator/check/Board.h"
#include "tests/simulator/check/Gang.h"
#include "tests/simulator/check/Random.h"

#include <algorithm>

namespace orrery::test {

template <class Op> Op *opOf(Instruction &i) {
  return std::get_if<Op>(&i.operation);
}
/// Any but a fetch: those have mutations of their own.
inline Instruction &any(Program &p, Random &r) {
  for (;;) {
    Instruction &i = p.instructions[size_t(
        r.between(0, int64_t(p.instructions.size()) - 1))];
    if (!opOf<FetchOp>(i)) {
      return i;
    }
  }
}
inline SramRegion &anyRegion(Program &p, Random &r) {
  return p.regions[size_t(r.between(0, int64_t(p.regions.size()) - 1))];
}

inline BurstShape *shapeOf(Operation &o) {
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
inline StreamRef *drivenBy(Operation &o) {
  if (auto *op = std::get_if<ReadOp>(&o)) {
    return &op->out.ref;
  }
  if (auto *op = std::get_if<PermuteOp>(&o)) {
    return &op->out.ref;
  }
  auto *op = std::get_if<VectorOp>(&o);
  return op ? &op->out[0].ref : nullptr;
}
inline AddressPattern *addressOf(Operation &o) {
  if (auto *op = std::get_if<ReadOp>(&o)) {
    return &op->address;
  }
  auto *op = std::get_if<WriteOp>(&o);
  return op ? &op->address : nullptr;
}
inline bool isDriver(const Operation &o) {
  return !std::holds_alternative<WriteOp>(o) &&
         !std::holds_alternative<LoadOp>(o) &&
         !std::holds_alternative<InstallOp>(o) &&
         !std::holds_alternative<SendOp>(o) &&
         !std::holds_alternative<FetchOp>(o);
}

inline bool holds(const SramRegion &r, const Touch &t) {
  return t.slice >= r.slice && t.slice < r.slice + r.width &&
         t.bank == r.bank && t.address >= r.base &&
         t.address < int64_t(r.base) + r.length;
}
/// Whether some address that the instruction touches lies in no region.
inline bool goesAstray(const Instruction &i, const Program &p,
                       const Machine &m) {
  for (const Touch &t : touchesOf(i, m)) {
    if (std::none_of(p.regions.begin(), p.regions.end(),
                     [&](const SramRegion &r) { return holds(r, t); })) {
      return true;
    }
  }
  return false;
}
/// Whether another write or load of the same gang takes the same vectors.
inline bool hasTwin(const Instruction &i, const Program &p) {
  const auto *write = std::get_if<WriteOp>(&i.operation);
  const auto *load = std::get_if<LoadOp>(&i.operation);
  return std::ranges::count_if(p.instructions, [&](const Instruction &other) {
           auto *w = std::get_if<WriteOp>(&other.operation);
           auto *l = std::get_if<LoadOp>(&other.operation);
           return other.location == i.location &&
                  ((write && w && w->in == write->in) ||
                   (load && l && l->stream == load->stream));
         }) > 1;
}

// StreamMutations.cpp
bool shift(Program &p, Random &r, Tick by);
bool moveStream(Program &p, const Machine &m, Random &r);
bool turn(Program &p, const Machine &, Random &r);
bool moveConsumer(Program &p, const Machine &, Random &r);
bool shrink(Program &p, const Machine &, Random &r);
bool lengthen(Program &p, const Machine &, Random &r);
bool restride(Program &p, const Machine &, Random &r);
bool rePeriod(Program &p, const Machine &, Random &r);
bool drop(Program &p, const Machine &, Random &r);
bool duplicate(Program &p, const Machine &, Random &r);
bool moveStop(Program &p, const Machine &m, Random &r, int by);
bool narrow(Program &p, const Machine &, Random &r);
bool changePlane(Program &p, const Machine &m, Random &r);
bool swapTicks(Program &p, const Machine &, Random &r);
bool changeFormat(Program &p, const Machine &, Random &r);
bool reduceRows(Program &p, const Machine &, Random &r);
bool changeColumns(Program &p, const Machine &, Random &r);
bool changeBase(Program &p, const Machine &m, Random &r);

// MemoryMutations.cpp
bool swapBank(Program &p, const Machine &m, Random &r);
bool moveAddress(Program &p, const Machine &m, Random &r);
bool overlap(Program &p, const Machine &, Random &r);
bool constantWritten(Program &p, const Machine &m, Random &r);
bool uninitialised(Program &p, const Machine &m, Random &r);
bool shortenRegion(Program &p, const Machine &m, Random &r);
bool shortenLife(Program &p, const Machine &m, Random &r);
bool noRoomForText(Program &p, const Machine &, Random &);
bool earlyHost(Program &p, const Machine &m, Random &);
bool longContext(Program &p, const Machine &m, Random &);

// FetchMutations.cpp
bool dropFetch(Program &p, const Machine &, Random &r);
bool delayFetch(Program &p, const Machine &m, Random &r);
bool fetchForAnother(Program &p, const Machine &m, Random &r);
bool fetchElsewhere(Program &p, const Machine &m, Random &r);
bool fetchIntoFull(Program &p, const Machine &m, Random &r);
bool shrinkBuffer(Program &p, Machine &m, Random &r);

} // namespace orrery::test
