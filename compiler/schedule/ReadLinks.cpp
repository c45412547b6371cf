// Links to other chips: buffers to the port at the east edge, and back.
//
// a8 travels as two bursts, codes and then scales: on arrival they may have to
// move by different ways, and an SXM moves one burst at a time.
#include "compiler/schedule/FlowReader.h"

#include "machine/Timing.h"

using namespace mlir;

namespace orrery::schedule {

// Bytes of the scale of one block beside the 32 of its codes.
constexpr int32_t kLanesPerScaleByte = 8;

static uint32_t partsOf(Value buffer) {
  auto type = cast<flow::BufferType>(buffer.getType()).getType();
  return type == flow::StreamType::A8 ? 2 : 1;
}

static Home partOf(Home home, uint32_t part, uint32_t parts) {
  if (parts > 1) {
    home.slice += part;
    home.width = 1;
  }
  return home;
}

LogicalResult FlowReader::readLinkSend(flow::LinkSendOp op) {
  uint32_t parts = partsOf(op.getInput());
  auto count = uint32_t(flow::vectorCount(op.getRead()));
  BurstShape shape{count, 1, 1, 0};
  GangBuilder b = gang(op);
  for (uint32_t part = 0; part < parts; ++part) {
    Home home = partOf(homes[op.getInput()], part, parts);
    Tick at = Tick(part) * count;
    uint8_t group = b.read(home, flow::addressPattern(op.getRead(), home.base),
                           shape, Direction::East, g.ofHost(), g.ofHost(), at);
    for (int32_t link : op.getLinks()) {
      b.add(at, SendOp{group, shape, LinkNumber(link), uint8_t(home.width)});
    }
  }
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

// Lanes [from, from + lanes) to `to`; all others zero.
static std::vector<int32_t> shiftMap(int32_t size, int32_t from, int32_t to,
                                     int32_t lanes) {
  std::vector<int32_t> map(size_t(size), -1);
  for (int32_t l = 0; l < lanes; ++l) {
    map[size_t(to + l)] = from + l;
  }
  return map;
}

void FlowReader::receivePart(flow::LinkReceiveOp op, uint32_t part,
                             uint32_t parts, GangBuilder &b) {
  auto writes = llvm::to_vector(op.getWrites().getAsRange<flow::AccessAttr>());
  auto count = uint32_t(flow::vectorCount(writes.front()));
  uint8_t width =
      uint8_t(partOf(homes[op.getOuts().front()], part, parts).width);
  Tick at = Tick(part) * count;
  BurstShape shape{count, 1, 1, 0};
  uint8_t arriving = b.drive(Direction::West, width, at, shape, g.ofHost());
  uint8_t placed = arriving;
  PermuteOp permute;
  Tick moves = 0;
  if (op.getLanes() > 0) {
    int32_t unit = part == 1 ? kLanesPerScaleByte : 1;
    Position sxm = g.ofSxm(1);
    b.reach(arriving, sxm);
    moves = b.passing(arriving, sxm);
    permute.sxm = 1;
    permute.map = mapIndex(shiftMap(m.lanes, op.getFrom() / unit,
                                    op.getTo() / unit, op.getLanes() / unit));
    permute.width = permute.outWidth = width;
    permute.count = count;
    permute.in = b.in(arriving);
    placed = b.drive(Direction::West, width,
                     moves + permuteOutputStart(m, permute), shape, sxm);
  }
  for (auto [to, write] : llvm::zip_equal(op.getOuts(), writes)) {
    WriteOp form = formOf(write);
    if (part == 1 && form.mask == LaneMask::Range) {
      form.low = uint16_t(form.low / kLanesPerScaleByte);
      form.high = form.high == m.lanes
                      ? form.high
                      : uint16_t(form.high / kLanesPerScaleByte);
    }
    Home home = partOf(homes[to], part, parts);
    b.write(placed, home, flow::addressPattern(write, home.base), form);
  }
  b.add(at, ReceiveOp{arriving, b.stopOf(arriving), shape,
                      LinkNumber(op.getLink()), width});
  if (op.getLanes() > 0) {
    permute.out = b.out(placed);
    b.add(moves, permute);
  }
}

LogicalResult FlowReader::readLinkReceive(flow::LinkReceiveOp op) {
  uint32_t parts = partsOf(op.getOuts().front());
  if (op.getFrom() + op.getLanes() > m.lanes ||
      op.getTo() + op.getLanes() > m.lanes) {
    return op.emitOpError("moves lanes past the chip's ") << m.lanes;
  }
  GangBuilder b = gang(op);
  for (uint32_t part = 0; part < parts; ++part) {
    receivePart(op, part, parts, b);
  }
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

} // namespace orrery::schedule
