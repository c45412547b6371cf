// Rows of token_embd.weight, which the host sends to the chip as f32.
#pragma once

#include "dialects/llm/Llm.h"
#include "models/WeightSource.h"

#include <cstdint>
#include <vector>

namespace orrery::runtime {

class EmbeddingTable {
public:
  /// The table in the format that the model's llm.embed names: its rows are
  /// the values the interpreter reads. Fails as WeightSource does.
  static Expected<EmbeddingTable> open(const models::WeightSource &weights,
                                       llm::WeightFormat format);

  /// [hidden] f32; 0 <= id < rows().
  std::vector<float> row(int32_t id) const;
  int64_t rows() const { return vocab; }

private:
  models::QuantizedMatrix quantized;
  std::vector<float> halves; ///< F16: [vocab, hidden], f16-exact
  int64_t vocab = 0, hidden = 0;
};

} // namespace orrery::runtime
