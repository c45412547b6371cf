// A decoder's forward pass in double, straight from the textbook.
//
// Shares no code with the interpreter: what the interpreter's numerics are held
// against. Reads weights as the caller hands them out.
#pragma once

#include "models/ModelConfig.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace orrery::llm {

class DoubleForward {
public:
  using Row = std::vector<double>;
  /// Element by element [rows, cols] of a tensor.
  using Weights = std::function<std::vector<float>(const std::string &)>;

  DoubleForward(const models::ModelConfig &config, Weights weights)
      : config(config), weights(std::move(weights)), keys(config.layers),
        values(config.layers) {}

  /// Logits after the next token.
  Row next(int32_t id) {
    const std::vector<float> table = weights("token_embd.weight");
    const auto *first = table.data() + id * config.hidden;
    Row x(first, first + config.hidden);
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      const std::string blk = "blk." + std::to_string(layer) + ".";
      add(x, attention(blk, layer, norm(x, blk + "attn_norm.weight")));
      add(x, feedForward(blk, norm(x, blk + "ffn_norm.weight")));
    }
    ++position;
    return times(config.tiedEmbeddings ? "token_embd.weight" : "output.weight",
                 norm(x, "output_norm.weight"));
  }

private:
  static void add(Row &x, const Row &y) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] += y[i];
    }
  }

  Row times(const std::string &name, const Row &x) {
    const std::vector<float> w = weights(name);
    Row y(w.size() / x.size());
    for (size_t n = 0; n < y.size(); ++n) {
      for (size_t k = 0; k < x.size(); ++k) {
        y[n] += double(w[n * x.size() + k]) * x[k];
      }
    }
    return y;
  }

  Row norm(const Row &x, const std::string &name) {
    const std::vector<float> w = weights(name);
    double squares = 0;
    for (double value : x) {
      squares += value * value;
    }
    Row y;
    for (size_t i = 0; i < x.size(); ++i) {
      y.push_back(x[i] * w[i] /
                  std::sqrt(squares / double(x.size()) + config.normEps));
    }
    return y;
  }

  void rope(Row &x) {
    const int64_t half = config.ropeDimension / 2;
    for (size_t head = 0; head < x.size(); head += config.headDim) {
      for (int64_t j = 0; j < half; ++j) {
        const bool split = config.ropePairing == models::RopePairing::Half;
        double &a = x[head + (split ? j : 2 * j)];
        double &b = x[head + (split ? j + half : 2 * j + 1)];
        const double angle =
            double(position) *
            std::pow(config.ropeTheta,
                     -2.0 * double(j) / double(config.ropeDimension));
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = turned;
      }
    }
  }

  Row attention(const std::string &blk, int64_t layer, const Row &x) {
    Row q = times(blk + "attn_q.weight", x);
    Row k = times(blk + "attn_k.weight", x);
    rope(q);
    rope(k);
    keys[layer].push_back(k);
    values[layer].push_back(times(blk + "attn_v.weight", x));
    Row out(q.size());
    for (int64_t head = 0; head < config.heads; ++head) {
      attend(layer, head, q, out);
    }
    return times(blk + "attn_output.weight", out);
  }

  void attend(int64_t layer, int64_t head, const Row &q, Row &out) {
    const int64_t d = config.headDim;
    const int64_t kv = head / (config.heads / config.kvHeads) * d;
    Row scores;
    double max = -INFINITY;
    for (const Row &k : keys[layer]) {
      double dot = 0;
      for (int64_t i = 0; i < d; ++i) {
        dot += q[head * d + i] * k[kv + i];
      }
      scores.push_back(dot / std::sqrt(double(d)));
      max = std::max(max, scores.back());
    }
    double sum = 0;
    for (double &score : scores) {
      score = std::exp(score - max);
      sum += score;
    }
    for (size_t u = 0; u < scores.size(); ++u) {
      for (int64_t i = 0; i < d; ++i) {
        out[head * d + i] += scores[u] / sum * values[layer][u][kv + i];
      }
    }
  }

  Row feedForward(const std::string &blk, const Row &x) {
    Row gate = times(blk + "ffn_gate.weight", x);
    const Row up = times(blk + "ffn_up.weight", x);
    for (size_t i = 0; i < gate.size(); ++i) {
      gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    }
    return times(blk + "ffn_down.weight", gate);
  }

  models::ModelConfig config;
  Weights weights;
  int64_t position = 0;
  std::vector<std::vector<Row>> keys;
  std::vector<std::vector<Row>> values;
};

} // namespace orrery::llm
