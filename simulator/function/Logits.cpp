#include "simulator/function/Logits.h"

#include "simulator/function/Lanes.h"

#include <algorithm>

namespace orrery::sim {

std::vector<float> readLogits(const LogitsPlace &place, uint32_t token,
                              const SramImage &sram, int32_t lanes) {
  auto perVector = size_t(lanes);
  std::vector<float> out(place.vectors * perVector);
  for (uint32_t j = 0; j < place.vectors; ++j) {
    const uint8_t *planes[4];
    for (int32_t k = 0; k < 4; ++k) {
      planes[k] =
          sram.vector(place.slice + k, place.bank,
                      int64_t(place.base) + int64_t(token) * place.vectors + j);
    }
    gatherF32(planes, lanes, out.data() + j * perVector);
  }
  out.resize(std::min<size_t>(out.size(), place.vocab));
  return out;
}

} // namespace orrery::sim
