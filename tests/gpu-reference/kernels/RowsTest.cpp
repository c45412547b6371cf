// Row kernels bit for bit against the loops of dialects/llm/EvaluateRows.cpp,
// written down again over machine/numerics.h: odd widths, every form, faults,
// NaN wherever nothing may be read.
#include "gpu-reference/kernels/Rows.h"

#include "tests/gpu-reference/Orders.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

namespace orrery::gpu::ORRERY_GPU {
namespace {

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInfinity = std::numeric_limits<float>::infinity();

/// [rows][stride] f32, NaN behind `width`.
struct HostRows {
  HostRows(int rows, int width, int stride = 0)
      : rows(rows), width(width), stride(stride == 0 ? width : stride),
        values(size_t(rows) * size_t(this->stride), kNan) {}

  float &at(int row, int i) { return values[size_t(row * stride + i)]; }
  float at(int row, int i) const { return values[size_t(row * stride + i)]; }

  HostRows &fill(std::mt19937 &random, float deviation = 1) {
    std::normal_distribution<float> normal(0, deviation);
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < width; ++i) {
        at(row, i) = normal(random);
      }
    }
    return *this;
  }
  /// Row by row without what is behind `width`.
  HostRows dense() const {
    HostRows result(rows, width);
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < width; ++i) {
        result.at(row, i) = at(row, i);
      }
    }
    return result;
  }
  Buffer<float> upload() const {
    return std::move(*Buffer<float>::copyOf(values, "rows"));
  }

  int rows;
  int width;
  int stride;
  std::vector<float> values;
};

/// The bits, so that NaN and -0 count.
std::vector<uint32_t> bitsOf(const std::vector<float> &values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

/// What a kernel should leave in every form of an ActivationView.
struct Forms {
  explicit Forms(const HostRows &x) : values(x.dense().values) {
    const int blocks = (x.width + 31) / 32;
    codes.resize(size_t(x.rows * blocks) * 32);
    halves.resize(codes.size());
    scales.resize(size_t(x.rows * blocks));
    for (int row = 0; row < x.rows; ++row) {
      for (int block = 0; block < blocks; ++block) {
        const size_t at = size_t(row * blocks + block);
        const int n = std::min(32, x.width - 32 * block);
        const float *from = &x.values[size_t(row * x.stride + 32 * block)];
        (void)numerics::quantizeA8Block(from, n, &codes[32 * at], &scales[at]);
        for (int i = 0; i < n; ++i) {
          halves[32 * at + size_t(i)] = numerics::floatToHalf(from[i]);
        }
      }
    }
  }
  std::vector<float> values;
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<uint16_t> halves;
};

/// Device rows with one row too many, which must stay as it is.
class Output {
public:
  Output(int rows, int width, ActivationForms forms = {true, true, true})
      : rows(rows), forms(forms), memory(std::move(*DeviceActivations::allocate(
                                      rows + 1, width, forms, "out"))) {
    const ActivationView all = memory.view();
    const size_t count = size_t(rows + 1);
    const auto mark = [](void *place, size_t bytes) {
      if (place != nullptr) {
        EXPECT_EQ(cudaMemset(place, kMark, bytes), cudaSuccess);
      }
    };
    mark(all.values, count * size_t(width) * 4);
    mark(all.codes, count * size_t(all.paddedK()));
    mark(all.scales, count * size_t(all.blocks()) * 4);
    mark(all.halves, count * size_t(all.paddedK()) * 2);
  }

  ActivationView view() { return memory.view(rows); }

  void expect(const Forms &expected) {
    const ActivationView all = memory.view();
    const auto count = size_t(rows + 1);
    if (forms.values) {
      EXPECT_EQ(bitsOf(read(all.values, count * size_t(all.k))),
                bitsOf(withMark(expected.values, size_t(all.k))));
    }
    if (forms.codes) {
      EXPECT_EQ(read(all.codes, count * size_t(all.paddedK())),
                withMark(expected.codes, size_t(all.paddedK())));
      EXPECT_EQ(bitsOf(read(all.scales, count * size_t(all.blocks()))),
                bitsOf(withMark(expected.scales, size_t(all.blocks()))));
    }
    if (forms.halves) {
      EXPECT_EQ(read(all.halves, count * size_t(all.paddedK())),
                withMark(expected.halves, size_t(all.paddedK())));
    }
  }

private:
  static constexpr int kMark = 0x37;

  template <class T> static std::vector<T> read(const T *from, size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), from, count * sizeof(T),
                         cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }
  template <class T>
  static std::vector<T> withMark(std::vector<T> values, size_t count) {
    const size_t first = values.size();
    values.resize(first + count);
    std::memset(values.data() + first, kMark, count * sizeof(T));
    return values;
  }

  int rows;
  ActivationForms forms;
  DeviceActivations memory;
};

