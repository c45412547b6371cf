#include "compiler/schedule/Problem.h"

#include "machine/Timing.h"

#include <algorithm>

namespace orrery::schedule {

namespace {

// Resource numbers: read port, write port and two banks a slice; load, install
// and array a plane; VXM; SXMs; host link and C2C links, in and out.
struct Numbering {
  explicit Numbering(const Machine &m)
      : slices(uint32_t(m.geometry().slices())),
        planes(uint32_t(m.geometry().planes())), ports(uint32_t(m.link.ports)) {
  }
  uint32_t slices, planes, ports;
  uint32_t readPort(uint32_t s) const { return 4 * s; }
  uint32_t writePort(uint32_t s) const { return 4 * s + 1; }
  uint32_t bank(uint32_t s, uint32_t b) const { return 4 * s + 2 + b; }
  uint32_t load(uint32_t p) const { return 4 * slices + 3 * p; }
  uint32_t install(uint32_t p) const { return load(p) + 1; }
  uint32_t array(uint32_t p) const { return load(p) + 2; }
  uint32_t vxm() const { return 4 * slices + 3 * planes; }
  uint32_t sxm(uint32_t s) const { return vxm() + 1 + s; }
  uint32_t linkIn(uint32_t link) const { return vxm() + 3 + 2 * link; }
  uint32_t linkOut(uint32_t link) const { return linkIn(link) + 1; }
  uint32_t count() const { return linkIn(ports + 1); }
};

struct Reserve {
  explicit Reserve(const Problem &problem)
      : problem(problem), m(*problem.machine), g(m.geometry()), n(m) {}
  const Problem &problem;
  const Machine &m;
  Geometry g;
  Numbering n;
  std::vector<Reservation> out;

  Tick skew(Direction d, int32_t slice, int32_t first) const {
    Position apart = g.ofSlice(slice) - g.ofSlice(first);
    return d == Direction::East ? apart : -apart;
  }
  // A queue works on one burst from its first vector to its last, gaps
  // included; the bank is free in the gaps.
  static BurstShape whole(const BurstShape &shape) {
    return {uint32_t(shape.span()) + 1, 1, 1, 0};
  }
  // The planes a weight format takes: both of a pair for f16.
  std::pair<uint32_t, uint32_t> planes(uint32_t plane, WeightFormat f) const {
    uint32_t per = uint32_t(m.matrix.planesPerHemisphere);
    return f == WeightFormat::F16
               ? std::pair(plane / per * per, plane / per * per + per)
               : std::pair(plane, plane + 1);
  }

