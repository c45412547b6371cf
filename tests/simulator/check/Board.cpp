#include "tests/simulator/check/Board.h"

#include "machine/Timing.h"

#include <algorithm>
#include <numeric>

namespace orrery::test {

namespace {

/// Places: streams by position, then banks, then queues.
uint32_t streamPlace(Direction d, int stream, Position at) {
  return (uint32_t(d) * 64 + uint32_t(stream)) * 256 + uint32_t(at);
}
uint32_t bankPlace(int slice, int bank) {
  return (1 << 20) + uint32_t(slice) * 16 + uint32_t(bank);
}
uint32_t queuePlace(int kind, int index) {
  return (2 << 20) + uint32_t(kind) * 1024 + uint32_t(index);
}

class Writer {
public:
  Writer(const Instruction &instruction, const Program &program,
         const Machine &machine)
      : tick(instruction.tick), program(program), m(machine),
        g(machine.geometry()) {
    std::visit([this](const auto &op) { add(op); }, instruction.operation);
  }
  std::vector<BoardCell> cells;
  Tick end = 0;

private:
  void acted(Tick t, Tick tail = 1) { end = std::max(end, t + tail); }

  void drive(StreamRef ref, int slot, Position from, Position stop, Tick first,
             const BurstShape &shape) {
    int step = ref.direction == Direction::East ? 1 : -1;
    for (uint64_t n = 0; n < shape.count(); ++n) {
      Tick d = diagonal(ref.direction, first + shape.at(n), from);
      for (Position p = from + step; (stop - p) * step >= 0; p += step) {
        cells.push_back({streamPlace(ref.direction, ref.stream + slot, p), d});
      }
      acted(first + shape.at(n));
    }
  }
  void queue(int kind, int index, Tick first, Tick last) {
    for (Tick t = first; t <= last; ++t) {
      cells.push_back({queuePlace(kind, index), t});
    }
  }
  void planes(int kind, int plane, bool f16, Tick last) {
    for (int p = 0; p < g.planes(); ++p) {
      if (f16 ? g.hemisphereOfPlane(p) == g.hemisphereOfPlane(plane)
              : p == plane) {
        queue(kind, p, tick, last);
      }
    }
  }
  void slice(int kind, int first, int s, int bank, Direction d,
             const BurstShape &shape, Tick tail) {
    Tick moved = g.ofSlice(s) - g.ofSlice(first);
    Tick start = tick + (d == Direction::East ? moved : -moved);
    queue(kind, s, start, start + shape.span());
    for (uint64_t n = 0; n < shape.count(); ++n) {
      cells.push_back({bankPlace(s, bank), start + shape.at(n)});
      acted(start + shape.at(n), tail);
    }
  }

  void add(const ReadOp &op) {
    Direction d = op.out.ref.direction;
    for (int k = 0; k < op.width; ++k) {
      slice(0, op.slice, op.slice + k, op.bank, d, op.shape, 1);
      Tick moved = g.ofSlice(op.slice + k) - g.ofSlice(op.slice);
      Tick start = tick + (d == Direction::East ? moved : -moved);
      drive(op.out.ref, k, g.ofSlice(op.slice + k), op.out.stop,
            start + m.timing.read, op.shape);
    }
  }
  void add(const WriteOp &op) {
    for (int k = 0; k < op.width; ++k) {
      slice(1, op.slice, op.slice + k, op.bank, op.in.direction, op.shape,
            m.timing.write);
    }
  }
  void add(const LoadOp &op) {
    planes(2, op.plane, false, tick + op.shape.span());
    acted(tick + op.shape.span());
  }
  void add(const InstallOp &op) {
    planes(3, op.plane, op.format == WeightFormat::F16, tick + op.shape.span());
    acted(tick + op.shape.span());
  }
  void add(const MatmulOp &op) {
    Tick last = tick + Tick(op.tiles * op.inner - 1) * op.period +
                Tick(op.rows - 1) * matmulTicksPerRow(m, op.format);
    planes(4, op.plane, op.format == WeightFormat::F16, last);
    for (int k = 0; k < streamsOf(op.result()); ++k) {
      drive({inward(g.hemisphereOfPlane(op.plane)), op.stream}, k,
            g.ofPlane(op.plane), op.stop, tick + matmulOutputStart(m, op),
            matmulOutputShape(m, op));
    }
  }
  void add(const VectorOp &op) {
    const VectorProgram &p = program.vectorPrograms[op.program];
    BurstShape in = vectorInputShape(m, p, op.count);
    queue(5, 0, tick, tick + in.span());
    acted(tick + in.span());
    for (int i = 0; i < op.outputs; ++i) {
      for (int k = 0; k < streamsOf(p.outputs[i].type); ++k) {
        drive(op.out[i].ref, k, g.ofVxm(), op.out[i].stop,
              tick + vectorOutputStart(m, p, p.outputs[i]),
              vectorOutputShape(m, p, p.outputs[i], op.count));
      }
    }
  }
  void add(const PermuteOp &op) {
    queue(6, op.sxm, tick, tick + op.count - 1);
    acted(tick + op.count - 1);
    int width = op.kind == PermuteKind::LaneMap ? op.width : op.outWidth;
    for (int k = 0; k < width; ++k) {
      drive(op.out.ref, k, g.ofSxm(op.sxm), op.out.stop,
            tick + permuteOutputStart(m, op), permuteOutputShape(op));
    }
  }
  void add(const ReceiveOp &op) {
    Tick gap = op.link == kHostLink ? m.timing.hostVector - 1 : 0;
    queue(7, op.link, tick, tick + op.shape.span() + gap);
    for (int k = 0; k < op.width; ++k) {
      drive({Direction::West, op.stream}, k, g.ofHost(), op.stop, tick,
            op.shape);
    }
  }
  void add(const SendOp &op) {
    bool host = op.link == kHostLink;
    Tick gap = host ? m.timing.hostVector - 1 : 0;
    queue(8, op.link, tick, tick + op.shape.span() + gap);
    acted(tick + op.shape.span(), host ? m.timing.host : 1);
  }

