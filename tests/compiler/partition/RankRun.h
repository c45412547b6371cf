// Runs a step that is split into grid.stages, all ranks of it, on the host:
// what GridCollectives.td says, with the arithmetic of dialects/llm/Evaluate.h.
#pragma once

#include "dialects/grid/Grid.h"
#include "dialects/llm/Evaluate.h"
#include "dialects/llm/WeightCache.h"
#include "machine/kernels/Activations.h"
#include "machine/kernels/Gemv.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "gtest/gtest.h"

#include <deque>

namespace orrery::partition {

class RankRun {
public:
  /// `weights` and `step` must outlive it.
  RankRun(mlir::func::FuncOp step, const models::WeightSource &weights)
      : step(step), weights(weights) {}

  struct Output {
    llm::Tensor logits; ///< [tokens, vocab], of all ranks
    std::vector<int32_t> next;
  };
  Output run(const std::vector<int32_t> &tokens, int64_t at);

private:
  using Tensor = llm::Tensor;
  /// By rank.
  using Ranks = std::vector<Tensor>;

  Tensor compute(mlir::Operation *op, size_t rank);
  Tensor product(llm::LinearOp op, size_t rank);
  std::vector<int64_t> partial(llm::LinearOp op, size_t rank);
  Tensor sum(mlir::Value partial, size_t rank);
  Tensor attend(llm::AttentionOp op, size_t rank);
  const Tensor &rows(mlir::Value value, size_t rank) {
    auto found = held.find(value);
    EXPECT_NE(found, held.end()) << "a value no rank has";
    return found->second.at(rank);
  }
  static Tensor cut(const Tensor &whole, int64_t first, int64_t width);
  static Tensor joined(const Ranks &shards, int64_t width);

  mlir::func::FuncOp step;
  llm::WeightCache weights;
  std::map<std::pair<int64_t, size_t>, llm::LayerCache> caches;
  /// Accumulators, [T, N] by rank, of partials.
  llvm::DenseMap<mlir::Value, std::vector<std::vector<int64_t>>> partials;
  std::vector<int32_t> ids;
  int64_t position = 0;
  size_t tp = 1;
  llvm::DenseMap<mlir::Value, Ranks> held;
};

/// Elements [first, first + width), zeros where there are none.
inline llm::Tensor RankRun::cut(const Tensor &whole, int64_t first,
                                int64_t width) {
  Tensor out(whole.rows, width);
  for (int64_t t = 0; t < whole.rows; ++t) {
    for (int64_t i = 0; i < width && first + i < whole.width; ++i) {
      out.row(t)[size_t(i)] = whole.row(t)[size_t(first + i)];
    }
  }
  return out;
}

inline llm::Tensor RankRun::joined(const Ranks &shards, int64_t width) {
  Tensor out(shards.front().rows, width);
  int64_t each = shards.front().width;
  for (int64_t t = 0; t < out.rows; ++t) {
    for (int64_t i = 0; i < width; ++i) {
      out.row(t)[size_t(i)] =
          shards.at(size_t(i / each)).row(t)[size_t(i % each)];
    }
  }
  return out;
}

inline llm::Tensor RankRun::product(llm::LinearOp op, size_t rank) {
  const Tensor &x = rows(op.getX(), rank);
  grid::ShardAttr shard = grid::shardOf(op);
  int64_t own = op.getResult().getType().getDimSize(1);
  auto matrix = weights.matrix(op.getWeight().str(), op.getFormat(),
                               shard ? shard.getOf() : own, x.width);
  EXPECT_TRUE(matrix) << matrix.error().message;
  Tensor all = llm::evaluate(op, x, *matrix);
  return shard ? cut(all, int64_t(rank) / shard.getReplicas() * own, own) : all;
}

/// The own columns are those that the rows are not zero in: a block of zeros
/// adds nothing to an exact sum.
inline std::vector<int64_t> RankRun::partial(llm::LinearOp op, size_t rank) {
  const Tensor &x = rows(op.getX(), rank);
  grid::ShardAttr shard = grid::columnsOf(op);
  Tensor all(x.rows, shard.getOf());
  int64_t first = int64_t(rank) * shard.getElements();
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t i = 0; i < x.width && first + i < all.width; ++i) {
      all.row(t)[size_t(first + i)] = x.row(t)[size_t(i)];
    }
  }
  int64_t width = op.getResult().getType().getDimSize(1);
  auto matrix = weights.matrix(op.getWeight().str(), op.getFormat(), width,
                               shard.getOf());
  EXPECT_TRUE(matrix) << matrix.error().message;
  std::vector<int64_t> sums(size_t(x.rows * width));
  bool inRange = true;
  if (op.getFormat() == llm::WeightFormat::F16) {
    std::ranges::transform(all.values, all.values.begin(),
                           numerics::roundToHalf);
    inRange = numerics::gemvHalf(
        *matrix, {all.rows, all.width, all.values.data(), all.width},
        sums.data(), width);
  } else {
    numerics::A8Matrix codes(all.rows, all.width);
    EXPECT_TRUE(codes.quantize(all.values.data(), all.width));
    inRange = numerics::gemvExact(*matrix, codes.view(), sums.data(), width);
  }
  EXPECT_TRUE(inRange);
  return sums;
}

