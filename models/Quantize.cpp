// Source: quantize_row_{q8_0,q4_0}_ref and dequantize_row_* of ggml-quants.c.
// Must not be compiled with fused multiply-adds: x·id + 8.5 rounds twice.
#include "models/Quantize.h"

#include "machine/numerics.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

namespace orrery::models {

namespace {

using numerics::bfloatToFloat;
using numerics::floatToHalf;
using numerics::halfToFloat;

using Block = std::array<float, kQuantBlock>;

int64_t blockBytes(WeightFormat format) {
  return format == WeightFormat::Q8_0 ? kQ8BlockBytes : kQ4BlockBytes;
}

/// 1/d, or 0 where d is 0 or so small that 1/d is no number: such a scale is 0
/// in f16, so the codes carry no value.
float inverseScale(float scale) {
  float inverse = scale != 0 ? 1.0f / scale : 0.0f;
  return std::isfinite(inverse) ? inverse : 0.0f;
}

uint16_t quantizeBlockQ8(const Block &x, int8_t *codes) {
  float amax = 0;
  for (float value : x) {
    amax = std::max(amax, std::fabs(value));
  }
  float scale = amax / 127.0f;
  float inverse = inverseScale(scale);
  for (int64_t i = 0; i < kQuantBlock; ++i) {
    // The clamp acts on subnormal scales only, whose inverse is imprecise.
    float code = std::clamp(std::round(x[i] * inverse), -127.0f, 127.0f);
    codes[i] = static_cast<int8_t>(code);
  }
  return floatToHalf(scale);
}

uint16_t quantizeBlockQ4(const Block &x, int8_t *codes) {
  float amax = 0;
  float signedMax = 0;
  for (float value : x) {
    if (amax < std::fabs(value)) {
      amax = std::fabs(value);
      signedMax = value;
    }
  }
  float scale = signedMax / -8.0f;
  float inverse = inverseScale(scale);
  for (int64_t i = 0; i < kQuantBlock; ++i) {
    // Truncated, not rounded: the 8.5 moves the range to 0.5..16.5.
    float code = std::clamp(x[i] * inverse + 8.5f, 0.0f, 15.0f);
    codes[i] = static_cast<int8_t>(static_cast<int8_t>(code) - 8);
  }
  return floatToHalf(scale);
}

void unpackBlock(WeightFormat format, const std::byte *data, uint16_t &scale,
                 int8_t *codes) {
  std::memcpy(&scale, data, sizeof(scale));
  data += sizeof(scale);
  if (format == WeightFormat::Q8_0) {
    std::memcpy(codes, data, kQuantBlock);
    return;
  }
  // Byte j holds element j in its low half and element j + 16 in its high half.
  for (int64_t j = 0; j < kQuantBlock / 2; ++j) {
    auto pair = std::to_integer<int>(data[j]);
    codes[j] = static_cast<int8_t>((pair & 15) - 8);
    codes[j + kQuantBlock / 2] = static_cast<int8_t>((pair >> 4) - 8);
  }
}

void packBlock(WeightFormat format, uint16_t scale, const int8_t *codes,
               std::byte *data) {
  std::memcpy(data, &scale, sizeof(scale));
  data += sizeof(scale);
  if (format == WeightFormat::Q8_0) {
    std::memcpy(data, codes, kQuantBlock);
    return;
  }
  for (int64_t j = 0; j < kQuantBlock / 2; ++j) {
    int low = codes[j] + 8;
    int high = codes[j + kQuantBlock / 2] + 8;
    data[j] = static_cast<std::byte>(low | high << 4);
  }
}

void dequantizeBlocks(WeightFormat format, std::span<const std::byte> data,
                      std::span<float> out) {
  std::array<int8_t, kQuantBlock> codes;
  for (size_t start = 0; start < out.size(); start += kQuantBlock) {
    uint16_t scaleBits = 0;
    unpackBlock(format, data.data() + start / kQuantBlock * blockBytes(format),
                scaleBits, codes.data());
    float scale = halfToFloat(scaleBits);
    size_t count = std::min<size_t>(kQuantBlock, out.size() - start);
    for (size_t i = 0; i < count; ++i) {
      out[start + i] = static_cast<float>(codes[i]) * scale;
    }
  }
}

template <class Convert>
void convertHalves(std::span<const std::byte> data, std::span<float> out,
                   Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, data.data() + 2 * i, sizeof(bits));
    out[i] = convert(bits);
  }
}

} // namespace

