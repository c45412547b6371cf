// The body of one stage: what each of its ranks does, op by op.
//
// A product takes the whole row and gives the rank's own shard of the result
// (column-parallel), or takes the own shard and gives a partial of the whole,
// which is added at once (row-parallel). Where an op needs a whole row of which
// there are shards, they are gathered, once.
#pragma once

#include "compiler/partition/ProductForms.h"
#include "dialects/grid/Grid.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace orrery::partition {

/// The form of a product whose rows ranks have shards of; null: all Column.
using FormOf = std::function<ProductForm(llm::LinearOp)>;

class RankBuilder {
public:
  /// Appends to `block`, which need not be anywhere. One rank: ops stay as they
  /// are.
  RankBuilder(mlir::MLIRContext *context, mlir::Block &block, int64_t tp,
              FormOf formOf = {});

  /// `value` is defined outside and the same on all ranks.
  void enterWhole(mlir::Value value);
  /// The stage before has passed on `value` as `given`.
  void enterFromStage(mlir::Value value, mlir::Value given);
  /// Appends what ranks do for `op`; for the sum that a stage passes on, only
  /// the own shard of it. Fails with a diagnostic on the op.
  mlir::LogicalResult add(mlir::Operation *op, bool passedOn);
  /// What the next stage gets of `value`: the own shard.
  mlir::Value passOn(mlir::Value value);
  /// What the step returns of `value`: a shard of it, or all when every rank
  /// has all. `shard` is set accordingly.
  mlir::Value result(mlir::Value value, grid::ShardAttr &shard);

private:
  /// A value of the step, as ranks hold it. Either may be null.
  struct Held {
    mlir::Value whole, shard;
    bool heads = false; ///< shards are attention heads
  };

  mlir::Value whole(mlir::Value value);
  mlir::Value ownShard(mlir::Value value);
  bool onlyShard(mlir::Value value) const;
  void keep(mlir::Operation *op, mlir::Operation *made, bool shard,
            bool heads = false);
  mlir::LogicalResult addLinear(llm::LinearOp op);
  mlir::LogicalResult addPartial(llm::LinearOp op, ProductForm form);
  mlir::LogicalResult addRope(llm::RopeOp op);
  mlir::LogicalResult addAttention(llm::AttentionOp op);
  mlir::LogicalResult addGated(llm::GatedOp op);
  mlir::LogicalResult addSum(llm::AddOp op, bool passedOn);
  mlir::LogicalResult addArgmax(llm::ArgmaxOp op);
  /// The op with every operand whole.
  mlir::LogicalResult addWhole(mlir::Operation *op);

  mlir::OpBuilder b;
  int64_t tp;
  FormOf formOf;
  llvm::DenseMap<mlir::Value, Held> held;
};

} // namespace orrery::partition
