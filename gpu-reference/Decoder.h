// One step on a GPU, a chunk's or a batch's: the buffers it needs and the
// launches it is, in the interpreter's order. Not here: checking a request,
// graphs, waiting for results (DecoderReference.cu).
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/DecoderWeights.h"
#include "gpu-reference/Fault.h"
#include "gpu-reference/PageTables.h"
#include "gpu-reference/PinnedBuffer.h"
#include "gpu-reference/StepOps.h"
#include "gpu-reference/StepRows.h"
#include "gpu-reference/kernels/Attention.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

class Decoder {
public:
  /// Told of each op behind its launch: its result `values` [rows][width] f32
  /// in device memory, null for argmax. An error ends the step.
  using AfterOp =
      std::function<Status(uint32_t op, const float *values, int32_t width)>;

  /// Loads and allocates everything.
  static Expected<std::unique_ptr<Decoder>>
  open(const models::WeightSource &weights, const ReferencePlan &plan);

  /// Pages for all positions of `step`, and their tables on the device; no step
  /// may be under way. Fails, changing nothing, when pages run out.
  Status reserve(const StepRows &step);

  /// Writes what `step` needs of ids, positions and rotations to pinned memory;
  /// no step may be under way.
  void setInput(const StepRows &step);

  /// Gives the step to `stream`: input to the device, every op. Nothing of it
  /// but the number of rows and whether they are a batch is in the launches.
  /// Attention covers positions below plan.bucket. Fails with the op whose
  /// launch failed.
  Status launch(const StepRows &step, const AttentionPlan &attention,
                cudaStream_t stream, const AfterOp &after = nullptr);

  /// All pages of a sequence hold zeros.
  Status clear(Sequence sequence);

  /// The smallest bucket that holds the step's positions, and how attention is
  /// cut over it for such steps.
  const AttentionPlan &attentionFor(const StepRows &step) const;

  /// Results of the last step, once its stream has been waited for.
  Expected<std::vector<float>> logits(int32_t rows) const;
  Expected<std::vector<int32_t>> greedy(int32_t rows) const;
  Expected<std::optional<FaultPlace>> fault() const;

  const StepOps &ops() const { return stepOps; }
  size_t bytes() const;
  models::KvPages &pages() { return *plan.options.pages; }
  /// Bytes that a decode step of `batch` sequences at `position` must read.
  size_t bytesRead(int64_t position, int64_t batch) const;

private:
  Decoder(const ReferencePlan &plan, DecoderWeights weights)
      : plan(plan), config(this->plan.config), stepOps(config.layers),
        weights(std::move(weights)) {}

  /// A step's input starts with the words ActivationView::large of its rows, so
  /// that the copy which brings it also clears them.
  enum class LargeWord { Normed, Heads, Gated };
  static constexpr int64_t kLargeWords = 4; ///< keeps the rest aligned

  /// Where the other parts of a step's input lie, in words.
  struct InputLayout {
    int64_t ids, cos, sin, words;
  };
  InputLayout inputLayout(int32_t rows) const;
  const int32_t *positions() const {
    return reinterpret_cast<const int32_t *>(input.data() + kLargeWords);
  }

  Status allocate();
  Status allocateCache();
  Status planBuckets();
  class Launcher;

  ReferencePlan plan;
  const models::ModelConfig &config;
  StepOps stepOps;
  DecoderWeights weights;
  std::vector<double> frequencies;

  PinnedBuffer<uint32_t> hostInput;
  Buffer<uint32_t> input;
  Buffer<Fault> faults;
  Buffer<float> stream, heads, projected;
  /// Queries, keys, values (gates, rows to gate) of a step, all rows of the one
  /// before all of the next.
  Buffer<float> qkv, gateUp;
  Buffer<float> logitRows;
  DeviceActivations normed, headRows, gatedRows;
  Buffer<unsigned long long> greedyKeys;
  Buffer<int32_t> greedyIds;

  Buffer<uint8_t> pool;
  PageTables tables;
  /// By bucket, ascending.
  std::vector<AttentionPlan> tokenPlans, chunkPlans, batchPlans;
  Buffer<uint8_t> scratch;
};

} // namespace orrery::gpu::ORRERY_GPU
