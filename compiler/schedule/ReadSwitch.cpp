// SXM: lane maps, and the transpose that appends V.
#include "compiler/schedule/FlowReader.h"

#include "machine/Timing.h"

#include <algorithm>

using namespace mlir;

namespace orrery::schedule {

uint16_t FlowReader::mapIndex(ArrayRef<int32_t> map) {
  std::vector<uint16_t> lanes;
  for (int32_t lane : map) {
    lanes.push_back(lane < 0 ? 0xffff : uint16_t(lane));
  }
  auto found = std::find(out.laneMaps.begin(), out.laneMaps.end(), lanes);
  if (found == out.laneMaps.end()) {
    out.laneMaps.push_back(std::move(lanes));
    return uint16_t(out.laneMaps.size() - 1);
  }
  return uint16_t(found - out.laneMaps.begin());
}

LogicalResult FlowReader::readPermute(flow::PermuteOp op) {
  const Home &home = homes[op.getInput()];
  auto type = cast<flow::BufferType>(op.getInput().getType()).getType();
  auto width = uint8_t(streamsOf(flow::machineType(type)));
  auto count = uint32_t(flow::vectorCount(op.getRead()));
  GangBuilder b = gang(op);
  Position sxm = g.ofSxm(op.getSide());
  PermuteOp permute;
  permute.sxm = uint8_t(op.getSide());
  permute.map = mapIndex(op.getMap());
  permute.width = permute.outWidth = width;
  permute.count = count;
  permute.in =
      b.in(b.read(home, flow::addressPattern(op.getRead(), home.base),
                  {count, 1, 1, 0}, outwardOf(op.getSide()), sxm, sxm));
  uint8_t moved =
      b.drive(opposite(outwardOf(op.getSide())), width,
              permuteOutputStart(m, permute), permuteOutputShape(permute), sxm);
  for (auto [to, write] : llvm::zip_equal(
           op.getOuts(), op.getWrites().getAsRange<flow::AccessAttr>())) {
    b.write(moved, homes[to], flow::addressPattern(write, homes[to].base),
            formOf(write));
  }
  permute.out = b.out(moved);
  b.add(0, permute);
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult FlowReader::readTranspose(flow::TransposeOp op) {
  const Home &home = homes[op.getInput()], &to = homes[op.getOut()];
  auto tiles = cast<flow::TilesType>(op.getOut().getType());
  auto type = cast<flow::BufferType>(op.getInput().getType()).getType();
  auto count = uint32_t(op.getTokens());
  GangBuilder b = gang(op);
  Position sxm = g.ofSxm(op.getSide());
  PermuteOp permute;
  permute.sxm = uint8_t(op.getSide());
  permute.kind = PermuteKind::Transpose;
  permute.width = uint8_t(streamsOf(flow::machineType(type)));
  permute.outWidth = uint8_t(tiles.getWidth());
  permute.rows = uint16_t(op.getRows());
  permute.count = count;
  permute.in =
      b.in(b.read(home, flow::addressPattern(op.getRead(), home.base),
                  {count, 1, 1, 0}, outwardOf(op.getSide()), sxm, sxm));
  BurstShape shape = permuteOutputShape(permute);
  uint8_t columns = b.drive(opposite(outwardOf(op.getSide())), permute.outWidth,
                            permuteOutputStart(m, permute), shape, sxm);
  AddressPattern address;
  address.base = to.base;
  address.extent[0] = shape.length;
  address.step[0] = 1;
  address.dynamic = Dynamic::Chunk;
  address.dynamicStep = shape.length;
  WriteOp form;
  form.mask = LaneMask::TokenSpan;
  b.write(columns, to, address, form);
  permute.out = b.out(columns);
  b.add(0, permute);
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

} // namespace orrery::schedule
