// One token step on a GPU: the buffers it needs and the launches it is, in the
// interpreter's order. Not here: checking a request, graphs, waiting for
// results (DecoderReference.cu).
#pragma once

#include "gpu-reference/Activations.h"
#include "gpu-reference/DecoderWeights.h"
#include "gpu-reference/Fault.h"
#include "gpu-reference/KvPages.h"
#include "gpu-reference/PinnedBuffer.h"
#include "gpu-reference/StepOps.h"
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

  /// Writes what the step at `position` needs of ids and rotations to pinned
  /// memory; no step may be under way.
  void setInput(std::span<const int32_t> ids, uint32_t position);

  /// Gives the step of `rows` tokens to `stream`: input to the device, every
  /// op. Attention covers positions below plan.bucket. Fails with the op whose
  /// launch failed.
  Status launch(int32_t rows, const AttentionPlan &attention,
                cudaStream_t stream, const AfterOp &after = nullptr);

  /// Makes room in the KV pages for `positions` positions.
  Status reserve(int64_t positions);
  /// Gives all KV pages back.
  void release();
  /// All of the KV cache holds zeros.
  Status clearCache();

  /// The smallest bucket that holds `positions`, and how attention is cut over
  /// it for steps of one token or of a chunk.
  const AttentionPlan &attentionFor(int32_t rows, int64_t positions) const;

  /// Results of the last step, once its stream has been waited for.
  Expected<std::vector<float>> logits(int32_t rows) const;
  Expected<std::vector<int32_t>> greedy(int32_t rows) const;
  Expected<std::optional<FaultPlace>> fault() const;

  const StepOps &ops() const { return stepOps; }
  size_t bytes() const;
  /// Bytes that a step of one token at `position` must read.
  size_t bytesRead(int64_t position) const;

private:
  Decoder(const ReferencePlan &plan, DecoderWeights weights)
      : plan(plan), config(this->plan.config), stepOps(config.layers),
        weights(std::move(weights)) {}

  /// Where the parts of a step's input lie, in words.
  struct InputLayout {
    int64_t ids, cos, sin, words;
  };
  InputLayout inputLayout(int32_t rows) const;
  const int32_t *position() const {
    return reinterpret_cast<const int32_t *>(input.data());
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

  std::optional<KvPages> pages;
  KvPages::Sequence sequence = 0;
  Buffer<uint8_t> pool;
  Buffer<int32_t> table;
  int64_t tableEntries = 0;                          ///< that the device has
  std::vector<AttentionPlan> tokenPlans, chunkPlans; ///< by bucket, ascending
  Buffer<uint8_t> scratch;
};

} // namespace orrery::gpu::ORRERY_GPU
