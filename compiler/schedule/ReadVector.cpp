// VXM bursts: operands meet at the unit, outputs leave for their buffers.
#include "compiler/schedule/FlowReader.h"

#include "machine/Timing.h"

#include <algorithm>

using namespace mlir;

namespace orrery::schedule {

uint16_t FlowReader::programIndex(VectorProgram program) {
  auto &all = out.problem.vectorPrograms;
  auto found = std::find(all.begin(), all.end(), program);
  if (found == all.end()) {
    all.push_back(std::move(program));
    return uint16_t(all.size() - 1);
  }
  return uint16_t(found - all.begin());
}

// Output `index` leaves towards the hemisphere of its buffers and is written to
// each of them as it passes.
LogicalResult FlowReader::drive(flow::VectorOp op, const VectorProgram &program,
                                size_t index, VectorOp &vector,
                                GangBuilder &b) {
  const VectorOutput &output = program.outputs[index];
  auto writes = llvm::to_vector(op.getWrites().getAsRange<flow::AccessAttr>());
  std::optional<uint8_t> group;
  for (auto [to, route] : llvm::enumerate(op.getRoutes())) {
    if (size_t(route) != index) {
      continue;
    }
    const Home &home = homes[op.getOuts()[to]];
    Direction away = outward(g.hemisphereOfSlice(int32_t(home.slice)));
    if (!group) {
      group = b.drive(away, uint32_t(streamsOf(output.type)),
                      vectorOutputStart(m, program, output),
                      vectorOutputShape(m, program, output, vector.count),
                      g.ofVxm());
    } else if (b.in(*group).direction != away) {
      return op.emitOpError("writes one output to both hemispheres");
    }
    b.write(*group, home, flow::addressPattern(writes[to], home.base),
            formOf(writes[to]), output.type);
  }
  // flow.vector (C4): every output has a route.
  vector.out[vector.outputs++] = b.out(*group);
  return success();
}

LogicalResult FlowReader::readVector(flow::VectorOp op) {
  VectorProgram program = op.program();
  auto count = uint32_t(op.getCount());
  GangBuilder b = gang(op);
  VectorOp vector;
  vector.count = count;
  Position vxm = g.ofVxm();
  for (auto [input, read] : llvm::zip_equal(
           op.getInputs(), op.getReads().getAsRange<flow::AccessAttr>())) {
    const Home &home = homes[input];
    uint8_t group = b.read(home, flow::addressPattern(read, home.base),
                           vectorInputShape(m, program, count),
                           b.towards(home.slice, vxm), vxm, vxm);
    vector.in[vector.inputs++] = b.in(group);
  }
  for (size_t index = 0; index < program.outputs.size(); ++index) {
    if (failed(drive(op, program, index, vector, b))) {
      return failure();
    }
  }
  vector.program = programIndex(std::move(program));
  b.add(0, vector);
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

} // namespace orrery::schedule
