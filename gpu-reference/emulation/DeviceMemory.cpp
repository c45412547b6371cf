#include "gpu-reference/emulation/DeviceMemory.h"

#include "gpu-reference/emulation/Settings.h"

#include <cstdlib>

namespace orrery::gpu::emulated {

DeviceMemory &DeviceMemory::instance() {
  // Never destroyed: buffers in static storage may be freed after it.
  static DeviceMemory *memory = new DeviceMemory;
  return *memory;
}

void *DeviceMemory::allocate(size_t bytes) {
  const std::lock_guard lock(mutex);
  const size_t limit = settings().memoryBytes;
  if (bytes == 0 || usedBytes > limit || bytes > limit - usedBytes) {
    return nullptr;
  }
  void *memory = nullptr;
  if (posix_memalign(&memory, 256, bytes) != 0) {
    return nullptr;
  }
  poison(memory, bytes);
  sizes.emplace(static_cast<const std::byte *>(memory), bytes);
  usedBytes += bytes;
  return memory;
}

bool DeviceMemory::release(void *memory) {
  const std::lock_guard lock(mutex);
  const auto found = sizes.find(static_cast<const std::byte *>(memory));
  if (found == sizes.end()) {
    return false;
  }
  usedBytes -= found->second;
  sizes.erase(found);
  std::free(memory);
  return true;
}

bool DeviceMemory::holds(const void *memory, size_t bytes) const {
  const std::lock_guard lock(mutex);
  const auto *start = static_cast<const std::byte *>(memory);
  auto after = sizes.upper_bound(start);
  if (after == sizes.begin()) {
    return false;
  }
  --after;
  // One past the end is where an empty slice may start.
  const auto offset = size_t(start - after->first);
  return offset <= after->second && bytes <= after->second - offset;
}

} // namespace orrery::gpu::emulated
