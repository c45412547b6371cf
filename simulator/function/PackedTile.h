// A weight tile as the host kernels read it, made from the install vectors.
#pragma once

#include "machine/Instruction.h"
#include "machine/kernels/PackedMatrix.h"

#include <cstdint>
#include <vector>

namespace orrery::sim {

class PackedTile {
public:
  /// `vectors`: the tile's install vectors in order (tileVectors of them), of
  /// `lanes` bytes each; `rows` of them as InstallOp defines. What the tile
  /// held before is gone.
  void pack(WeightFormat format, int32_t rows, int32_t lanes,
            const std::vector<const uint8_t *> &vectors);

  numerics::PackedView view() const;
  size_t bytes() const {
    return codes.size() * sizeof(Line) + 2 * scales.size();
  }

private:
  struct alignas(64) Line {
    uint8_t byte[64];
  };
  void packBytes(const std::vector<const uint8_t *> &vectors);
  void packNibbles(const std::vector<const uint8_t *> &vectors);
  void packHalves(const std::vector<const uint8_t *> &vectors);
  void packScales(const uint8_t *const *vectors);
  uint8_t *group(int32_t row) {
    return codes[0].byte + size_t(row / numerics::kGroupRows) * groupBytes;
  }

  WeightFormat format = WeightFormat::Q8;
  int32_t rows = 0, lanes = 0;
  size_t groupBytes = 0;
  std::vector<Line> codes;
  std::vector<uint16_t> scales;
};

} // namespace orrery::sim
