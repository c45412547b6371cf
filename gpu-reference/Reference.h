// A whole decoder on a GPU, from token ids to logits: the facade over kernels,
// weights and KV pages.
//
// A step is a chunk of one sequence, or a decode step of several at once. Whose
// pages are whose says a page allocator (models/KvPages.h) that others may
// share to open, cut short and close sequences. Pages are for one reference at
// a time, as what they say is filled lies in that reference's memory alone.
//
// Two backends of one source: a CUDA device, and its emulation on the host. The
// logits of both are the interpreter's, bit for bit. Plain C++: nothing here
// needs CUDA headers, or knows MLIR. What a step launches is in Decoder.cu.
#pragma once

#include "machine/Result.h"
#include "models/KvPages.h"
#include "models/WeightSource.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpu {

using Sequence = models::KvPages::Sequence;

enum class Backend {
  Emulated, ///< the kernels as C++, threads as fibers: always there, slow
  Device,   ///< the first CUDA device
};

/// How a matrix is kept on the GPU.
enum class StoredFormat { Q8_0, Q4_0, F16 };

struct ReferenceOptions {
  /// Format of every matrix that tensorFormats does not name.
  StoredFormat weights = StoredFormat::Q8_0;
  /// By GGUF name, as files store them. For a tied model the table and the
  /// output projection are one tensor, "token_embd.weight".
  std::map<std::string, StoredFormat> tensorFormats;
  models::KvFormat kv = models::KvFormat::Q8;
  /// Positions a sequence may have; 0: what the model was trained for.
  int64_t context = 0;
  /// Tokens a step takes at most, at least 1; no more than the context.
  int64_t chunk = 32;
  /// Sequences that a decode step takes at most, 1 to kMostSequences.
  int64_t batch = 1;
  /// Whose pages of the KV cache are whose; the pool of all of them is the
  /// reference's, and no other reference uses them while it lives. Null: made,
  /// with room for `batch` sequences of `context`.
  std::shared_ptr<models::KvPages> pages;
  /// Positions a page of one that is made holds, a multiple of 32.
  int64_t pagePositions = 64;
  /// Leading layers to keep; 0: all.
  int64_t layers = 0;
  /// Decode steps are recorded as a CUDA graph, one for each bucket of
  /// positions and number of sequences, and replayed.
  bool graph = true;
};

/// What a grid of CUDA takes: the greatest ReferenceOptions::batch.
inline constexpr int64_t kMostSequences = 65535;

/// A sequence's next token in a decode step.
struct SequenceToken {
  Sequence sequence = 0;
  int32_t id = 0;
  uint32_t position = 0;
};

struct StepLogits {
  int64_t vocab = 0;
  std::vector<float> logits;   ///< [tokens][vocab]
  std::vector<int32_t> greedy; ///< [tokens], the greatest logit's id

  std::span<const float> row(int64_t token) const {
    return std::span(logits).subspan(size_t(token * vocab), size_t(vocab));
  }
};

/// The value of one op: `values` [rows][width] f32, row t of the t-th token.
struct OpValue {
  std::string_view op; ///< as the interpreter names it: "layer 3 attn_q"
  int64_t rows, width;
  std::span<const float> values;
};

/// What a device is and what it runs with; measurements go with it.
struct DeviceInfo {
  std::string name;            ///< "NVIDIA H200"
  std::string compute;         ///< "9.0"
  std::string driver, runtime; ///< CUDA versions, "13.0"
  int64_t memoryBytes = 0;
};

/// Microseconds of steps that were timed apart, and what one of them reads.
struct StepTimes {
  double medianUs = 0, p10Us = 0, p90Us = 0;
  /// Weight matrices, vectors and KV rows that a step must read once.
  int64_t bytes = 0;
};

class Reference {
public:
  using Observer = std::function<void(const OpValue &)>;

  virtual ~Reference() = default;

  /// Loads the weights and allocates all buffers that steps need (not what CUDA
  /// takes for a graph, at the first step of a bucket). `weights` is not needed
  /// afterwards. Fails for a model that is not a plain decoder, shapes
  /// and formats that weights do not have or kernels do not take, numbers of
  /// options outside their range, pages of another layout, no device (or a
  /// build without CUDA), and memory that runs out (how much, for what).
  static Expected<std::unique_ptr<Reference>>
  open(const models::WeightSource &weights, const ReferenceOptions &options,
       Backend backend);

  /// Runs `ids`, 1 to `chunk` of them, of an open sequence of pages(), standing
  /// at `position` and behind; takes the pages that are needed. Every position
  /// before must have been run; those behind are forgotten. Fails as
  /// the interpreter does, naming op and position, for ids outside the
  /// vocabulary, positions outside the context and values that are not finite,
  /// for pages that run out, and for CUDA errors with the call that failed;
  /// after anything but a CUDA error the same position can be run again.
  virtual Expected<StepLogits>
  run(Sequence sequence, std::span<const int32_t> ids, uint32_t position) = 0;

  /// The same, of a sequence that the reference opens for itself.
  virtual Expected<StepLogits> run(std::span<const int32_t> ids,
                                   uint32_t position) = 0;

  /// One token of each of 1 to `batch` sequences, each at its own position:
  /// row i of the result is that of tokens[i], bit for bit what `run` has for
  /// it. Fails as `run` does, for all of them at once, naming the sequence.
  virtual Expected<StepLogits>
  decode(std::span<const SequenceToken> tokens) = 0;

  /// Times `repeats` (at least 1) decode steps of `batch` sequences that are
  /// all at `position`, behind `warmUp` (at least one is done) that are not
  /// counted; by CUDA events on a device, by the clock on the host. The
  /// reference's own sequence is forgotten. Fails as `run` does for values that
  /// are not finite and for pages that run out.
  virtual Expected<StepTimes> time(uint32_t position, int warmUp, int repeats,
                                   int64_t batch = 1) = 0;

  /// Forgets every position of the reference's own sequence.
  virtual void reset() = 0;

  /// Sees each op's value as soon as it is computed and found finite, in the
  /// interpreter's order, with ids as [tokens][1]. Null turns it off. Observed
  /// steps run op by op, without a graph.
  virtual void setObserver(Observer function) = 0;

  virtual const models::ModelConfig &config() const = 0;
  virtual int64_t context() const = 0;
  /// Where sequences are opened, cut short and closed.
  virtual models::KvPages &pages() = 0;
  /// Bytes of GPU memory held.
  virtual int64_t bytesHeld() const = 0;
};

/// The first device. Fails where there is none, or no driver, or the build has
/// no CUDA; one line says which.
Expected<DeviceInfo> findDevice();

/// "emulated on the host", or the device's name.
std::string backendText(Backend backend);

} // namespace orrery::gpu