  void add(const FetchOp &op) {
    Tick last = tick + m.fetchVectors - 1;
    queue(9, 0, tick, last);
    queue(0, op.slice, tick, last);
    for (Tick t = tick; t <= last; ++t) {
      cells.push_back({bankPlace(op.slice, op.bank), t});
      acted(t);
    }
  }

  Tick tick;
  const Program &program;
  const Machine &m;
  Geometry g;
};

/// Slice range, bank, direction, addresses and shape of a read or write.
struct MemView {
  int slice, width, bank;
  Direction direction;
  const AddressPattern *address;
  const BurstShape *shape;
};
bool viewOf(const Instruction &i, MemView &v) {
  if (auto *r = std::get_if<ReadOp>(&i.operation)) {
    v = {r->slice,    r->width, r->bank, r->out.ref.direction,
         &r->address, &r->shape};
    return true;
  }
  if (auto *w = std::get_if<WriteOp>(&i.operation)) {
    v = {w->slice, w->width, w->bank, w->in.direction, &w->address, &w->shape};
    return true;
  }
  return false;
}

} // namespace

std::vector<BoardCell> cellsOf(const Instruction &i, const Program &p,
                               const Machine &m) {
  return Writer(i, p, m).cells;
}

Tick endOf(const Instruction &i, const Program &p, const Machine &m) {
  return Writer(i, p, m).end;
}

void sortByTick(std::vector<Instruction> &instructions) {
  std::vector<size_t> order(instructions.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(instructions[a].tick, a) <
           std::pair(instructions[b].tick, b);
  });
  std::vector<Instruction> sorted;
  for (size_t i : order) {
    sorted.push_back(instructions[i]);
  }
  instructions = std::move(sorted);
}

std::vector<Touch> touchesOf(const Instruction &i, const Machine &m) {
  MemView v;
  std::vector<Touch> touches;
  if (!viewOf(i, v)) {
    return touches;
  }
  Geometry g = m.geometry();
  for (int s = v.slice; s < v.slice + v.width; ++s) {
    Tick moved = g.ofSlice(s) - g.ofSlice(v.slice);
    Tick start = i.tick + (v.direction == Direction::East ? moved : -moved);
    for (uint64_t n = 0; n < v.shape->count(); ++n) {
      touches.push_back({s, v.bank, v.address->at(n), start + v.shape->at(n)});
    }
  }
  return touches;
}

Tick earliestTick(const Instruction &i, const Machine &m) {
  MemView v;
  if (!viewOf(i, v) || v.direction == Direction::East) {
    return i.tick;
  }
  Geometry g = m.geometry();
  return i.tick - (g.ofSlice(v.slice + v.width - 1) - g.ofSlice(v.slice));
}

} // namespace orrery::test
