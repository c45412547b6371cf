#include "runtime/NominalBytes.h"

namespace orrery::runtime {

static Bytes matrixBytes(const models::TensorShape &t, llm::WeightFormat f) {
  constexpr int64_t kBlock = 32, kScaleBytes = 2;
  int64_t blocks = t.rows * ((t.cols + kBlock - 1) / kBlock);
  switch (f) {
  case llm::WeightFormat::Q8_0:
    return blocks * (kBlock + kScaleBytes);
  case llm::WeightFormat::Q4_0:
    return blocks * (kBlock / 2 + kScaleBytes);
  case llm::WeightFormat::F16:
    return t.rows * t.cols * 2;
  }
  return 0;
}

void addNominal(SramUse &use, const models::ModelConfig &whole,
                const compiler::ImportOptions &options) {
  models::ModelConfig config = whole;
  config.layers = options.layers ? options.layers : whole.layers;
  Bytes weights = 0;
  for (const models::TensorShape &t : models::expectedTensors(config)) {
    bool lookedUp = t.name == "token_embd.weight" && !config.tiedEmbeddings;
    if (!t.isVector && !lookedUp) {
      auto own = options.tensorFormats.find(t.name);
      weights += matrixBytes(t, own == options.tensorFormats.end()
                                    ? options.weightFormat
                                    : own->second);
    }
  }
  // A machine has no other.
  auto kv = options.kvFormat == llm::KvFormat::F16 ? models::KvFormat::F16
                                                   : models::KvFormat::Q8;
  int64_t context = options.context ? options.context : config.contextLength;
  use.nominal[size_t(RegionKind::Weight)] = weights;
  use.nominal[size_t(RegionKind::Kv)] =
      models::kvBytesPerToken(config, kv) * context;
}

} // namespace orrery::runtime
