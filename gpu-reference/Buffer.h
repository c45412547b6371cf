// Device memory that frees itself.
#pragma once

#include "gpu-reference/CudaStatus.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

/// `size()` elements of T in device memory, uninitialized; data() is aligned to
/// 256 bytes and null when the size is 0.
template <class T> class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  Buffer() = default;
  Buffer(Buffer &&other) noexcept
      : memory(std::exchange(other.memory, nullptr)),
        count(std::exchange(other.count, 0)) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(memory, other.memory);
    std::swap(count, other.count);
    return *this;
  }
  ~Buffer() { (void)cudaFree(memory); }

  /// "out of device memory: 4096 bytes for the logits, 1024 free" when there is
  /// no room; `what` names the contents.
  static Expected<Buffer> allocate(size_t count, std::string_view what) {
    Buffer buffer;
    if (count == 0) {
      return Expected<Buffer>(std::move(buffer));
    }
    const size_t bytes = count * sizeof(T);
    void *memory = nullptr;
    const cudaError_t error = cudaMalloc(&memory, bytes);
    if (error == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError(); // reported here
      size_t free = 0;
      size_t total = 0;
      (void)cudaMemGetInfo(&free, &total);
      return Error{"out of device memory: " + std::to_string(bytes) +
                   " bytes for " + std::string(what) + ", " +
                   std::to_string(free) + " free"};
    }
    if (Status status =
            cudaStatus(error, "cudaMalloc for " + std::string(what));
        !status) {
      return status.error();
    }
    buffer.memory = static_cast<T *>(memory);
    buffer.count = count;
    return Expected<Buffer>(std::move(buffer));
  }

  /// A copy of host memory.
  static Expected<Buffer> copyOf(std::span<const T> values,
                                 std::string_view what) {
    Expected<Buffer> buffer = allocate(values.size(), what);
    if (!buffer) {
      return buffer.error();
    }
    if (Status status = buffer->upload(values); !status) {
      return Error{std::string(what) + ": " + status.error().message};
    }
    return Expected<Buffer>(std::move(buffer));
  }
  static Expected<Buffer> copyOf(const std::vector<T> &values,
                                 std::string_view what) {
    return copyOf(std::span<const T>(values), what);
  }

  /// Copies `values` to elements first, first + 1, …; at most size() - first.
  Status upload(std::span<const T> values, size_t first = 0) {
    return copy(memory + first, values.data(), values.size(), first,
                cudaMemcpyHostToDevice);
  }

  /// Copies elements first, first + 1, … to `values`, after all work given to
  /// the default stream; wait for other streams first.
  Status download(std::span<T> values, size_t first = 0) const {
    return copy(values.data(), memory + first, values.size(), first,
                cudaMemcpyDeviceToHost);
  }

  /// All elements.
  Expected<std::vector<T>> read() const {
    std::vector<T> values(count);
    if (Status status = download(values); !status) {
      return status.error();
    }
    return values;
  }

  T *data() { return memory; }
  const T *data() const { return memory; }
  size_t size() const { return count; }
  size_t bytes() const { return count * sizeof(T); }

private:
  Status copy(void *to, const void *from, size_t elements, size_t first,
              cudaMemcpyKind kind) const {
    if (first > count || elements > count - first) {
      return Error{"copy of elements " + std::to_string(first) + " to " +
                   std::to_string(first + elements) + " of a buffer of " +
                   std::to_string(count)};
    }
    if (elements == 0) {
      return Success();
    }
    return cudaStatus(cudaMemcpy(to, from, elements * sizeof(T), kind),
                      "cudaMemcpy");
  }

  T *memory = nullptr;
  size_t count = 0;
};

} // namespace orrery::gpu::ORRERY_GPU
