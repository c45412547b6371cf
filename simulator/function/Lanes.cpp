#include "simulator/function/Lanes.h"

#include "machine/kernels/Rows.h"
#include "machine/numerics.h"

#include <cstring>

namespace orrery::sim {

void gatherF32(const uint8_t *const planes[4], int32_t lanes, float *out) {
  const uint8_t *a = planes[0], *b = planes[1], *c = planes[2], *d = planes[3];
  for (int32_t i = 0; i < lanes; ++i) {
    uint32_t bits = uint32_t(a[i]) | uint32_t(b[i]) << 8 |
                    uint32_t(c[i]) << 16 | uint32_t(d[i]) << 24;
    std::memcpy(out + i, &bits, sizeof(bits));
  }
}

void gatherF16(const uint8_t *const planes[2], int32_t lanes, float *out) {
  for (int32_t i = 0; i < lanes; ++i) {
    out[i] = numerics::halfToFloat(
        uint16_t(planes[0][i] | uint16_t(planes[1][i]) << 8));
  }
}

void gatherSums(const uint8_t *const planes[8], int32_t lanes, int64_t *out) {
  for (int32_t i = 0; i < lanes; ++i) {
    uint64_t bits = 0;
    for (int k = 0; k < 8; ++k) {
      bits |= uint64_t(planes[k][i]) << (8 * k);
    }
    out[i] = int64_t(bits);
  }
}

void gatherI8(const uint8_t *plane, int32_t lanes, float *out) {
  for (int32_t i = 0; i < lanes; ++i) {
    out[i] = float(int8_t(plane[i]));
  }
}

void scatterF32(const float *in, int32_t lanes, uint8_t *out) {
  uint8_t *a = out, *b = out + lanes, *c = out + 2 * lanes,
          *d = out + 3 * lanes;
  for (int32_t i = 0; i < lanes; ++i) {
    uint32_t bits = numerics::floatToBits(in[i]);
    a[i] = uint8_t(bits);
    b[i] = uint8_t(bits >> 8);
    c[i] = uint8_t(bits >> 16);
    d[i] = uint8_t(bits >> 24);
  }
}

void scatterSums(const int64_t *in, int32_t lanes, uint8_t *out) {
  for (int32_t i = 0; i < lanes; ++i) {
    auto bits = uint64_t(in[i]);
    for (int k = 0; k < 8; ++k) {
      out[k * lanes + i] = uint8_t(bits >> (8 * k));
    }
  }
}

void scatterF16(const float *in, int32_t lanes, uint8_t *out) {
  for (int32_t i = 0; i < lanes; ++i) {
    uint16_t half = numerics::floatToHalf(in[i]);
    out[i] = uint8_t(half);
    out[lanes + i] = uint8_t(half >> 8);
  }
}

void scatterI8(const float *in, int32_t lanes, uint8_t *out) {
  for (int32_t i = 0; i < lanes; ++i) {
    out[i] = uint8_t(numerics::roundToCode(in[i]));
  }
}

bool scatterA8(const float *in, int32_t lanes, uint8_t *out) {
  uint8_t *scalePlane = out + lanes;
  std::memset(scalePlane, 0, size_t(lanes));
  bool finite = true;
  for (int32_t block = 0; block < lanes / numerics::kBlock; ++block) {
    float scale = 0;
    finite &= numerics::quantizeA8Row(
        in + block * numerics::kBlock, numerics::kBlock,
        reinterpret_cast<int8_t *>(out) + block * numerics::kBlock, &scale);
    std::memcpy(scalePlane + 4 * block, &scale, sizeof(scale));
  }
  return finite;
}

int32_t firstNotFinite(const float *in, int32_t lanes) {
  uint32_t greatest = 0; // greatest magnitude: one pass without a branch
  for (int32_t i = 0; i < lanes; ++i) {
    uint32_t magnitude = numerics::floatToBits(in[i]) & 0x7fffffffu;
    greatest = magnitude > greatest ? magnitude : greatest;
  }
  if (greatest < 0x7f800000u) {
    return lanes;
  }
  int32_t i = 0;
  while (numerics::isFinite(in[i])) {
    ++i;
  }
  return i;
}

} // namespace orrery::sim
