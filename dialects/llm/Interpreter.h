// Runs a token step of the llm dialect on the host: the meaning of a model.
//
// Written to be read and compared against, not to be fast: what an op computes
// is in Evaluate.h, this walks the function and keeps the KV caches.
#pragma once

#include "dialects/llm/KvCache.h"
#include "dialects/llm/Llm.h"
#include "dialects/llm/Tensor.h"
#include "dialects/llm/WeightCache.h"
#include "machine/Result.h"

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace orrery::llm {

struct StepOutput {
  /// [valid tokens, vocab].
  Tensor logits;
  /// The step's second result, one id a valid token; empty if it has none.
  std::vector<int32_t> next;
};

class Interpreter {
public:
  /// Sees each op's result as soon as it is computed and found finite; ids come
  /// as [tokens, 1] f32, which holds them exactly.
  using Observer = std::function<void(mlir::Operation *, const Tensor &)>;

  /// `weights` must outlive the interpreter.
  explicit Interpreter(const models::WeightSource &weights)
      : weights(weights) {}

  /// Runs `step`, a verified function with the attributes of a step, for the
  /// tokens `ids` standing at `position` and behind. Every position before must
  /// have been run; those behind are forgotten. Fails, naming op and
  /// position, for ids outside the vocabulary, more tokens than the step takes,
  /// positions outside its bucket, weights that do not fit, and values that
  /// are not finite; the same position can then be run again.
  Expected<StepOutput> run(mlir::func::FuncOp step,
                           std::span<const int32_t> ids, uint32_t position);

  /// Forgets every position.
  void reset() { caches.clear(); }

  /// Null turns observation off.
  void setObserver(Observer function) { observer = std::move(function); }

private:
  friend class StepRun;

  WeightCache weights;
  std::map<int64_t, LayerCache> caches;
  Observer observer;
};

} // namespace orrery::llm
