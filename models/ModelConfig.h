// The shape of a decoder, whatever file it came from.
//
// Architecture-neutral numbers of a dense decoder-only transformer, read from
// GGUF metadata and held against the file's tensors. Not the weights: see
// Weights.h.
#pragma once

#include "machine/Result.h"
#include "models/Gguf.h"

#include <cstdint>
#include <string>
#include <vector>

namespace orrery::models {

/// Which two elements of a head RoPE turns together.
enum class RopePairing {
  Adjacent, ///< (0, 1), (2, 3), …: GGUF files of architecture "llama".
  Half,     ///< (0, d/2), (1, d/2 + 1), …: Hugging Face checkpoints.
};

/// What some published models have beyond the plain decoder that is compiled.
/// Shapes may have it, to be counted and timed without it (NotModelled.h);
/// model files with it are refused.
struct ModelExtras {
  /// Vectors that are added to q, k and v (Qwen2).
  bool qkvBias = false;
  /// An RMSNorm of each head of q and k, before RoPE (Qwen3).
  bool qkNorm = false;
  /// Positions that a token sees at most, its own included; 0: all.
  int64_t slidingWindow = 0;
  /// Other RoPE frequencies, in words ("llama3, factor 8"); empty: none.
  std::string ropeScaling = "";
  /// Feed-forwards of a layer, and how many of them a token takes (Mixtral);
  /// 0: one, without a router.
  int64_t experts = 0, expertsPerToken = 0;

  bool operator==(const ModelExtras &) const = default;
};

struct ModelConfig {
  std::string name;
  std::string architecture;
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  /// Elements a head; not always hidden / heads.
  int64_t headDim = 0;
  int64_t intermediate = 0;
  int64_t vocab = 0;
  /// Positions the model was trained for.
  int64_t contextLength = 0;
  float normEps = 0;
  double ropeTheta = 10000.0;
  RopePairing ropePairing = RopePairing::Adjacent;
  /// Leading elements of a head that RoPE turns; the rest pass unchanged.
  int64_t ropeDimension = 0;
  /// The output projection is the token embedding.
  bool tiedEmbeddings = false;
  ModelExtras extras;

  int64_t queryWidth() const { return heads * headDim; }
  int64_t kvWidth() const { return kvHeads * headDim; }

  bool operator==(const ModelConfig &) const = default;
};

/// A tensor that a model of some config must have, under its GGUF name. A
/// matrix is [rows, cols] row-major and maps cols inputs to rows outputs; a
/// vector has rows == 1.
struct TensorShape {
  std::string name;
  int64_t rows = 0;
  int64_t cols = 0;
  bool isVector = false;
};

/// All tensors of the model: token_embd, per layer attn_norm, attn_q, attn_k,
/// attn_v, attn_output, ffn_norm, ffn_gate, ffn_up, ffn_down, then output_norm
/// and, unless tied, output. Those of `extras` follow what they belong to;
/// experts stand one below another, as rows of one matrix.
std::vector<TensorShape> expectedTensors(const ModelConfig &config);

/// Checks the numbers against each other: all positive, kvHeads divides heads,
/// ropeDimension even and at most headDim, sizes that fit 64 bits. The message
/// names the field.
Status verifyConfig(const ModelConfig &config);

/// Reads the config of a file whose general.architecture is "llama" and checks
/// that the file holds exactly the tensors it implies, in the right shapes.
/// Anything that would change the result and is not supported (experts, RoPE
/// scaling, sliding window, biases) is an error, never ignored.
Expected<ModelConfig> readModelConfig(const GgufFile &file);

/// As readModelConfig, without looking at tensors: for vocabulary-only files.
Expected<ModelConfig> readModelConfigMetadata(const GgufFile &file);

// Accounting. Closed forms in 64 bits; nominal counts, without any padding that
// a machine adds. The config must pass verifyConfig.

/// KV-cache formats of the numerics contract.
enum class KvFormat {
  F16, ///< 2 bytes an element.
  Q8,  ///< 1 byte an element and an f16 scale per token and KV head.
  Q4,  ///< half a byte an element (rounded up) and an f16 scale, as Q8.
};

/// Stored parameters: tied embeddings count once, experts all.
int64_t parameterCount(const ModelConfig &config);

/// Bytes that one position adds to the KV cache over all layers: K and V of
/// kvHeads heads (not heads). A sliding window takes nothing off: the cache
/// keeps all positions.
int64_t kvBytesPerToken(const ModelConfig &config, KvFormat format);

/// Multiply-accumulates of all weight matrices for one token, with the output
/// projection, without embedding lookup, norms and attention scores. Of experts
/// those that a token takes, and the router.
int64_t decodeMacsPerToken(const ModelConfig &config);

/// Multiply-accumulates of q·k and p·v for one token that sees `context`
/// positions (its own included).
int64_t attentionMacsPerToken(const ModelConfig &config, int64_t context);

} // namespace orrery::models