/// A fault word, and where what it says must be.
class Faults {
public:
  FaultSite site() { return {word.data(), kOp}; }
  std::optional<FaultPlace> place() const {
    return faultPlace(word.read()->front());
  }
  /// The first value of `rows` that is not finite.
  static std::optional<FaultPlace> firstOf(const HostRows &rows) {
    for (int row = 0; row < rows.rows; ++row) {
      for (int i = 0; i < rows.width; ++i) {
        if (!std::isfinite(rows.at(row, i))) {
          return FaultPlace{kOp, uint32_t(row), uint32_t(i)};
        }
      }
    }
    return std::nullopt;
  }

  static constexpr uint32_t kOp = 77;

private:
  Buffer<Fault> word = std::move(
      *Buffer<Fault>::copyOf(std::vector<Fault>{{kNoFault}}, "fault"));
};

const int kWidths[] = {1, 31, 32, 33, 100, 172, 288, 1056, 2100};

/// Runs `test(width, rows, random)` over odd shapes; the seed is the width.
void onShapes(const std::function<void(int, int, std::mt19937 &)> &test) {
  for (int width : kWidths) {
    for (int rows : {1, 3}) {
      SCOPED_TRACE("rows " + std::to_string(rows) + ", width and seed " +
                   std::to_string(width));
      std::mt19937 random{uint32_t(width)};
      test(width, rows, random);
    }
  }
}

void expectLaunched() {
  const Status status = launchStatus("launch");
  EXPECT_TRUE(status) << status.error().message;
}

//===-- RMSNorm -----------------------------------------------------------===//

HostRows normOf(const HostRows &x, const HostRows &weight, float eps) {
  HostRows result(x.rows, x.width);
  for (int t = 0; t < x.rows; ++t) {
    numerics::WideAccumulator squares;
    for (int i = 0; i < x.width; ++i) {
      squares.add(x.at(t, i) * x.at(t, i));
    }
    const float mean = squares.read() / float(x.width);
    const float r = 1.0f / sqrtf(mean + eps);
    for (int i = 0; i < x.width; ++i) {
      result.at(t, i) = (x.at(t, i) * r) * weight.at(0, i);
    }
  }
  return result;
}

void expectNorm(const HostRows &x, const HostRows &weight, float eps,
                ActivationForms forms = {true, true, true}) {
  const HostRows expected = normOf(x, weight, eps);
  const auto place = Faults::firstOf(expected);
  inSeveralOrders([&] {
    const Buffer<float> in = x.upload();
    const Buffer<float> scale = weight.upload();
    Output out(x.rows, x.width, forms);
    Faults faults;
    rmsNorm(in.data(), scale.data(), eps, out.view(), faults.site(), nullptr);
    expectLaunched();
    EXPECT_EQ(faults.place(), place);
    if (!place) {
      out.expect(Forms(expected));
    }
  });
}

TEST(Rows, RmsNorm) {
  onShapes([](int width, int rows, std::mt19937 &random) {
    const HostRows weight = HostRows(1, width).fill(random);
    expectNorm(HostRows(rows, width).fill(random), weight, 1e-5f);
    expectNorm(HostRows(rows, width).fill(random, 1e-18f), weight, 1e-6f);
    // Whose sum needs more than 64 bits.
    expectNorm(HostRows(rows, width).fill(random, 1e8f), weight, 1e-5f);
  });
}

TEST(Rows, RmsNormWritesOnlyTheFormsThatAreThere) {
  std::mt19937 random(5);
  const HostRows weight = HostRows(1, 45).fill(random);
  const HostRows x = HostRows(2, 45).fill(random);
  expectNorm(x, weight, 0, {true, false, false});
  expectNorm(x, weight, 0, {false, true, false});
  expectNorm(x, weight, 0, {false, false, true});
}

