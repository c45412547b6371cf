// A KV cache in device memory for tests: pages in any order, everything that
// nobody wrote is NaN or noise.
#pragma once

#include "gpu-reference/Buffer.h"
#include "gpu-reference/kernels/KvAppend.h"
#include "models/KvPages.h"

#ifndef __CUDACC__
#include "gpu-reference/emulation/Settings.h"
#endif

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

/// The value, or a failure of the test.
template <class T> T must(Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << value.error().message;
    return T();
  }
  return std::move(*value);
}

inline void check(const Status &status) {
  EXPECT_TRUE(status) << (status ? "" : status.error().message);
}

class PagedCache {
public:
  /// Room for `positions`; some pages belong to nobody.
  PagedCache(const KvLayout &layout, int64_t positions, std::mt19937 &random)
      : layout(layout) {
    const int64_t own =
        (positions + layout.pagePositions - 1) / layout.pagePositions;
    std::vector<int32_t> pages(static_cast<size_t>(own + 2));
    for (size_t page = 0; page < pages.size(); ++page) {
      pages[page] = int32_t(page);
    }
    std::shuffle(pages.begin(), pages.end(), random);
    table.assign(pages.begin(), pages.begin() + own);
    std::vector<uint8_t> bytes(pages.size() * size_t(layout.pageBytes()));
    const bool noise = random() % 2 == 0;
    for (uint8_t &byte : bytes) {
      byte = noise ? uint8_t(random()) : uint8_t(0xff); // 0xffff is a NaN
    }
    pool = must(Buffer<uint8_t>::copyOf(bytes, "pages"));
    deviceTable = must(Buffer<int32_t>::copyOf(table, "page table"));
    position = must(Buffer<int32_t>::allocate(size_t(positions), "positions"));
  }

  KvCacheView view(int32_t layer) {
    return {pool.data(), deviceTable.data(), 0, layout, layer};
  }
  /// Rows stand at `to` and behind.
  void moveTo(int32_t to, int32_t rows) {
    std::vector<int32_t> places(static_cast<size_t>(rows));
    std::iota(places.begin(), places.end(), to);
    check(position.upload(places));
  }
  /// Appends rows k, v [tokens][kvHeads * headDim] at `at` and behind.
  void append(int32_t layer, int32_t at, const std::vector<float> &k,
              const std::vector<float> &v) {
    const auto tokens = int32_t(k.size()) / (layout.kvHeads * layout.headDim);
    const Buffer<float> keys = must(Buffer<float>::copyOf(k, "k"));
    const Buffer<float> values = must(Buffer<float>::copyOf(v, "v"));
    moveTo(at, tokens);
    kvAppend(keys.data(), values.data(), tokens, position.data(), view(layer),
             nullptr);
    check(launchStatus("kvAppend"));
  }
  /// Where a head's part of the page of a position starts in the pool.
  int64_t partOf(int32_t layer, int32_t head, int32_t at) const {
    return layout.headOffset(table[size_t(at / layout.pagePositions)], layer,
                             head);
  }

  KvLayout layout;
  std::vector<int32_t> table;
  Buffer<uint8_t> pool;
  Buffer<int32_t> deviceTable;
  Buffer<int32_t> position;
};

/// [count], from 1e-3 to 8 in magnitude.
inline std::vector<float> randomValues(size_t count, std::mt19937 &random) {
  std::vector<float> values(count);
  for (float &value : values) {
    const float exponent = float(random() % 1000) / 1000 * 13 - 10;
    value = (random() % 2 ? 1.0f : -1.0f) * std::exp2(exponent);
  }
  return values;
}

/// Order of threads and contents of unwritten memory by a seed, for as long as
/// it lives; nothing on a device.
class OrderScope {
public:
#ifdef __CUDACC__
  explicit OrderScope(uint32_t) {}
  ~OrderScope() {}
#else
  explicit OrderScope(uint32_t seed) : scope(settingsOf(seed)) {}

private:
  static Settings settingsOf(uint32_t seed) {
    Settings settings;
    settings.order = Order(seed % 3);
    settings.seed = seed;
    return settings;
  }

  SettingsScope scope;
#endif
};

} // namespace orrery::gpu::ORRERY_GPU
