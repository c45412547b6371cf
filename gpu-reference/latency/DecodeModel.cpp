#include "gpu-reference/latency/DecodeModel.h"

#include "models/NotModelled.h"

#include <algorithm>

namespace orrery::gpu::latency {
namespace {

constexpr int64_t kActivationBytes = 2; ///< f16 or bf16 between kernels

/// A matrix as one GPU has it.
struct Shard {
  int64_t rows, cols;
  WeightKind weights;
  int64_t bytes() const { return matrixBytes(rows, cols, weights); }
};

class Step {
public:
  Step(const Gpu &gpu, const DecodeCase &what) : gpu(gpu), w(what) {}

  Expected<DecodeEstimate> run() {
    if (Status ok = check(); !ok) {
      return ok.error();
    }
    for (int64_t layer = 0; layer < w.config.layers; ++layer) {
      if (Status ok = addLayer(layer); !ok) {
        return ok.error();
      }
    }
    if (Status ok = addHead(); !ok) {
      return ok.error();
    }
    addHeld();
    return out;
  }

private:
  Status check() const {
    const models::ModelConfig &c = w.config;
    auto tp = [&] { return "tp=" + std::to_string(w.gpus) + ": "; };
    if (Status ok = models::verifyCompiled(c); !ok) {
      return ok;
    }
    if (w.gpus < 1 || (w.gpus > gpu.nodeGpus && !w.beyondNode)) {
      return Error{tp() + "expected 1 to the " + std::to_string(gpu.nodeGpus) +
                   " GPUs that NVLink joins"};
    }
    if (c.heads % w.gpus != 0 || c.intermediate % w.gpus != 0 ||
        (c.kvHeads % w.gpus != 0 && w.gpus % c.kvHeads != 0)) {
      return Error{tp() + "expected a number that divides " +
                   std::to_string(c.heads) + " heads, " +
                   std::to_string(c.kvHeads) +
                   " KV heads (or is a multiple) "
                   "and a feed-forward of " +
                   std::to_string(c.intermediate)};
    }
    double kv = double(w.batch) * double(w.context) * double(c.layers) *
                double(c.kvHeads) * double(kvBytes(c.headDim, w.kv));
    if (w.batch < 1 || w.context < 1 || kv > 0x1p62) {
      return Error{"expected a batch and a context of 1 or more whose KV "
                   "caches have a size in 64 bits, found " +
                   std::to_string(w.batch) + " x " + std::to_string(w.context)};
    }
    if (w.structure.nccl && !gpu.nccl) {
      return Error{gpu.name + ": has no NCCL table"};
    }
    return Success{};
  }

  int64_t kvHeads() const {
    return std::max<int64_t>(w.config.kvHeads / w.gpus, 1);
  }
  int64_t headRows() const {
    int64_t parts = w.structure.wholeHead ? 1 : w.gpus;
    return (w.config.vocab + parts - 1) / parts;
  }
  WeightKind kindOf(const std::string &tensor) const {
    auto own = w.tensorWeights.find(tensor);
    return own == w.tensorWeights.end() ? w.weights : own->second;
  }

  /// Matrices that stand one below another and are one product.
  Expected<double> product(const std::vector<Shard> &parts) {
    double us = 0, ops = 0, t0 = 0, slowest = 0;
    for (const Shard &part : parts) {
      const MatmulFit *fit = gpu.fit(part.weights);
      if (!fit) {
        return Error{gpu.name + ": no " + nameOf(part.weights) +
                     " matrix product was measured"};
      }
      us += double(part.bytes()) / fit->bytesPerUs;
      ops += 2 * double(part.rows) * double(part.cols) * double(w.batch) /
             fit->opsPerUs;
      t0 = std::max(t0, fit->t0Us);
      out.weightBytesRead += part.bytes();
      out.assumed = out.assumed || fit->assumed();
    }
    slowest = std::max(us, ops);
    return t0 + slowest;
  }

