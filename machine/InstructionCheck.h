// validateProgram's part for one instruction.
#pragma once

#include "machine/FirstProblem.h"
#include "machine/Program.h"

namespace orrery {

/// Checks instructions of `program`, whose header and tables were found valid.
class InstructionCheck {
public:
  InstructionCheck(const Program &program, const Machine &machine,
                   FirstProblem &problem)
      : program(program), machine(machine), geometry(machine.geometry()),
        problem(problem) {}

  /// Whether the operation, issued at `tick`, is valid; else `problem` says
  /// why.
  bool check(const Operation &operation, Tick tick);

private:
  bool check(const ReadOp &op);
  bool check(const WriteOp &op);
  bool check(const LoadOp &op);
  bool check(const InstallOp &op);
  bool check(const MatmulOp &op);
  bool check(const VectorOp &op);
  bool check(const PermuteOp &op);
  bool check(const ReceiveOp &op);
  bool check(const SendOp &op);
  bool check(const FetchOp &op);

  bool shape(const BurstShape &shape);
  bool slices(int32_t slice, int32_t width, int32_t bank, Direction direction);
  bool address(const AddressPattern &address, uint64_t vectors,
               int64_t furtherAddresses);
  bool addressVectors(uint64_t count, uint64_t vectors);
  bool streams(int32_t first, int32_t count);
  bool link(int32_t number, int32_t width);
  int32_t queuesOf(QueueId::Kind kind) const;
  bool inBuffer(const BurstShape &shape, int32_t width);
  bool streams(const StreamRef &ref, int32_t count);
  bool stop(Direction direction, Position producer, Position stop);
  bool out(const StreamOut &out, int32_t count, Position producer);
  bool plane(int32_t plane, WeightFormat format);
  bool columns(int32_t low, int32_t high, WeightFormat format);
  bool vectorRefs(const VectorOp &op, const VectorProgram &vectorProgram);
  bool splats(const VectorOp &op, const VectorProgram &vectorProgram);
  bool transpose(const PermuteOp &op);

  const Program &program;
  const Machine &machine;
  Geometry geometry;
  FirstProblem &problem;
  Tick tick = 0;
};

} // namespace orrery
