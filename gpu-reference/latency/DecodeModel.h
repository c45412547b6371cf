// What a decode step takes on GPUs, by what its kernels were measured to take:
//
//   step = layers x (4 products + attention + 2 all-reduces + 4 vector ops)
//          + the output projection + 2 vector ops
//   product    = max(t0 + weight bytes / bandwidth, t0 + operations / rate)
//   attention  = a curve over the KV bytes a GPU reads, with a floor
//   all-reduce = a table over bytes and GPUs; none on one GPU
//   vector op  = a constant + bytes / bandwidth: norms, RoPE with KV append,
//                gate; final norm, choice of the token
//
// Kernels follow each other without host time (CUDA graph). Every constant is
// in Gpu.h's files and from kernels alone.
#pragma once

#include "gpu-reference/latency/Gpu.h"
#include "models/ModelConfig.h"

#include <map>
#include <optional>
#include <string>

namespace orrery::gpu::latency {

/// How an engine lays out a step, where it is not the usual way.
struct EngineStructure {
  bool wholeHead = false;   ///< every GPU has all of the output projection
  bool gateUpApart = false; ///< two products
  bool nccl = false;        ///< all-reduce is NCCL's
  std::optional<WeightKind> headWeights;
  bool operator==(const EngineStructure &) const = default;
};

struct DecodeCase {
  models::ModelConfig config;
  WeightKind weights = WeightKind::Bf16;
  /// Of matrices that keep their own, by GGUF name.
  std::map<std::string, WeightKind> tensorWeights;
  KvKind kv = KvKind::F16;
  int64_t context = 1; ///< positions each user's token attends to, its own too
  int64_t batch = 1;   ///< users, each a token of a step
  int64_t gpus = 1;    ///< tensor parallel
  EngineStructure structure;
  /// More GPUs than a node has, as if NVLink reached them all: only for showing
  /// what that would be.
  bool beyondNode = false;
};

struct DecodeEstimate {
  // Microseconds of a step; they add up to it.
  double productsUs = 0, attentionUs = 0, allReduceUs = 0, vectorsUs = 0,
         headUs = 0;
  // Of one GPU: what it reads in a step, and what it holds.
  int64_t weightBytesRead = 0, kvBytesRead = 0;
  int64_t weightBytesHeld = 0, kvBytesHeld = 0;
  int64_t hbmBytes = 0;
  bool assumed = false; ///< a product's constants are those of another kernel
  double peakBytesPerUs = 0;

  double us() const {
    return productsUs + attentionUs + allReduceUs + vectorsUs + headUs;
  }
  int64_t bytesRead() const { return weightBytesRead + kvBytesRead; }
  int64_t bytesHeld() const { return weightBytesHeld + kvBytesHeld; }
  bool fits() const { return bytesHeld() <= hbmBytes; }
  /// Of the peak bandwidth, if a step takes `us`.
  double rooflineShare(double us) const {
    return double(bytesRead()) / peakBytesPerUs / us;
  }
};

/// Fails for a format this GPU has no constants for, for GPUs that do not
/// divide heads, KV heads (or are divided by them) and feed-forward, for more
/// GPUs than a node has, and for models with experts. Whether it fits is in the
/// estimate.
Expected<DecodeEstimate> estimateDecode(const Gpu &gpu, const DecodeCase &what);

/// The fewest GPUs, up to a node, that hold it; 0: not even a node.
int64_t fewestGpus(const Gpu &gpu, DecodeCase what);

} // namespace orrery::gpu::latency
