#include "machine/InstructionCheck.h"

#include "machine/Timing.h"
#include "machine/Validate.h"

#include <algorithm>
#include <cstdlib>

namespace orrery {

namespace {

constexpr int64_t kMaxU32 = 0xffffffff;
/// Where counts that will be rejected stop growing.
constexpr uint64_t kMaxCount = uint64_t(1) << 62;
/// Streams of an f32 value.
constexpr int32_t kF32Streams = 4;
/// Streams of an activation row, A8 or F16.
constexpr int32_t kActivationStreams = 2;
constexpr int32_t kMaxElementBytes = 4;

int64_t last(auto enumerator) { return int64_t(enumerator); }

} // namespace

bool InstructionCheck::check(const Operation &operation, Tick issue) {
  tick = issue;
  return problem.within("tick", tick, 0, kMaxTick) &&
         std::visit([this](const auto &op) { return check(op); }, operation);
}

//===-- Parts of operations -----------------------------------------------===//

bool InstructionCheck::shape(const BurstShape &s) {
  auto vectors = int64_t(std::min(s.count(), kMaxCount));
  if (!problem.within("shape.length", s.length, 1, kMaxU32) ||
      !problem.within("shape.stride", s.stride, 1, kMaxU32) ||
      !problem.within("shape.runs", s.runs, 1, kMaxU32) ||
      !problem.within("shape: vectors", vectors, 1, kMaxU32)) {
    return false;
  }
  uint64_t run = uint64_t(s.length - 1) * s.stride;
  uint64_t runs = uint64_t(s.runs - 1) * s.period;
  if (run > kMaxTick || runs > kMaxTick) {
    return problem.fail("shape", "a burst within 2^48 ticks", "a longer one");
  }
  return s.runs == 1 ||
         problem.within("shape.period", s.period, int64_t(run) + 1, kMaxU32);
}

/// A wide burst issues at `tick` at its first slice, earlier or later at the
/// others.
bool InstructionCheck::slices(int32_t slice, int32_t width, int32_t bank,
                              Direction direction) {
  if (!problem.within("slice", slice, 0, geometry.slices() - 1) ||
      !problem.within("width", width, 1, geometry.slices() - slice) ||
      !problem.within("bank", bank, 0, machine.sram.banks - 1)) {
    return false;
  }
  Tick skew = geometry.ofSlice(slice + width - 1) - geometry.ofSlice(slice);
  return direction == Direction::East ||
         problem.within("tick at the last slice", tick - skew, 0, kMaxTick);
}

/// `furtherAddresses`: what the operation itself adds to an address at most.
bool InstructionCheck::address(const AddressPattern &a, uint64_t vectors,
                               int64_t furtherAddresses) {
  int64_t depth = machine.sram.vectorsPerBank;
  int64_t low = a.base;
  int64_t high = a.base + furtherAddresses;
  uint64_t count = 1;
  for (size_t k = 0; k < a.extent.size(); ++k) {
    int64_t reach = int64_t(a.step[k]) * (int64_t(a.extent[k]) - 1);
    count *= a.extent[k]; // fits: it was at most `vectors`, less than 2^32
    if (!problem.within("address.extent", a.extent[k], 1, kMaxU32) ||
        !problem.within("address.step * (extent - 1)", reach, -depth, depth) ||
        (count > vectors && !addressVectors(count, vectors))) {
      return false;
    }
    (reach < 0 ? low : high) += reach;
  }
  int64_t greatest = int64_t(program.bucket) - 1; // POS
  if (a.dynamic == Dynamic::Position) {
    high += greatest * a.dynamicStep;
  } else if (a.dynamic == Dynamic::Chunk) {
    high += greatest / machine.lanes * a.dynamicStep;
  }
  return addressVectors(count, vectors) &&
         problem.within("address.dynamic", last(a.dynamic), 0,
                        last(Dynamic::Chunk)) &&
         problem.within("address.dynamicStep", a.dynamicStep, 0,
                        a.dynamic == Dynamic::None ? 0 : kMaxU32) &&
         problem.within("least address", low, 0, depth - 1) &&
         problem.within("greatest address", high, 0, depth - 1);
}

/// A pattern has an address for each vector of the burst.
bool InstructionCheck::addressVectors(uint64_t count, uint64_t vectors) {
  return problem.within("address: vectors", int64_t(std::min(count, kMaxCount)),
                        int64_t(vectors), int64_t(vectors));
}

bool InstructionCheck::streams(int32_t first, int32_t count) {
  return problem.within("stream", first, 0,
                        machine.streamsPerDirection - count);
}

bool InstructionCheck::streams(const StreamRef &ref, int32_t count) {
  return problem.within("direction", last(ref.direction), 0,
                        last(Direction::West)) &&
         streams(ref.stream, count);
}

bool InstructionCheck::stop(Direction direction, Position producer,
                            Position stop) {
  return direction == Direction::East
             ? problem.within("stop", stop, producer + 1, geometry.ofHost())
             : problem.within("stop", stop, 0, producer - 1);
}

bool InstructionCheck::out(const StreamOut &out, int32_t count,
                           Position producer) {
  return streams(out.ref, count) && stop(out.ref.direction, producer, out.stop);
}

bool InstructionCheck::plane(int32_t plane, WeightFormat format) {
  return problem.within("plane", plane, 0, geometry.planes() - 1) &&
         problem.within("format", last(format), 0, last(WeightFormat::F16)) &&
         problem.require(format != WeightFormat::F16 ||
                             plane % geometry.planesPerHemisphere == 0,
                         "plane", "the first of its hemisphere for f16", plane);
}

bool InstructionCheck::columns(int32_t low, int32_t high, WeightFormat format) {
  bool scaled = format == WeightFormat::Q8 || format == WeightFormat::Q4;
  return problem.within("low", low, 0, machine.lanes - 1) &&
         problem.within("high", high, low + 1, machine.lanes) &&
         problem.require(!scaled || (high - low) % 16 == 0, "high - low",
                         "a multiple of 16 for q8 and q4", high - low);
}

//===-- MEM ---------------------------------------------------------------===//

bool InstructionCheck::check(const ReadOp &op) {
  if (!slices(op.slice, op.width, op.bank, op.out.ref.direction)) {
    return false;
  }
  bool east = op.out.ref.direction == Direction::East;
  Position furthest =
      geometry.ofSlice(east ? op.slice + op.width - 1 : op.slice);
  return shape(op.shape) && address(op.address, op.shape.count(), 0) &&
         out(op.out, op.width, furthest);
}

bool InstructionCheck::check(const WriteOp &op) {
  bool striped = op.stripeBytes > 0;
  bool ranged = op.mask == LaneMask::Range;
  if (!slices(op.slice, op.width, op.bank, op.in.direction) ||
      !problem.within("stripeBytes", op.stripeBytes, 0, kMaxElementBytes)) {
    return false;
  }
  int64_t stripe =
      striped ? int64_t(program.bucket - 1) / machine.lanes * op.stripeStep +
                    (int64_t(machine.lanes) * op.stripeBytes - 1) / op.width
              : 0;
  return shape(op.shape) && address(op.address, op.shape.count(), stripe) &&
         streams(op.in, striped ? op.stripeBytes : op.width) &&
         problem.within("mask", last(op.mask), 0, last(LaneMask::TokenSpan)) &&
         problem.within("low", op.low, 0, ranged ? machine.lanes - 1 : 0) &&
         problem.within("high", op.high, ranged ? op.low + 1 : 0,
                        ranged ? machine.lanes : 0) &&
         problem.within("tokenDimension", op.tokenDimension, 0, 2) &&
         problem.require(striped || op.stripeStep == 0, "stripeStep",
                         "0 without stripes", op.stripeStep) &&
         problem.require(!striped || ranged || op.mask == LaneMask::All, "mask",
                         "all or range with stripes", last(op.mask));
}

//===-- MXM ---------------------------------------------------------------===//

bool InstructionCheck::check(const LoadOp &op) {
  return problem.within("plane", op.plane, 0, geometry.planes() - 1) &&
         shape(op.shape) && streams(op.stream, kActivationStreams) &&
         problem.within("base + vectors",
                        int64_t(op.base) + int64_t(op.shape.count()), 1,
                        machine.matrix.activationVectors);
}

bool InstructionCheck::check(const InstallOp &op) {
  return plane(op.plane, op.format) && columns(op.low, op.high, op.format) &&
         problem.within("width", op.width, 1, machine.matrix.installStreams) &&
         streams(op.stream, op.width) && shape(op.shape) &&
         problem.within(
             "shape.length", op.shape.length,
             tileCycles(op.format, uint32_t(op.high - op.low), op.width),
             kMaxU32);
}

bool InstructionCheck::check(const MatmulOp &op) {
  if (!plane(op.plane, op.format) || !columns(op.low, op.high, op.format) ||
      !problem.within("tiles", op.tiles, 1, kMaxU32) ||
      !problem.within("inner", op.inner, 1, kMaxU32) ||
      !problem.within("rows", op.rows, 1, machine.matrix.activationVectors) ||
      !problem.within("base + inner * rows",
                      op.base + int64_t(op.inner) * op.rows, 1,
                      machine.matrix.activationVectors)) {
    return false;
  }
  // inner and rows are small now, so that products fit.
  bool once = op.tiles == 1 && op.inner == 1;
  int64_t pass = int64_t(op.rows) * matmulTicksPerRow(machine, op.format);
  int64_t tile = int64_t(op.inner) * op.period;
  return problem.within("period", op.period, once ? 0 : pass, kMaxU32) &&
         problem.within("inner * period", tile, 0, kMaxU32) &&
         problem.within("tiles * rows", int64_t(op.tiles) * op.rows, 1,
                        kMaxU32) &&
         problem.require(uint64_t(op.tiles) * uint64_t(tile) <= kMaxTick,
                         "tiles * inner * period", "at most 2^48 ticks",
                         op.tiles) &&
         streams(op.stream, streamsOf(op.result())) &&
         stop(inward(geometry.hemisphereOfPlane(op.plane)),
              geometry.ofPlane(op.plane), op.stop);
}

//===-- VXM ---------------------------------------------------------------===//

bool InstructionCheck::check(const VectorOp &op) {
  auto programs = int64_t(program.vectorPrograms.size());
  if (!problem.within("program", op.program, 0, programs - 1)) {
    return false;
  }
  const VectorProgram &run = program.vectorPrograms[op.program];
  auto interval = int64_t(vectorInterval(machine, run));
  auto inputs = int64_t(run.inputs.size());
  auto outputs = int64_t(run.outputs.size());
  return problem.within("count", op.count, 1, kMaxU32) &&
         problem.within("count modulo group", op.count % run.group, 0, 0) &&
         problem.within("interval * group", interval * run.group, 1, kMaxU32) &&
         problem.within("inputs", op.inputs, inputs, inputs) &&
         problem.within("outputs", op.outputs, outputs, outputs) &&
         vectorRefs(op, run) && splats(op, run);
}

bool InstructionCheck::vectorRefs(const VectorOp &op,
                                  const VectorProgram &run) {
  for (size_t i = 0; i < op.in.size(); ++i) {
    bool used = i < run.inputs.size();
    if (used ? !streams(op.in[i], streamsOf(run.inputs[i]))
             : !problem.require(op.in[i] == StreamRef(), "in",
                                "the default in unused entries", int64_t(i))) {
      return false;
    }
  }
  for (size_t i = 0; i < op.out.size(); ++i) {
    bool used = i < run.outputs.size();
    if (used ? !out(op.out[i], streamsOf(run.outputs[i].type), geometry.ofVxm())
             : !problem.require(op.out[i] == StreamOut(), "out",
                                "the default in unused entries", int64_t(i))) {
      return false;
    }
  }
  return true;
}

/// The lane that a Splat takes must exist for every vector of the burst.
bool InstructionCheck::splats(const VectorOp &op, const VectorProgram &run) {
  return std::ranges::all_of(run.steps, [&](const AluStep &step) {
    int64_t tile = std::min<int64_t>(step.tile.modulo - 1,
                                     (op.count - 1) / step.tile.divide);
    return step.op != AluOp::Splat ||
           problem.within("lane of splat", step.width * tile, 0,
                          machine.lanes - 1);
  });
}

//===-- SXM, links, ICU ---------------------------------------------------===//

bool InstructionCheck::check(const PermuteOp &op) {
  if (!problem.within("sxm", op.sxm, 0, 1) ||
      !problem.within("kind", last(op.kind), 0, last(PermuteKind::Transpose)) ||
      !problem.within("width", op.width, 1, machine.streamsPerDirection) ||
      !streams(op.in, op.width)) {
    return false;
  }
  if (op.kind == PermuteKind::Transpose) {
    return transpose(op);
  }
  auto maps = int64_t(program.laneMaps.size());
  return problem.within("map", op.map, 0, maps - 1) &&
         problem.within("rows", op.rows, 0, 0) &&
         problem.within("count", op.count, 1, kMaxU32) &&
         problem.require(op.outWidth == 1 || op.outWidth == op.width,
                         "outWidth", "1 or the width of a lane map",
                         op.outWidth) &&
         out(op.out, op.width, geometry.ofSxm(op.sxm));
}

bool InstructionCheck::transpose(const PermuteOp &op) {
  return problem.within("map", op.map, 0, 0) &&
         problem.within("width", op.width, 1, kMaxElementBytes) &&
         problem.within("rows", op.rows, 1, machine.lanes) &&
         problem.within("count", op.count, 1, machine.lanes) &&
         problem.within("outWidth", op.outWidth, 1,
                        machine.streamsPerDirection) &&
         out(op.out, op.outWidth, geometry.ofSxm(op.sxm));
}

bool InstructionCheck::check(const ReceiveOp &op) {
  return link(op.link, op.width) && shape(op.shape) &&
         streams(op.stream, op.width) &&
         stop(Direction::West, geometry.ofHost(), op.stop) &&
         (op.link == kHostLink
              ? problem.within("vectors", int64_t(op.shape.count()), 1,
                               int64_t(program.tokens) * program.inputVectors)
              : inBuffer(op.shape, op.width));
}

bool InstructionCheck::check(const SendOp &op) {
  return link(op.link, op.width) && shape(op.shape) &&
         streams(op.stream, op.width) &&
         (op.link == kHostLink || inBuffer(op.shape, op.width));
}

bool InstructionCheck::check(const FetchOp &op) {
  return problem.within("target: kind", last(op.target.kind), 0,
                        last(QueueId::Kind::Fetch)) &&
         problem.within("target: index", op.target.index, 0,
                        queuesOf(op.target.kind) - 1) &&
         problem.within("slice", op.slice, 0, geometry.slices() - 1) &&
         problem.within("bank", op.bank, 0, machine.sram.banks - 1) &&
         problem.within("address", op.address, 0,
                        machine.sram.vectorsPerBank - machine.fetchVectors);
}

int32_t InstructionCheck::queuesOf(QueueId::Kind kind) const {
  switch (kind) {
  case QueueId::Kind::Read:
  case QueueId::Kind::Write:
    return geometry.slices();
  case QueueId::Kind::Load:
  case QueueId::Kind::Install:
  case QueueId::Kind::Matmul:
    return geometry.planes();
  case QueueId::Kind::Permute:
    return 2;
  case QueueId::Kind::Receive:
  case QueueId::Kind::Send:
    return 1 + machine.link.ports;
  case QueueId::Kind::Vector:
  case QueueId::Kind::Fetch:
    return 1;
  }
  return 0;
}

/// A burst is at most what the buffer of a link holds; so the arrivals of one
/// burst stay a short list.
bool InstructionCheck::inBuffer(const BurstShape &s, int32_t width) {
  return problem.within("vectors", int64_t(s.count()), 1,
                        machine.link.bufferVectors / width);
}

bool InstructionCheck::link(int32_t number, int32_t width) {
  return problem.within("link", number, 0, machine.link.ports) &&
         (number == kHostLink ? problem.within("streams of the host link",
                                               width, kF32Streams, kF32Streams)
                              : problem.within("streams of a link", width, 1,
                                               machine.streamsPerDirection));
}

} // namespace orrery
