// llm.rope and llm.attention on one chip, one KV vector at a time.
//
// A KV vector (AxisLayout.h) holds one KV head a slot. K is cached as
// installable tiles whose rows are positions and whose lanes are the slots, V
// transposed: rows are the slots' elements, lanes are positions. Both are thus
// weights of the matrix unit and never copied.
//
//   scores    rows (k, g, t): the query of slot k alone in its lanes
//   max, exp  VXM, over the position tiles of a row
//   output    rows (k, g, t) of P.V; each keeps its own slot's lanes
#pragma once

#include "compiler/lower/FlowBuilder.h"

namespace orrery {

class AttentionLowering {
public:
  AttentionLowering(FlowBuilder &f, llm::AttentionOp op);
  mlir::LogicalResult run();

private:
  // Names and sizes of the row order (k, g, t) of KV vector v.
  int64_t rowsPerSlot() const { return f.tokens * group; }
  int64_t rowsOf(int32_t v) const { return q.slotsIn(v) * rowsPerSlot(); }

  // KV vectors of all layers take turns over hemispheres and planes.
  int32_t sideOf(int32_t v) const { return (v + layer) % 2; }
  int32_t planeOf(int32_t v) const {
    int32_t per = f.layout.planesPerHemisphere;
    return sideOf(v) * per + (half ? 0 : v / 2 % per);
  }

  mlir::LogicalResult verifyFits();
  void openCaches();
  void swapPairs();
  uint32_t rotated(VectorBurst &burst, mlir::Value x, mlir::Value swapped,
                   flow::AccessAttr read, flow::AccessAttr position);
  void appendKeys(int32_t v);
  void appendValues(int32_t v);
  void appendScales(int32_t v, bool keys);
  void attend();
  mlir::Value loadQueries(int32_t v);
  mlir::Value scores(int32_t v, mlir::Value loaded);
  uint32_t scaled(VectorBurst &burst, uint32_t s, uint32_t keyScale);
  mlir::Value maximum(int32_t v, mlir::Value s);
  void probabilities(int32_t v, mlir::Value s, mlir::Value max);
  mlir::Value weighted(int32_t v);
  void keepSlots(int32_t v, mlir::Value o);
  void packHeads(int32_t v, mlir::Value o);
  flow::AccessAttr byTile(int32_t v, int64_t tile, int64_t row, int64_t slot,
                          uint32_t offset = 0);

  FlowBuilder &f;
  mlir::OpBuilder &b;
  llm::AttentionOp op;
  llm::RopeOp ropeQ, ropeK;
  AxisLayout q, kv;
  int32_t group, slot, layer;
  int64_t tiles, allTiles;
  bool half;
  flow::StreamType element;
  mlir::Location location;
  llvm::SmallVector<mlir::Value> keys, values; ///< caches, one a KV vector
  mlir::Value keyScales, valueScales;
  mlir::Value xq, xk, xv, swappedQ, swappedK;
  // Per KV vector: probabilities on their way to P.V, and their sums.
  llvm::SmallVector<mlir::Value> weights, sums;
  Rows out;
};

} // namespace orrery
