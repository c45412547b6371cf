#include "compiler/lower/DealRows.h"

namespace orrery {

static constexpr int32_t kUnit = 16; // rows

static int32_t units(int32_t rows) { return (rows + kUnit - 1) / kUnit; }

std::vector<RowPiece> dealRows(const AxisLayout &out, int32_t planes) {
  std::vector<RowPiece> pieces;
  int32_t vectors = out.vectors(), uniform = 0;
  while (uniform < vectors && out.used(uniform) == out.used(0)) {
    ++uniform;
  }
  int32_t share = uniform / planes;
  for (int32_t p = 0; share > 0 && p < planes; ++p) {
    pieces.push_back(
        {p, p * share, share, 0, kUnit * units(out.used(0)), true});
  }
  int32_t left = 0;
  for (int32_t j = share * planes; j < vectors; ++j) {
    left += units(out.used(j));
  }
  int32_t plane = 0, room = units((left * kUnit + planes - 1) / planes);
  for (int32_t j = share * planes; j < vectors; ++j) {
    int32_t all = units(out.used(j));
    for (int32_t at = 0; at < all;) {
      int32_t take = std::min(room, all - at);
      pieces.push_back(
          {plane, j, 1, kUnit * at, kUnit * (at + take), at + take == all});
      at += take;
      room -= take;
      left -= take;
      if (room == 0 && left > 0) {
        ++plane;
        room = (left + planes - plane - 1) / (planes - plane);
      }
    }
  }
  return pieces;
}

} // namespace orrery
