// Activations and weights through plane 2 (east, next to the SXM): two loads'
// worth of entries, tiles over 16 streams, results to slices 0-3.
#pragma once

#include "machine/Timing.h"
#include "machine/numerics.h"
#include "tests/simulator/TestChip.h"

#include <random>

namespace orrery::sim::test {

struct MatrixShape {
  WeightFormat format = WeightFormat::Q8;
  int32_t lanes = 32;
  uint32_t low = 0, high = 32;
  uint32_t tiles = 1, inner = 1, rows = 1;
  RegionKind weights = RegionKind::Weight;
  bool sums = false; ///< results are accumulators, in slices 0-7

  int resultWidth() const { return sums ? 8 : 4; }
};

struct MatrixPath : TestChip {
  static constexpr uint16_t kCodes = 16;   ///< activations: slices 16, 17
  static constexpr uint16_t kWeights = 20; ///< slices 20-35, bank 1
  static constexpr int32_t kPlane = 2;

  MatrixShape shape;
  uint32_t columns, cycles, period;
  uint32_t actRead, load, weightRead, install, matmul, write;
  std::mt19937 random{7};
  /// Reference sums [tile][row][column].
  std::vector<int64_t> expected;

  explicit MatrixPath(const MatrixShape &s)
      : TestChip(s.lanes), shape(s), columns(s.high - s.low),
        cycles(tileCycles(s.format, columns, 16)),
        period(cycles + 2 * s.rows + 4) {
    region(RegionKind::Table, kCodes, 2, 0, 0, 64);
    region(s.weights, kWeights, 16, 1, 0, 256);
    region(RegionKind::Kv, 0, uint16_t(s.resultWidth()), 0, 0, 128);
    fillValues();
    schedule();
  }

  Instruction &at(uint32_t number) { return program.instructions[number]; }
  template <class Op> Op &op(uint32_t number) {
    return std::get<Op>(at(number).operation);
  }
  /// First result of N tile `n` and row `m` in column order.
  std::vector<float> result(const SramImage &sram, uint32_t n,
                            uint32_t m) const {
    return getF32(sram, 0, n * shape.rows + m, machine.lanes);
  }
  std::vector<float> wanted(uint32_t n, uint32_t m) const {
    std::vector<float> row(size_t(machine.lanes), 0.0f);
    for (uint32_t c = 0; c < columns; ++c) {
      row[shape.low + c] = numerics::readAccumulator(
          expected[(n * shape.rows + m) * columns + c]);
    }
    return row;
  }

  std::vector<int64_t> sums(const SramImage &sram, uint32_t n,
                            uint32_t m) const {
    std::vector<int64_t> row;
    for (int32_t lane = 0; lane < machine.lanes; ++lane) {
      uint64_t bits = 0;
      for (int32_t k = 0; k < 8; ++k) {
        bits |= uint64_t(sram.vector(k, 0, n * shape.rows + m)[lane]) << 8 * k;
      }
      row.push_back(int64_t(bits));
    }
    return row;
  }
  std::vector<int64_t> wantedSums(uint32_t n, uint32_t m) const {
    std::vector<int64_t> row(size_t(machine.lanes), 0);
    for (uint32_t c = 0; c < columns; ++c) {
      row[shape.low + c] = expected[(n * shape.rows + m) * columns + c];
    }
    return row;
  }

private:
  bool isF16() const { return shape.format == WeightFormat::F16; }
  int pick(int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  }
  uint16_t pickHalf() {
    return numerics::floatToHalf(float(pick(-900, 900)) / 256.0f);
  }

  /// Entry k * rows + m of the activations, and what it means.
  struct Activation {
    std::vector<int8_t> codes;
    std::vector<float> scales;
    std::vector<float> halves;
  };
  Activation fillEntry(uint32_t entry) {
    Activation a;
    uint8_t *first = image.vector(kCodes, 0, entry);
    uint8_t *second = image.vector(kCodes + 1, 0, entry);
    for (int32_t lane = 0; lane < machine.lanes; ++lane) {
      if (isF16()) {
        uint16_t half = pickHalf();
        first[lane] = uint8_t(half);
        second[lane] = uint8_t(half >> 8);
        a.halves.push_back(numerics::halfToFloat(half));
      } else {
        a.codes.push_back(int8_t(pick(-127, 127)));
        first[lane] = uint8_t(a.codes.back());
      }
    }
    for (int32_t b = 0; !isF16() && b < machine.lanes / 32; ++b) {
      a.scales.push_back(float(pick(1, 99)) * 1e-3f);
      std::memcpy(second + 4 * b, &a.scales[size_t(b)], 4);
    }
    return a;
  }

  uint8_t *installVector(uint32_t tile, uint32_t u) {
    return image.vector(kWeights + int32_t(u % 16), 1,
                        int64_t(tile) * cycles + u / 16);
  }