  double vectorOp(double elements) const {
    return gpu.vectorOpUs + double(w.batch) * elements *
                                double(kActivationBytes) /
                                gpu.vectorOpBytesPerUs;
  }

  Status addLayer(int64_t layer) {
    const models::ModelConfig &c = w.config;
    std::string block = "blk." + std::to_string(layer) + ".";
    int64_t q = c.queryWidth() / w.gpus, kv = kvHeads() * c.headDim,
            ffn = c.intermediate / w.gpus;
    auto shard = [&](const char *name, int64_t rows, int64_t cols) {
      return Shard{rows, cols, kindOf(block + name + ".weight")};
    };
    Shard gate = shard("ffn_gate", ffn, c.hidden);
    Shard up = shard("ffn_up", ffn, c.hidden);
    std::vector<std::vector<Shard>> products = {
        {shard("attn_q", q, c.hidden), shard("attn_k", kv, c.hidden),
         shard("attn_v", kv, c.hidden)},
        {shard("attn_output", c.hidden, q)},
        {shard("ffn_down", c.hidden, ffn)}};
    if (w.structure.gateUpApart) {
      products.insert(products.end(), {{gate}, {up}});
    } else {
      products.push_back({gate, up});
    }
    for (const std::vector<Shard> &each : products) {
      auto us = product(each);
      if (!us) {
        return us.error();
      }
      out.productsUs += *us;
    }
    addAttention();
    const AllReduce &sum = w.structure.nccl ? *gpu.nccl : gpu.allReduce;
    out.allReduceUs +=
        2 * sum.us(double(w.batch * c.hidden * kActivationBytes), w.gpus);
    // Two norms read two rows and write one, or write two; RoPE turns q and k
    // and appends k and v; the gate reads two and writes one.
    out.vectorsUs += 2 * vectorOp(3 * double(c.hidden)) +
                     vectorOp(2 * double(q + 2 * kv)) +
                     vectorOp(3 * double(ffn));
    return Success{};
  }

  void addAttention() {
    int64_t read =
        w.batch * w.context * kvHeads() * kvBytes(w.config.headDim, w.kv);
    double us = gpu.attention(double(read));
    if (kvHeads() == 1 && gpu.oneHeadAttention) {
      us = std::max(us, (*gpu.oneHeadAttention)(double(read)));
    }
    out.attentionUs += us;
    out.kvBytesRead += read;
  }

  Status addHead() {
    const char *name =
        w.config.tiedEmbeddings ? "token_embd.weight" : "output.weight";
    Shard head{headRows(), w.config.hidden,
               w.structure.headWeights.value_or(kindOf(name))};
    auto us = product({head});
    if (!us) {
      return us.error();
    }
    out.headUs = *us;
    out.vectorsUs +=
        vectorOp(3 * double(w.config.hidden)) + vectorOp(double(headRows()));
    return Success{};
  }

  // Besides what a step reads: the embedding table, unless it is the head.
  void addHeld() {
    out.weightBytesHeld = out.weightBytesRead;
    if (!w.config.tiedEmbeddings) {
      out.weightBytesHeld +=
          matrixBytes(headRows(), w.config.hidden, kindOf("token_embd.weight"));
    }
    out.kvBytesHeld = out.kvBytesRead;
    out.hbmBytes = gpu.hbmBytes;
    out.peakBytesPerUs = gpu.hbmBytesPerUs;
  }

  const Gpu &gpu;
  const DecodeCase &w;
  DecodeEstimate out;
};

} // namespace

Expected<DecodeEstimate> estimateDecode(const Gpu &gpu,
                                        const DecodeCase &what) {
  return Step(gpu, what).run();
}

int64_t fewestGpus(const Gpu &gpu, DecodeCase what) {
  for (what.gpus = 1; what.gpus <= gpu.nodeGpus; ++what.gpus) {
    auto estimate = estimateDecode(gpu, what);
    if (estimate && estimate->fits()) {
      return what.gpus;
    }
  }
  return 0;
}

} // namespace orrery::gpu::latency
