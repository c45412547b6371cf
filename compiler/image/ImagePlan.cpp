#include "compiler/image/ImagePlan.h"

namespace orrery {

static TileFill tileFill(flow::RegionOp op, int32_t lanes) {
  auto type = mlir::cast<flow::TilesType>(op.getMemory().getType());
  TileFill fill;
  fill.tensor = op.getName().str();
  fill.place = op.getPlaceAttr();
  fill.rows = AxisLayout::of(op.getRowsAttr(), lanes);
  fill.columns = AxisLayout::of(op.getColumnsAttr(), lanes);
  fill.format = flow::machineFormat(type.getFormat());
  fill.tiles = type.getTiles();
  fill.rowsPerTile = type.getRows();
  fill.width = type.getWidth();
  fill.first = uint32_t(op.getFirst());
  fill.low = uint32_t(op.getLow());
  fill.shardOf = uint32_t(op.getShardOf());
  fill.replicas = uint32_t(op.getReplicas());
  fill.columnsOf = uint32_t(op.getColumnsOf());
  fill.behind = uint32_t(op.getBehind());
  fill.ofRanks = uint32_t(op.getOfRanks());
  return fill;
}

static TableFill tableFill(flow::RegionOp op, int32_t lanes) {
  auto type = mlir::cast<flow::BufferType>(op.getMemory().getType());
  TableFill fill;
  fill.tensor = op.getName().str();
  fill.place = op.getPlaceAttr();
  fill.rows = AxisLayout::of(op.getRowsAttr(), lanes);
  fill.vectors = type.getVectors();
  fill.shardOf = uint32_t(op.getShardOf());
  return fill;
}

static HostRows hostRows(flow::ReceiveOp op, int32_t lanes) {
  HostRows out{HostRows::Kind::Embedding,
               AxisLayout::of(op.getRowsAttr(), lanes)};
  if (op.getRope()) {
    out.kind =
        *op.getRope() == "cos" ? HostRows::Kind::Cosine : HostRows::Kind::Sine;
    out.ropeTheta = op.getRopeTheta()->convertToDouble();
    out.ropeDim = int32_t(op.getRopeDim());
    out.ropeHalf = op.getRopeHalf();
  }
  return out;
}

ImagePlan imagePlan(flow::ProgramOp program, const Machine &machine) {
  ImagePlan plan;
  for (auto op : program.getBody().front().getOps<flow::RegionOp>()) {
    if (op.getKind() == flow::Kind::Weight) {
      plan.tiles.push_back(tileFill(op, machine.lanes));
    } else if (op.getKind() == flow::Kind::Table) {
      plan.tables.push_back(tableFill(op, machine.lanes));
    }
  }
  for (auto op : program.getBody().front().getOps<flow::ReceiveOp>()) {
    plan.host.push_back(hostRows(op, machine.lanes));
  }
  return plan;
}

} // namespace orrery
