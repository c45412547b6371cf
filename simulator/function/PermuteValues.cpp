#include "simulator/function/PermuteValues.h"

#include <cstring>

namespace orrery::sim {

LaneMapValues::LaneMapValues(const PermuteOp &op,
                             const std::vector<uint16_t> &map, Operands in,
                             BufferPool &pool)
    : map(map), in(std::move(in)), count(op.count), width(op.width),
      out(pool.take(count * width * map.size())) {}

void LaneMapValues::require(uint64_t vector, uint32_t) {
  for (; done <= vector; ++done) {
    uint8_t *to = out.data() + done * width * map.size();
    for (const Operand &operand : in) {
      operand.require(done);
      const uint8_t *from = operand.plane(done);
      for (size_t lane = 0; lane < map.size(); ++lane) {
        to[lane] = map[lane] == 0xffff ? 0 : from[map[lane]];
      }
      to += map.size();
    }
  }
  if (done == count) {
    in.clear();
  }
}

const uint8_t *LaneMapValues::plane(uint64_t vector, uint32_t stream) const {
  return out.data() + (vector * width + stream) * map.size();
}

TransposeValues::TransposeValues(const PermuteOp &op,
                                 const StepRegisters &registers, Operands in,
                                 BufferPool &pool)
    : op(op), registers(registers), in(std::move(in)) {
  size_t vectors = size_t(op.rows) * op.width;
  vectors = (vectors + op.outWidth - 1) / op.outWidth * op.outWidth;
  out = pool.take(vectors * registers.lanes);
  std::memset(out.data(), 0, vectors * registers.lanes);
}

void TransposeValues::require(uint64_t, uint32_t) {
  if (done) {
    return;
  }
  done = true;
  for (uint32_t token = 0; token < op.count; ++token) {
    uint32_t lane = (registers.position + token) % registers.lanes;
    for (uint32_t byte = 0; byte < op.width; ++byte) {
      in[byte].require(token);
      const uint8_t *from = in[byte].plane(token);
      for (uint32_t row = 0; row < op.rows; ++row) {
        size_t plane = size_t(row) * op.width + byte;
        out.data()[plane * registers.lanes + lane] = from[row];
      }
    }
  }
  in.clear();
}

const uint8_t *TransposeValues::plane(uint64_t vector, uint32_t stream) const {
  return out.data() + (vector * op.outWidth + stream) * registers.lanes;
}

} // namespace orrery::sim
