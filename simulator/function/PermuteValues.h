// What the SXM puts out: lanes moved inside each vector, or token vectors
// turned into columns.
#pragma once

#include "machine/Instruction.h"
#include "simulator/function/BufferPool.h"
#include "simulator/function/BurstValues.h"
#include "simulator/timing/StepRegisters.h"

namespace orrery::sim {

class LaneMapValues final : public BurstValues {
public:
  LaneMapValues(const PermuteOp &op, const std::vector<uint16_t> &map,
                Operands in, BufferPool &pool);
  void require(uint64_t vector, uint32_t stream) override;
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override;

private:
  const std::vector<uint16_t> &map;
  Operands in;
  uint64_t count, done = 0;
  size_t width;
  Buffer out; ///< [vector][stream][lane]
};

class TransposeValues final : public BurstValues {
public:
  TransposeValues(const PermuteOp &op, const StepRegisters &registers,
                  Operands in, BufferPool &pool);
  void require(uint64_t vector, uint32_t stream) override;
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override;

private:
  PermuteOp op;
  StepRegisters registers;
  Operands in;
  bool done = false;
  Buffer out; ///< [cycle][stream][lane]
};

} // namespace orrery::sim