TEST(Rows, RmsNormInPlace) {
  std::mt19937 random(6);
  const HostRows weight = HostRows(1, 1100).fill(random);
  const HostRows x = HostRows(2, 1100).fill(random);
  inSeveralOrders([&] {
    Buffer<float> values = x.upload();
    const Buffer<float> scale = weight.upload();
    ActivationView out;
    out.rows = 2;
    out.k = 1100;
    out.values = values.data();
    rmsNorm(values.data(), scale.data(), 1e-5f, out, {}, nullptr);
    expectLaunched();
    EXPECT_EQ(bitsOf(*values.read()), bitsOf(normOf(x, weight, 1e-5f).values));
  });
}

TEST(Rows, RmsNormReportsTheFirstThatIsNotFinite) {
  std::mt19937 random(7);
  const HostRows plain = HostRows(3, 70).fill(random);
  HostRows weight = HostRows(1, 70).fill(random);
  // Zeros: 1 / sqrt(0 + 0).
  HostRows x = plain;
  std::fill_n(&x.at(1, 0), 70, 0.0f);
  expectNorm(x, weight, 0);
  // Squares outside +-2^63.
  x = plain;
  x.at(2, 50) = 1e12f;
  expectNorm(x, weight, 1e-5f);
  weight.at(0, 41) = 3e38f;
  weight.at(0, 67) = kInfinity;
  expectNorm(HostRows(3, 70).fill(random, 100), weight, 1e8f);
}

//===-- Embedding ---------------------------------------------------------===//

models::QuantizedMatrix randomTable(std::mt19937 &random, int rows, int width,
                                    models::WeightFormat format) {
  models::QuantizedMatrix table;
  table.rows = rows;
  table.cols = width;
  table.blocksPerRow = (width + 31) / 32;
  table.format = format;
  const bool wide = format == models::WeightFormat::Q8_0;
  for (int64_t block = 0; block < rows * table.blocksPerRow; ++block) {
    table.scales.push_back(
        numerics::floatToHalf(float(random() % 1000) * 1e-4f));
    for (int i = 0; i < 32; ++i) {
      const int64_t column = block % table.blocksPerRow * 32 + i;
      const int code =
          wide ? int(random() % 255) - 127 : int(random() % 16) - 8;
      table.codes.push_back(int8_t(column < width ? code : 0));
    }
  }
  return table;
}

/// Every row of `table`, as llm.embed gives it.
HostRows valuesOf(const models::QuantizedMatrix &table) {
  HostRows values(int(table.rows), int(table.cols));
  for (int row = 0; row < values.rows; ++row) {
    for (int i = 0; i < values.width; ++i) {
      const auto line = size_t(row * table.blocksPerRow);
      values.at(row, i) =
          numerics::halfToFloat(table.scales[line + size_t(i / 32)]) *
          float(table.codes[line * 32 + size_t(i)]);
    }
  }
  return values;
}

void expectEmbedding(const DeviceMatrix &table, const HostRows &rows,
                     const std::vector<int32_t> &ids) {
  HostRows expected(int(ids.size()), rows.width);
  for (int t = 0; t < expected.rows; ++t) {
    for (int i = 0; i < rows.width; ++i) {
      expected.at(t, i) = rows.at(ids[size_t(t)], i);
    }
  }
  const auto place = Faults::firstOf(expected);
  inSeveralOrders([&] {
    const auto idRows = Buffer<int32_t>::copyOf(ids, "ids");
    Output out(expected.rows, rows.width, {true, false, false});
    Faults faults;
    embed(table.view(), idRows->data(), out.view(), faults.site(), nullptr);
    expectLaunched();
    EXPECT_EQ(faults.place(), place);
    out.expect(Forms(expected));
  });
}

TEST(Rows, EmbedFromBlocks) {
  onShapes([](int width, int, std::mt19937 &random) {
    for (const auto format :
         {models::WeightFormat::Q8_0, models::WeightFormat::Q4_0}) {
      const auto table = randomTable(random, 7, width, format);
      auto matrix =
          DeviceMatrix::upload(MatrixBytes::pack(table, 0xff), "table");
      ASSERT_TRUE(matrix) << matrix.error().message;
      expectEmbedding(*matrix, valuesOf(table), {6, 0, 3, 3});
    }
  });
}

