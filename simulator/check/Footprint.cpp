#include "simulator/check/Footprint.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::check {

Position Take::nearest(const Geometry &g, int slot) const {
  if (slice < 0) {
    return position;
  }
  if (slices == 0) {
    return g.ofSlice(slice + slot);
  }
  return g.ofSlice(direction == Direction::East ? slice : slice + slices - 1);
}

Position Take::farthest(const Geometry &g, int slot) const {
  if (slices == 0) {
    return nearest(g, slot);
  }
  return g.ofSlice(direction == Direction::East ? slice + slices - 1 : slice);
}

namespace {

class Collector {
public:
  Collector(const Program &program, const Machine &machine, Footprints &to)
      : program(program), machine(machine), geometry(machine.geometry()),
        to(to) {}

  void visit(uint32_t index) {
    current = index;
    tick = program.instructions[index].tick;
    std::visit([this](const auto &op) { add(op); },
               program.instructions[index].operation);
  }

private:
  void drive(StreamRef ref, int width, Position stop, Position from, Tick first,
             const BurstShape &shape, std::optional<StreamType> type,
             int32_t slice = -1) {
    to.drives.push_back({current, ref.direction, ref.stream, uint8_t(width),
                         stop, diagonal(ref.direction, first, from), shape,
                         type, from, slice});
  }
  void take(StreamRef ref, int width, Position at, const BurstShape &shape,
            std::optional<StreamType> type, bool grouped, int operand = 0,
            int32_t slice = -1, int32_t slices = 0) {
    to.takes.push_back({current, uint8_t(operand), ref.direction, ref.stream,
                        uint8_t(width), diagonal(ref.direction, tick, at),
                        shape, type, grouped, at, slice, slices});
  }

  void add(const ReadOp &op) {
    drive(op.out.ref, op.width, op.out.stop, geometry.ofSlice(op.slice),
          tick + machine.timing.read, op.shape, std::nullopt, op.slice);
  }
  void add(const WriteOp &op) {
    bool striped = op.stripeBytes > 0;
    take(op.in, striped ? op.stripeBytes : op.width, geometry.ofSlice(op.slice),
         op.shape, std::nullopt, striped, 0, op.slice, striped ? op.width : 0);
  }
  void add(const LoadOp &op) {
    StreamType type = op.f16 ? StreamType::F16 : StreamType::A8;
    take(outwardOf(op.plane, op.stream), streamsOf(type),
         geometry.ofPlane(op.plane), op.shape, type, true);
  }
  void add(const InstallOp &op) {
    take(outwardOf(op.plane, op.stream), op.width, geometry.ofPlane(op.plane),
         op.shape, StreamType::I8, false);
  }
  void add(const MatmulOp &op) {
    Direction d = inward(geometry.hemisphereOfPlane(op.plane));
    drive({d, op.stream}, streamsOf(op.result()), op.stop,
          geometry.ofPlane(op.plane), tick + matmulOutputStart(machine, op),
          matmulOutputShape(machine, op), op.result());
  }
  void add(const VectorOp &op) {
    const VectorProgram &p = program.vectorPrograms[op.program];
    for (int i = 0; i < op.inputs; ++i) {
      take(op.in[i], streamsOf(p.inputs[i]), geometry.ofVxm(),
           vectorInputShape(machine, p, op.count), p.inputs[i], true, i);
    }
    for (int i = 0; i < op.outputs; ++i) {
      const VectorOutput &out = p.outputs[i];
      drive(op.out[i].ref, streamsOf(out.type), op.out[i].stop,
            geometry.ofVxm(), tick + vectorOutputStart(machine, p, out),
            vectorOutputShape(machine, p, out, op.count), out.type);
    }
  }
  void add(const PermuteOp &op) {
    Position at = geometry.ofSxm(op.sxm);
    bool transpose = op.kind == PermuteKind::Transpose;
    take(op.in, op.width, at, {op.count, 1, 1, 0}, std::nullopt, transpose);
    drive(op.out.ref, transpose ? op.outWidth : op.width, op.out.stop, at,
          tick + permuteOutputStart(machine, op), permuteOutputShape(op),
          std::nullopt);
  }
  void add(const ReceiveOp &op) {
    drive({Direction::West, op.stream}, op.width, op.stop, geometry.ofHost(),
          tick, op.shape, linkType(op.link));
  }
  void add(const SendOp &op) {
    take({Direction::East, op.stream}, op.width, geometry.ofHost(), op.shape,
         linkType(op.link), op.link == kHostLink);
  }
  void add(const FetchOp &) {} // on a path of its own
  /// Links between chips carry bytes, of several values at once.
  static std::optional<StreamType> linkType(LinkNumber link) {
    return link == kHostLink ? std::optional(StreamType::F32) : std::nullopt;
  }

  StreamRef outwardOf(int plane, uint8_t stream) const {
    return {outward(geometry.hemisphereOfPlane(plane)), stream};
  }

  const Program &program;
  const Machine &machine;
  Geometry geometry;
  Footprints &to;
  uint32_t current = 0;
  Tick tick = 0;
};

} // namespace

Footprints footprintsOf(const Program &program, const Machine &machine) {
  Footprints result;
  Collector collector(program, machine, result);
  for (uint32_t i = 0; i < program.instructions.size(); ++i) {
    collector.visit(i);
  }
  return result;
}

} // namespace orrery::check
