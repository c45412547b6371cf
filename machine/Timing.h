// Rates and latencies of the units as functions of the machine description:
// what one instruction takes and gives, and when, relative to its own tick.
//
// Not here: whether an instruction may be issued (compiler/schedule,
// simulator/timing and simulator/check each decide that on their own).
#pragma once

#include "machine/Instruction.h"
#include "machine/Machine.h"

#include <algorithm>
#include <vector>

namespace orrery {

/// Ticks between two vectors of a VXM burst: the chain may use each ALU of a
/// lane once a vector. A program of no steps (a copy) takes one.
inline uint32_t vectorInterval(const Machine &m, const VectorProgram &p) {
  auto steps = uint32_t(p.steps.size());
  auto alus = uint32_t(m.alusPerLane);
  return steps <= alus ? 1 : (steps + alus - 1) / alus;
}

inline Tick stepLatency(const Machine &m, AluOp op) {
  switch (op) {
  case AluOp::Exp:
  case AluOp::Div:
  case AluOp::Sqrt:
  case AluOp::Silu:
    return m.timing.special;
  case AluOp::Splat:
  case AluOp::KvScale:
  case AluOp::KvCode:
    return m.timing.cross;
  default:
    return m.timing.alu;
  }
}

/// Ticks from taking a vector (the last of a reduction group) to the result
/// leaving the VXM. Every value goes through the whole chain.
inline Tick vectorLatency(const Machine &m, const VectorProgram &p,
                          const VectorOutput &out) {
  Tick ticks = m.timing.alu; // operand alignment; also a bare copy's latency
  for (const AluStep &step : p.steps) {
    ticks += stepLatency(m, step.op);
  }
  if (out.type == StreamType::A8) {
    ticks += m.timing.cross;
  }
  return out.reduction == Reduction::None ? ticks : ticks + m.timing.reduce;
}

/// When a VXM output's first vector leaves, from the instruction's tick.
inline Tick vectorOutputStart(const Machine &m, const VectorProgram &p,
                              const VectorOutput &out) {
  Tick first = out.reduction == Reduction::None
                   ? 0
                   : Tick(p.group - 1) * vectorInterval(m, p);
  return first + vectorLatency(m, p, out);
}
inline BurstShape vectorInputShape(const Machine &m, const VectorProgram &p,
                                   uint32_t count) {
  return {count, vectorInterval(m, p), 1, 0};
}
inline BurstShape vectorOutputShape(const Machine &m, const VectorProgram &p,
                                    const VectorOutput &out, uint32_t count) {
  uint32_t interval = vectorInterval(m, p);
  return out.reduction == Reduction::None
             ? BurstShape{count, interval, 1, 0}
             : BurstShape{count / p.group, interval * p.group, 1, 0};
}

inline uint32_t matmulTicksPerRow(const Machine &m, WeightFormat f) {
  return f == WeightFormat::F16 ? uint32_t(m.matrix.f16TicksPerRow) : 1;
}
/// Ticks from the matmul's tick to the first f32 vector leaving the plane.
inline Tick matmulOutputStart(const Machine &m, const MatmulOp &op) {
  return Tick(op.inner - 1) * op.period + m.timing.matmul;
}
inline BurstShape matmulOutputShape(const Machine &m, const MatmulOp &op) {
  return {op.rows, matmulTicksPerRow(m, op.format), op.tiles,
          op.inner * op.period};
}

/// Vectors of one installed tile of R rows on chips with `lanes` lanes.
inline uint32_t tileVectors(WeightFormat f, uint32_t rows) {
  switch (f) {
  case WeightFormat::Q8:
    return rows + rows / 16;
  case WeightFormat::Q4:
    return rows / 2 + rows / 16;
  case WeightFormat::I8:
    return rows;
  case WeightFormat::F16:
    return 2 * rows;
  }
  return 0;
}
/// Cycles to install it over `width` streams.
inline uint32_t tileCycles(WeightFormat f, uint32_t rows, uint32_t width) {
  return (tileVectors(f, rows) + width - 1) / width;
}

inline BurstShape permuteOutputShape(const PermuteOp &op) {
  if (op.kind == PermuteKind::LaneMap) {
    return {op.count, 1, 1, 0};
  }
  uint32_t cycles =
      (uint32_t(op.rows) * op.width + op.outWidth - 1) / op.outWidth;
  return {cycles, 1, 1, 0};
}
inline Tick permuteOutputStart(const Machine &m, const PermuteOp &op) {
  return op.kind == PermuteKind::LaneMap
             ? m.timing.permute
             : Tick(op.count - 1) + m.timing.transpose;
}

/// Ticks in which a fetch reads, and when its bytes are in the buffer.
inline BurstShape fetchShape(const Machine &m) {
  return {uint32_t(m.fetchVectors), 1, 1, 0};
}
inline Tick fetchArrival(const Machine &m, Tick tick) {
  return tick + fetchShape(m).span() + m.timing.fetch;
}

/// A burst of `width` streams sent over a C2C link: vector i of it (all its
/// streams) begins to cross when it is there and the one before has crossed;
/// linkFree is the tick at which the link has nothing left to carry.
struct LinkCrossing {
  std::vector<Tick> arrived; ///< by vector: the first tick it may be received
  Tick linkFree;             ///< afterwards
};
inline LinkCrossing crossLink(const Machine &m, Tick tick,
                              const BurstShape &shape, uint32_t width,
                              Tick linkFree) {
  LinkCrossing out{{}, linkFree};
  out.arrived.reserve(shape.count());
  for (uint64_t i = 0; i < shape.count(); ++i) {
    Tick start = std::max(tick + shape.at(i), out.linkFree);
    out.linkFree = start + Tick(width) * m.link.vectorTicks;
    out.arrived.push_back(out.linkFree + m.link.latency);
  }
  return out;
}

} // namespace orrery