TEST(Rows, EmbedFromHalves) {
  onShapes([](int width, int, std::mt19937 &random) {
    HostRows table = HostRows(5, width).fill(random);
    for (float &value : table.values) {
      value = numerics::roundToHalf(value);
    }
    table.at(3, width / 2) = kInfinity; // not there, or reported
    auto matrix = DeviceMatrix::upload(
        MatrixBytes::packHalves(5, width, table.values, 0xff), "table");
    ASSERT_TRUE(matrix) << matrix.error().message;
    expectEmbedding(*matrix, table, {4, 0, 2});
    expectEmbedding(*matrix, table, {4, 3, 2, 3});
  });
}

//===-- Quantization ------------------------------------------------------===//

/// A kernel that writes rows, given such operands that these are `rows`. Of
/// RMSNorm all rows are the last.
struct Writer {
  const char *name;
  void (*write)(const HostRows &rows, const ActivationView &out);
};

const Writer kWriters[] = {
    {"quantize",
     [](const HostRows &rows, const ActivationView &out) {
       quantize(rows.upload().data(), out, nullptr);
     }},
    {"rmsNorm",
     [](const HostRows &rows, const ActivationView &out) {
       HostRows ones(rows.rows, rows.width), last(1, rows.width);
       std::ranges::fill(ones.values, 1.0f);
       for (int i = 0; i < rows.width; ++i) {
         last.at(0, i) = rows.at(rows.rows - 1, i);
       }
       rmsNorm(ones.upload().data(), last.upload().data(), 0, out, {}, nullptr);
     }},
    {"gated",
     [](const HostRows &rows, const ActivationView &out) {
       // silu(64) = 64.
       HostRows gate(rows.rows, rows.width), up(rows.rows, rows.width);
       std::ranges::fill(gate.values, 64.0f);
       std::ranges::transform(rows.values, up.values.begin(),
                              [](float x) { return x / 64; });
       gated(gate.upload().data(), up.upload().data(), rows.width, out, {},
             nullptr);
     }},
};

/// The word that says whether a scale was large, set for good by whoever writes
/// rows.
TEST(Rows, TellWhetherAScaleIsLarge) {
  // The greatest f32 whose 127th part is below kLargeScale, and the next one.
  float below = kLargeScale * 127;
  while (!(below / 127.0f < kLargeScale)) {
    below = std::nextafter(below, 0.0f);
  }
  const float least = std::nextafter(below, kInfinity);
  const auto check = [&](const Writer &writer, int width, float value) {
    auto memory = std::move(*DeviceActivations::allocate(
        2, width, {.values = true, .codes = true}, "rows"));
    const auto word = [&] {
      uint32_t large = 7;
      EXPECT_EQ(cudaMemcpy(&large, memory.view().large, sizeof(large),
                           cudaMemcpyDeviceToHost),
                cudaSuccess);
      return large;
    };
    HostRows x(2, width);
    std::ranges::fill(x.values, below);
    writer.write(x, memory.view());
    EXPECT_EQ(word(), 0u);
    x.at(1, width - 1) = value;
    writer.write(x, memory.view());
    const uint32_t expected = std::fabs(value) <= below ? 0 : 1;
    EXPECT_EQ(word(), expected) << value << " at " << width - 1;
    x.at(1, width - 1) = 0;
    writer.write(x, memory.view());
    EXPECT_EQ(word(), expected) << "after " << value;
    expectLaunched();
  };
  for (const Writer &writer : kWriters) {
    SCOPED_TRACE(writer.name);
    for (int width : kWidths) {
      for (float value : {below, -below, least, -least, kInfinity, kNan}) {
        inSeveralOrders([&] { check(writer, width, value); });
      }
    }
  }
}