/// What all ranks have, the own one first.
inline llm::Tensor RankRun::sum(mlir::Value partial, size_t rank) {
  const auto &parts = partials[partial];
  std::vector<int64_t> sums(parts.front().size());
  for (size_t k = 0; k < parts.size(); ++k) {
    for (size_t i = 0; i < sums.size(); ++i) {
      EXPECT_TRUE(
          numerics::accumulate(sums[i], parts[(rank + k) % parts.size()][i]));
    }
  }
  auto type = mlir::cast<mlir::RankedTensorType>(partial.getType());
  Tensor out(type.getDimSize(0), type.getDimSize(1));
  EXPECT_TRUE(numerics::readAccumulators(sums.data(), int64_t(sums.size()),
                                         out.values.data()));
  return out;
}

inline llm::Tensor RankRun::attend(llm::AttentionOp op, size_t rank) {
  auto &cache =
      caches.try_emplace({int64_t(op.getLayer()), rank}, op).first->second;
  return llm::evaluate(op, rows(op.getQ(), rank), rows(op.getK(), rank),
                       rows(op.getV(), rank), cache, position);
}

inline llm::Tensor RankRun::compute(mlir::Operation *op, size_t rank) {
  auto idsOf = [](const std::vector<int32_t> &numbers) {
    Tensor out(int64_t(numbers.size()), 1);
    std::copy(numbers.begin(), numbers.end(), out.values.begin());
    return out;
  };
  return llvm::TypeSwitch<mlir::Operation *, Tensor>(op)
      .Case([&](llm::EmbedOp o) {
        auto table =
            weights.matrix(o.getTable().str(), o.getFormat(), o.getVocab(),
                           o.getResult().getType().getDimSize(1));
        return llm::evaluate(o, ids, *table);
      })
      .Case([&](llm::RmsNormOp o) {
        const Tensor &x = rows(o.getX(), rank);
        return llm::evaluate(o, x,
                             **weights.vector(o.getWeight().str(), x.width));
      })
      .Case([&](llm::LinearOp o) {
        if (!grid::columnsOf(o)) {
          return product(o, rank);
        }
        partials[o.getResult()].push_back(partial(o, rank));
        return Tensor();
      })
      .Case([&](grid::ReduceScatterOp o) {
        int64_t own = o.getResult().getType().getDimSize(1);
        return cut(sum(o.getPartial(), rank), int64_t(rank) * own, own);
      })
      .Case([&](grid::AllReduceOp o) { return sum(o.getPartial(), rank); })
      .Case([&](llm::RopeOp o) {
        return llm::evaluate(o, rows(o.getX(), rank), position);
      })
      .Case([&](llm::AttentionOp o) { return attend(o, rank); })
      .Case([&](llm::AddOp o) {
        return llm::evaluate(o, rows(o.getA(), rank), rows(o.getB(), rank));
      })
      .Case([&](llm::GatedOp o) {
        return llm::evaluate(o, rows(o.getGate(), rank), rows(o.getUp(), rank));
      })
      .Case([&](llm::ArgmaxOp o) {
        return idsOf(llm::evaluate(o, rows(o.getLogits(), rank)));
      })
      .Case([&](grid::AllGatherOp o) {
        return joined(held[o.getX()], o.getResult().getType().getDimSize(1));
      })
      .Case([&](grid::OwnOp o) {
        int64_t own = o.getResult().getType().getDimSize(1);
        return cut(rows(o.getX(), rank), int64_t(rank) * own, own);
      })
      .Case([&](grid::ArgmaxOp o) {
        Tensor all = joined(held[o.getLogits()], int64_t(o.getVocab()));
        return idsOf(llm::evaluate(llm::ArgmaxOp(), all));
      })
      .Default([](mlir::Operation *o) {
        ADD_FAILURE() << "no op of a rank: "
                      << o->getName().getStringRef().str();
        return Tensor();
      });
}

inline RankRun::Output RankRun::run(const std::vector<int32_t> &tokens,
                                    int64_t at) {
  ids = tokens;
  position = at;
  held.clear();
  partials.clear();
  grid::StageOp last;
  for (grid::StageOp stage : step.getOps<grid::StageOp>()) {
    tp = size_t(stage.getTp());
    for (mlir::Operation &op : stage.getBody().front().without_terminator()) {
      Ranks results;
      for (size_t rank = 0; rank < tp; ++rank) {
        results.push_back(compute(&op, rank));
      }
      held[op.getResult(0)] = std::move(results);
    }
    auto yield = stage.getBody().front().getTerminator();
    for (auto [inside, outside] :
         llvm::zip_equal(yield->getOperands(), stage.getResults())) {
      Ranks yielded = held[inside];
      held[outside] = std::move(yielded);
    }
    last = stage;
  }
  Output out;
  grid::ShardAttr shard = grid::resultShard(step, 0);
  const Ranks &logits = held[last.getResult(0)];
  out.logits = shard ? joined(logits, shard.getOf()) : logits.front();
  for (float id : held[last.getResult(1)].front().values) {
    out.next.push_back(int32_t(id));
  }
  return out;
}

} // namespace orrery::partition
