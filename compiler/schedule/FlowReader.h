// The reader of flow.programs: one function a flow op makes its gang.
#pragma once

#include "compiler/schedule/GangBuilder.h"
#include "compiler/schedule/ReadFlow.h"

namespace orrery::schedule {

class FlowReader {
public:
  FlowReader(FlowProblem &out, const Machine &machine)
      : out(out), m(machine), g(machine.geometry()) {}

  mlir::LogicalResult read(mlir::Operation *op);

private:
  // ReadFlow.cpp
  mlir::LogicalResult memory(mlir::Operation *op, mlir::Value value,
                             llvm::StringRef name, RegionKind kind,
                             flow::PlaceAttr place);
  mlir::LogicalResult readReceive(flow::ReceiveOp op);
  mlir::LogicalResult readSend(flow::SendOp op);
  mlir::LogicalResult readLogits(flow::LogitsOp op);

  // ReadVector.cpp
  mlir::LogicalResult readVector(flow::VectorOp op);
  mlir::LogicalResult drive(flow::VectorOp op, const VectorProgram &program,
                            size_t index, VectorOp &vector, GangBuilder &b);
  uint16_t programIndex(VectorProgram program);

  // ReadMatrix.cpp
  mlir::LogicalResult readLoad(flow::LoadOp op);
  mlir::LogicalResult readMatmul(flow::MatmulOp op);
  mlir::LogicalResult verifyPlane(flow::MatmulOp op, flow::LoadOp load) const;
  void install(flow::MatmulOp op, uint32_t passes, uint32_t perTile,
               GangBuilder &b);
  uint32_t period(uint32_t cycles, uint32_t rows, uint32_t perRow) const;

  // ReadSwitch.cpp
  mlir::LogicalResult readPermute(flow::PermuteOp op);
  mlir::LogicalResult readTranspose(flow::TransposeOp op);
  uint16_t mapIndex(llvm::ArrayRef<int32_t> map);

  // ReadLinks.cpp
  mlir::LogicalResult readLinkSend(flow::LinkSendOp op);
  mlir::LogicalResult readLinkReceive(flow::LinkReceiveOp op);
  void receivePart(flow::LinkReceiveOp op, uint32_t part, uint32_t parts,
                   GangBuilder &b);

  GangBuilder gang(mlir::Operation *op) {
    if (out.locations.empty() || out.locations.back() != op->getLoc()) {
      out.locations.push_back(op->getLoc());
    }
    return GangBuilder(m, uint32_t(out.locations.size() - 1));
  }
  Direction outwardOf(int32_t side) const {
    return outward(side == 0 ? Hemisphere::West : Hemisphere::East);
  }

  FlowProblem &out;
  const Machine &m;
  Geometry g;
  llvm::DenseMap<mlir::Value, Home> homes;
  llvm::DenseMap<mlir::Value, uint32_t> loads;
  uint32_t temporaries = 0;
};

/// Lanes and stripe of a write; its place and streams are still to be filled.
WriteOp formOf(flow::AccessAttr access);

} // namespace orrery::schedule
