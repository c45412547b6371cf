// Host memory that a device copies from without staging, so that a recorded
// copy reads what is there when it is replayed.
#pragma once

#include "gpu-reference/CudaStatus.h"

#include <cstddef>
#include <string>
#include <utility>

namespace orrery::gpu::ORRERY_GPU {

/// `size()` elements of T, uninitialized.
template <class T> class PinnedBuffer {
public:
  PinnedBuffer() = default;
  PinnedBuffer(PinnedBuffer &&other) noexcept
      : memory(std::exchange(other.memory, nullptr)),
        count(std::exchange(other.count, 0)) {}
  PinnedBuffer &operator=(PinnedBuffer &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(count, other.count);
    return *this;
  }
  ~PinnedBuffer() {
    if (memory != nullptr) {
      (void)cudaFreeHost(memory);
    }
  }

  static Expected<PinnedBuffer> allocate(size_t count, std::string_view what) {
    PinnedBuffer buffer;
    void *memory = nullptr;
    if (Status ok = cudaStatus(cudaMallocHost(&memory, count * sizeof(T)),
                               "cudaMallocHost of " +
                                   std::to_string(count * sizeof(T)) +
                                   " bytes for " + std::string(what));
        !ok) {
      (void)cudaGetLastError(); // reported here
      return ok.error();
    }
    buffer.memory = static_cast<T *>(memory);
    buffer.count = count;
    return Expected<PinnedBuffer>(std::move(buffer));
  }

  T *data() { return memory; }
  const T *data() const { return memory; }
  size_t size() const { return count; }

private:
  T *memory = nullptr;
  size_t count = 0;
};

} // namespace orrery::gpu::ORRERY_GPU
