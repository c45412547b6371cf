// The host memory that values of bursts lie in. A step makes and drops
// thousands of buffers of few sizes; what is dropped serves again. Contents are
// undefined at first. One thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace orrery::sim {

class BufferPool {
  struct alignas(64) Line {
    uint8_t byte[64];
  };
  struct GiveBack {
    BufferPool *pool;
    size_t sizeClass;
    void operator()(Line *lines) const {
      pool->idle[sizeClass].emplace_back(lines);
    }
  };

public:
  /// Owns its bytes, 64-byte aligned; the pool outlives it.
  class Buffer {
  public:
    Buffer() = default;
    uint8_t *data() { return lines.get()->byte; }
    const uint8_t *data() const { return lines.get()->byte; }
    /// The bytes as values that any bit pattern may stand for.
    template <class T> T *as() { return reinterpret_cast<T *>(lines.get()); }

  private:
    friend class BufferPool;
    explicit Buffer(std::unique_ptr<Line[], GiveBack> lines)
        : lines(std::move(lines)) {}
    std::unique_ptr<Line[], GiveBack> lines;
  };

  /// At least `bytes` of them.
  Buffer take(size_t bytes) {
    size_t sizeClass = size_t(std::bit_width(std::max<size_t>(bytes, 64) - 1));
    auto &list = idle[sizeClass];
    if (list.empty()) {
      list.emplace_back(new Line[(size_t(1) << sizeClass) / sizeof(Line)]);
    }
    std::unique_ptr<Line[], GiveBack> lines(list.back().release(),
                                            {this, sizeClass});
    list.pop_back();
    return Buffer(std::move(lines));
  }

private:
  /// By the logarithm of their size.
  std::array<std::vector<std::unique_ptr<Line[]>>, 64> idle;
};

using Buffer = BufferPool::Buffer;

} // namespace orrery::sim