  void operator()(const ReadOp &op) {
    for (uint32_t k = 0; k < op.width; ++k) {
      uint32_t slice = op.slice + k;
      Tick at = skew(op.out.ref.direction, int32_t(slice), op.slice);
      out.push_back({n.readPort(slice), at, whole(op.shape)});
      out.push_back({n.bank(slice, op.bank), at, op.shape});
    }
  }
  void operator()(const WriteOp &op) {
    for (uint32_t k = 0; k < op.width; ++k) {
      uint32_t slice = op.slice + k;
      Tick at = skew(op.in.direction, int32_t(slice), op.slice);
      out.push_back({n.writePort(slice), at, whole(op.shape)});
      out.push_back({n.bank(slice, op.bank), at, op.shape});
    }
  }
  void operator()(const LoadOp &op) {
    out.push_back({n.load(op.plane), 0, op.shape});
  }
  void operator()(const InstallOp &op) {
    auto [from, to] = planes(op.plane, op.format);
    for (uint32_t p = from; p < to; ++p) {
      out.push_back({n.install(p), 0, whole(op.shape)});
    }
  }
  void operator()(const MatmulOp &op) {
    uint32_t all = (op.tiles * op.inner - 1) * op.period +
                   op.rows * matmulTicksPerRow(m, op.format);
    auto [from, to] = planes(op.plane, op.format);
    for (uint32_t p = from; p < to; ++p) {
      out.push_back({n.array(p), 0, {all, 1, 1, 0}});
    }
  }
  void operator()(const VectorOp &op) {
    uint32_t interval = vectorInterval(m, problem.vectorPrograms[op.program]);
    out.push_back({n.vxm(), 0, {op.count * interval, 1, 1, 0}});
  }
  void operator()(const PermuteOp &op) {
    // In and out share the unit's queue until the last vector has left.
    uint32_t all = op.kind == PermuteKind::LaneMap
                       ? op.count
                       : uint32_t(permuteOutputStart(m, op)) +
                             permuteOutputShape(op).length;
    out.push_back({n.sxm(op.sxm), 0, {all, 1, 1, 0}});
  }
  void operator()(const ReceiveOp &op) {
    out.push_back({n.linkIn(op.link), 0, op.shape});
  }
  void operator()(const SendOp &op) {
    out.push_back({n.linkOut(op.link), 0, op.shape});
  }
  void operator()(const FetchOp &op) {
    out.push_back({n.readPort(op.slice), 0, fetchShape(m)});
    out.push_back({n.bank(op.slice, op.bank), 0, fetchShape(m)});
  }
};

} // namespace

std::vector<Reservation> reservationsOf(const Problem &problem,
                                        const Operation &operation) {
  Reserve reserve(problem);
  std::visit(reserve, operation);
  return std::move(reserve.out);
}

uint32_t resourceCount(const Machine &machine) {
  return Numbering(machine).count();
}

std::string resourceName(const Machine &machine, uint32_t resource) {
  Numbering n(machine);
  if (resource < 4 * n.slices) {
    static const char *const kinds[] = {".read", ".write", ".bank0", ".bank1"};
    return "mem" + std::to_string(resource / 4) + kinds[resource % 4];
  }
  if (resource < n.vxm()) {
    static const char *const kinds[] = {".load", ".install", ".array"};
    uint32_t k = resource - 4 * n.slices;
    return "mxm" + std::to_string(k / 3) + kinds[k % 3];
  }
  if (resource < n.linkIn(0)) {
    static const char *const units[] = {"vxm", "sxm0", "sxm1"};
    return units[resource - n.vxm()];
  }
  uint32_t link = (resource - n.linkIn(0)) / 2;
  return (link == kHostLink ? "host" : "link" + std::to_string(link)) +
         (resource == n.linkIn(link) ? ".in" : ".out");
}

namespace {
// Replaces group numbers by streams.
struct Resolve {
  const std::vector<uint8_t> &streams;
  uint16_t base;
  uint8_t offset;
  void operator()(ReadOp &op) {
    op.out.ref.stream = streams[op.out.ref.stream];
  }
  void operator()(WriteOp &op) {
    op.in.stream = uint8_t(streams[op.in.stream] + offset);
  }
  void operator()(LoadOp &op) {
    op.stream = streams[op.stream];
    op.base = uint16_t(op.base + base);
  }
  void operator()(InstallOp &op) { op.stream = streams[op.stream]; }
  void operator()(MatmulOp &op) {
    op.stream = streams[op.stream];
    op.base = uint16_t(op.base + base);
  }
  void operator()(VectorOp &op) {
    for (uint32_t k = 0; k < op.inputs; ++k) {
      op.in[k].stream = streams[op.in[k].stream];
    }
    for (uint32_t k = 0; k < op.outputs; ++k) {
      op.out[k].ref.stream = streams[op.out[k].ref.stream];
    }
  }
  void operator()(PermuteOp &op) {
    op.in.stream = streams[op.in.stream];
    op.out.ref.stream = streams[op.out.ref.stream];
  }
  void operator()(ReceiveOp &op) { op.stream = streams[op.stream]; }
  void operator()(SendOp &op) { op.stream = streams[op.stream]; }
  void operator()(FetchOp &) {} // no streams, and no part of a gang
};
} // namespace

std::vector<Instruction> instructionsOf(const Problem &problem,
                                        const Schedule &schedule,
                                        uint32_t index) {
  const Gang &gang = problem.gangs[index];
  uint32_t load = gang.loads != kNoLoad ? gang.loads : gang.uses;
  uint16_t base = load == kNoLoad ? 0 : schedule.entryBase[load];
  std::vector<Instruction> out;
  for (const Member &member : gang.members) {
    Instruction i{schedule.start[index] + member.offset, gang.location,
                  member.operation};
    std::visit(Resolve{schedule.streams[index], base, member.streamOffset},
               i.operation);
    out.push_back(std::move(i));
  }
  return out;
}

} // namespace orrery::schedule