TEST(Rows, Quantize) {
  onShapes([](int width, int rows, std::mt19937 &random) {
    HostRows x = HostRows(rows, width).fill(random, 3);
    x.at(0, 0) = 1e-40f; // subnormal
    for (int i = 32; i < std::min(width, 64); ++i) {
      x.at(0, i) = i % 2 == 0 ? 0.0f : -0.0f;
    }
    // Halfway between codes: every rounding on the way counts.
    const float amax = std::abs(x.at(rows - 1, width - 1));
    for (int i = width / 32 * 32; i < width - 1; ++i) {
      x.at(rows - 1, i) = (float(i % 32) + 0.5f) * amax / 127.0f;
    }
    inSeveralOrders([&] {
      const Buffer<float> in = x.upload();
      Output out(rows, width);
      quantize(in.data(), out.view(), nullptr);
      expectLaunched();
      out.expect(Forms(x));
    });
  });
}

//===-- Rotary embedding --------------------------------------------------===//

HostRows turned(HostRows x, const RotaryShape &shape, const HostRows &cos,
                const HostRows &sin) {
  const int pairs = shape.ropeDim / 2;
  for (int t = 0; t < x.rows; ++t) {
    for (int h = 0; h < shape.heads; ++h) {
      for (int j = 0; j < pairs; ++j) {
        const bool adjacent = shape.pairs == RotaryPairs::Adjacent;
        const int first = h * shape.headDim + (adjacent ? 2 * j : j);
        const int second = first + (adjacent ? 1 : pairs);
        numerics::ropePair(x.at(t, first), x.at(t, second), cos.at(t, j),
                           sin.at(t, j));
      }
    }
  }
  return x;
}

void expectTurned(const HostRows &x, const RotaryShape &shape,
                  const HostRows &cos, const HostRows &sin) {
  const HostRows expected = turned(x, shape, cos, sin);
  inSeveralOrders([&] {
    Buffer<float> values = x.upload();
    const Buffer<float> cosines = cos.upload();
    const Buffer<float> sines = sin.upload();
    Faults faults;
    rope(values.data(), x.stride, x.rows, shape, cosines.data(), sines.data(),
         faults.site(), nullptr);
    expectLaunched();
    EXPECT_EQ(bitsOf(*values.read()), bitsOf(expected.values));
    EXPECT_EQ(faults.place(), Faults::firstOf(expected));
  });
}

TEST(Rows, Rope) {
  struct Case {
    int heads, headDim, ropeDim, rows;
  };
  const Case cases[] = {{1, 2, 2, 1},     {3, 24, 24, 2},  {2, 40, 16, 5},
                        {7, 100, 100, 3}, {32, 64, 64, 1}, {4, 8, 0, 2}};
  std::mt19937 random(8);
  for (const Case &c : cases) {
    for (const auto pairs : {RotaryPairs::Adjacent, RotaryPairs::Halves}) {
      SCOPED_TRACE("seed 8, heads " + std::to_string(c.heads) + " of " +
                   std::to_string(c.headDim) + ", turned " +
                   std::to_string(c.ropeDim));
      const int width = c.heads * c.headDim;
      // cos and sin need not be of one angle for the bits to be defined.
      const HostRows cos = HostRows(c.rows, c.ropeDim / 2).fill(random);
      const HostRows sin = HostRows(c.rows, c.ropeDim / 2).fill(random);
      expectTurned(HostRows(c.rows, width, width + 3).fill(random),
                   {c.heads, c.headDim, c.ropeDim, pairs}, cos, sin);
    }
  }
}

TEST(Rows, RopeReportsWhatOverflows) {
  std::mt19937 random(9);
  HostRows x = HostRows(3, 80).fill(random);
  x.at(1, 44) = 3e38f;
  x.at(1, 45) = -3e38f;
  x.at(2, 0) = 3e38f;
  x.at(2, 1) = -3e38f;
  HostRows turn(3, 20);
  std::fill(turn.values.begin(), turn.values.end(), 0.75f);
  expectTurned(x, {2, 40, 40, RotaryPairs::Adjacent}, turn, turn);
  x.at(1, 45) = 3e38f; // the second of the pair alone
  expectTurned(x, {2, 40, 40, RotaryPairs::Adjacent}, turn, turn);
}

//===-- Gate and sum ------------------------------------------------------===//