  void fillValues() {
    std::vector<Activation> entries;
    for (uint32_t e = 0; e < shape.inner * shape.rows; ++e) {
      entries.push_back(fillEntry(e));
    }
    expected.assign(size_t(shape.tiles) * shape.rows * columns, 0);
    for (uint32_t n = 0; n < shape.tiles; ++n) {
      for (uint32_t k = 0; k < shape.inner; ++k) {
        for (uint32_t r = 0; r < columns; ++r) {
          fillRow(n, k, r, entries);
        }
      }
    }
  }

  void fillRow(uint32_t n, uint32_t k, uint32_t r,
               const std::vector<Activation> &entries) {
    uint32_t tile = n * shape.inner + k;
    std::vector<int> codes;
    std::vector<float> halves, scales;
    for (int32_t lane = 0; lane < machine.lanes; ++lane) {
      switch (shape.format) {
      case WeightFormat::Q4: {
        codes.push_back(pick(-8, 7));
        uint8_t nibble = uint8_t(codes.back() + 8);
        installVector(tile, r / 2)[lane] |=
            r % 2 == 0 ? nibble : uint8_t(nibble << 4);
        break;
      }
      case WeightFormat::F16: {
        uint16_t half = pickHalf();
        installVector(tile, 2 * r)[lane] = uint8_t(half);
        installVector(tile, 2 * r + 1)[lane] = uint8_t(half >> 8);
        halves.push_back(numerics::halfToFloat(half));
        break;
      }
      default:
        codes.push_back(pick(-128, 127));
        installVector(tile, r)[lane] = uint8_t(int8_t(codes.back()));
      }
    }
    bool scaled =
        shape.format == WeightFormat::Q8 || shape.format == WeightFormat::Q4;
    uint32_t codeVectors =
        shape.format == WeightFormat::Q4 ? columns / 2 : columns;
    for (int32_t b = 0; b < machine.lanes / 32; ++b) {
      uint16_t d = numerics::floatToHalf(float(pick(1, 50)) / 512.0f);
      scales.push_back(scaled ? numerics::halfToFloat(d) : 1.0f);
      if (scaled) {
        std::memcpy(installVector(tile, codeVectors + r / 16) +
                        (r % 16) * uint32_t(machine.lanes) / 16 + 2 * b,
                    &d, 2);
      }
    }
    for (uint32_t m = 0; m < shape.rows; ++m) {
      const Activation &x = entries[k * shape.rows + m];
      int64_t &sum = expected[(n * shape.rows + m) * columns + r];
      for (int32_t b = 0; b < machine.lanes / 32; ++b) {
        int32_t isum = 0;
        for (int32_t lane = 32 * b; lane < 32 * b + 32; ++lane) {
          if (isF16()) {
            sum += numerics::halfTerm(halves[size_t(lane)],
                                      x.halves[size_t(lane)]);
          } else {
            isum += codes[size_t(lane)] * x.codes[size_t(lane)];
          }
        }
        if (!isF16()) {
          sum +=
              numerics::blockTerm(isum, scales[size_t(b)], x.scales[size_t(b)]);
        }
      }
    }
  }

  void schedule() {
    Position plane = g.ofPlane(kPlane);
    uint32_t entries = shape.inner * shape.rows;
    ReadOp acts = read(kCodes, 2, linear(0, entries),
                       {{Direction::East, 0}, plane}, burst(entries));
    actRead = add(5, acts);
    Tick loaded = readPasses(acts, 5, plane);
    LoadOp l;
    l.plane = kPlane;
    l.f16 = isF16();
    l.shape = burst(entries);
    load = add(loaded, l);

    uint32_t count = shape.tiles * shape.inner;
    BurstShape runs{cycles, 1, count, count == 1 ? 0 : period};
    ReadOp w = read(kWeights, 16, linear(0, cycles * count),
                    {{Direction::East, 4}, plane}, runs, 1);
    // Late enough that all activations are there.
    Tick start = 80 + entries;
    weightRead = add(start, w);
    InstallOp i;
    i.plane = kPlane;
    i.format = shape.format;
    i.stream = 4;
    i.low = uint16_t(shape.low);
    i.high = uint16_t(shape.high);
    i.shape = runs;
    install = add(readPasses(w, start, plane), i);

    MatmulOp m;
    m.plane = kPlane;
    m.format = shape.format;
    m.low = i.low;
    m.high = i.high;
    m.tiles = shape.tiles;
    m.inner = shape.inner;
    m.rows = shape.rows;
    m.period = count == 1 ? 0 : period;
    m.stream = 0;
    m.stop = g.ofSlice(0);
    m.sums = shape.sums;
    Tick first = at(install).tick + cycles - 1 + machine.timing.install;
    matmul = add(first, m);

    uint32_t perRow = isF16() ? 2 : 1;
    uint32_t results = shape.tiles * shape.rows;
    Tick leaves =
        first + Tick(shape.inner - 1) * period + machine.timing.matmul;
    BurstShape outShape{shape.rows, perRow, shape.tiles,
                        shape.tiles == 1 ? 0 : shape.inner * period};
    write =
        add(travel(leaves, plane, g.ofSlice(0)),
            TestChip::write(0, uint8_t(shape.resultWidth()), linear(0, results),
                            {Direction::West, 0}, outShape));
  }
};

} // namespace orrery::sim::test