std::string_view weightFormatName(WeightFormat format) {
  return format == WeightFormat::Q8_0 ? "q8_0" : "q4_0";
}

Status dequantizeRow(TensorType type, std::span<const std::byte> data,
                     std::span<float> out) {
  const TensorTypeLayout &layout = layoutOf(type);
  std::string name(layout.name);
  if (!isLoadable(type)) {
    return Error{"type " + name + " cannot be loaded (supported: " +
                 std::string(loadableTypeNames()) + ")"};
  }
  uint64_t blocks =
      (out.size() + layout.blockElements - 1) / layout.blockElements;
  if (data.size() != blocks * layout.blockBytes) {
    return Error{std::to_string(out.size()) + " values of type " + name +
                 ": expected " + std::to_string(blocks * layout.blockBytes) +
                 " bytes, found " + std::to_string(data.size())};
  }
  if (out.empty()) {
    return Success{};
  }
  switch (type) {
  case TensorType::F32:
    std::memcpy(out.data(), data.data(), data.size());
    break;
  case TensorType::F16:
    convertHalves(data, out, [](uint16_t bits) { return halfToFloat(bits); });
    break;
  case TensorType::BF16:
    convertHalves(data, out, [](uint16_t bits) { return bfloatToFloat(bits); });
    break;
  case TensorType::Q8_0:
    dequantizeBlocks(WeightFormat::Q8_0, data, out);
    break;
  default:
    dequantizeBlocks(WeightFormat::Q4_0, data, out);
    break;
  }
  return Success{};
}

void quantizeRow(WeightFormat format, std::span<const float> row,
                 std::span<uint16_t> scales, std::span<int8_t> codes) {
  assert(static_cast<int64_t>(scales.size()) ==
             blocksPerRow(static_cast<int64_t>(row.size())) &&
         codes.size() == scales.size() * kQuantBlock && "sizes fit the row");
  for (size_t block = 0; block < scales.size(); ++block) {
    Block x{};
    size_t start = block * kQuantBlock;
    std::copy_n(row.data() + start,
                std::min<size_t>(kQuantBlock, row.size() - start), x.begin());
    scales[block] = format == WeightFormat::Q8_0
                        ? quantizeBlockQ8(x, &codes[start])
                        : quantizeBlockQ4(x, &codes[start]);
  }
}

void unpackBlocks(WeightFormat format, std::span<const std::byte> data,
                  std::span<uint16_t> scales, std::span<int8_t> codes) {
  assert(data.size() == scales.size() * blockBytes(format) &&
         codes.size() == scales.size() * kQuantBlock && "sizes fit");
  for (size_t block = 0; block < scales.size(); ++block) {
    unpackBlock(format, data.data() + block * blockBytes(format), scales[block],
                &codes[block * kQuantBlock]);
  }
}

void packBlocks(WeightFormat format, std::span<const uint16_t> scales,
                std::span<const int8_t> codes, std::span<std::byte> data) {
  assert(data.size() == scales.size() * blockBytes(format) &&
         codes.size() == scales.size() * kQuantBlock && "sizes fit");
  for (size_t block = 0; block < scales.size(); ++block) {
    packBlock(format, scales[block], &codes[block * kQuantBlock],
              data.data() + block * blockBytes(format));
  }
}

} // namespace orrery::models