void expectGated(const HostRows &gate, const HostRows &up) {
  HostRows expected(gate.rows, gate.width);
  for (int t = 0; t < gate.rows; ++t) {
    for (int i = 0; i < gate.width; ++i) {
      expected.at(t, i) = numerics::silu(gate.at(t, i)) * up.at(t, i);
    }
  }
  const auto place = Faults::firstOf(expected);
  inSeveralOrders([&] {
    const Buffer<float> a = gate.upload();
    const Buffer<float> b = up.upload();
    Output out(gate.rows, gate.width);
    Faults faults;
    gated(a.data(), b.data(), gate.stride, out.view(), faults.site(), nullptr);
    expectLaunched();
    EXPECT_EQ(faults.place(), place);
    if (!place) {
      out.expect(Forms(expected));
    }
  });
}

TEST(Rows, Gated) {
  onShapes([](int width, int rows, std::mt19937 &random) {
    HostRows gate = HostRows(rows, width, width + 5).fill(random, 4);
    HostRows up = HostRows(rows, width, width + 5).fill(random, 4);
    gate.at(0, 0) = -200; // exp(200) is infinite, the quotient is not
    expectGated(gate, up);
    gate.at(rows - 1, width - 1) = 1e30f;
    up.at(rows - 1, width - 1) = -1e30f;
    expectGated(gate, up);
  });
}

TEST(Rows, Add) {
  onShapes([](int width, int rows, std::mt19937 &random) {
    HostRows a = HostRows(rows, width).fill(random);
    const HostRows b = HostRows(rows, width).fill(random, 1e-3f);
    for (int round = 0; round < 2; ++round) {
      HostRows expected(rows, width);
      for (size_t i = 0; i < a.values.size(); ++i) {
        expected.values[i] = a.values[i] + b.values[i];
      }
      inSeveralOrders([&] {
        Buffer<float> first = a.upload();
        const Buffer<float> second = b.upload();
        Faults faults;
        add(first.data(), second.data(), rows, width, first.data(),
            faults.site(), nullptr);
        expectLaunched();
        EXPECT_EQ(bitsOf(*first.read()), bitsOf(expected.values));
        EXPECT_EQ(faults.place(), Faults::firstOf(expected));
      });
      a.at(rows - 1, width / 2) = kInfinity;
    }
  });
}

//===-- Greedy token ------------------------------------------------------===//

void expectArgmax(const HostRows &logits) {
  std::vector<int32_t> expected;
  for (int t = 0; t < logits.rows; ++t) {
    expected.push_back(int32_t(numerics::argmax(
        &logits.values[size_t(t * logits.width)], logits.width)));
  }
  inSeveralOrders([&] {
    const Buffer<float> in = logits.upload();
    const auto count = size_t(logits.rows);
    auto keys = Buffer<unsigned long long>::allocate(count, "keys");
    auto ids = Buffer<int32_t>::allocate(count, "ids");
    argmax(in.data(), logits.rows, logits.width, keys->data(), ids->data(),
           nullptr);
    expectLaunched();
    EXPECT_EQ(*ids->read(), expected);
  });
}

TEST(Rows, Argmax) {
  std::mt19937 random(10);
  for (int width : {1, 2, 33, 500, 4096, 4097, 9001}) {
    SCOPED_TRACE("seed 10, width " + std::to_string(width));
    expectArgmax(HostRows(3, width).fill(random));
    // Few different values: ties everywhere.
    HostRows ties = HostRows(3, width).fill(random);
    for (float &value : ties.values) {
      value = roundf(value);
    }
    expectArgmax(ties);
  }
}

TEST(Rows, ArgmaxOfRowsWithNothingToChoose) {
  std::mt19937 random(11);
  HostRows logits(6, 300); // row 0: NaN
  std::fill_n(&logits.at(1, 0), 300, -kInfinity);
  std::fill_n(&logits.at(2, 0), 300, -0.0f);
  logits.at(2, 200) = 0.0f;
  logits.at(3, 299) = -5;
  std::fill_n(&logits.at(4, 0), 300, -kInfinity);
  logits.at(4, 77) = -std::numeric_limits<float>::max();
  std::fill_n(&logits.at(5, 0), 300, kInfinity);
  expectArgmax(logits);
}

} // namespace
} // namespace orrery::gpu::ORRERY_GPU
