// What is allocated on the emulated device: host memory, one allocation each so
// that ASan sees its ends, in a list that tells device pointers from others.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

namespace orrery::gpu::emulated {

class DeviceMemory {
public:
  /// Of this process.
  static DeviceMemory &instance();

  /// Memory aligned to 256 bytes, filled with poison; null for no bytes and
  /// when there is no room.
  void *allocate(size_t bytes);
  /// False if `memory` is not the start of an allocation.
  bool release(void *memory);

  /// Whether all `bytes` from `memory` are in one allocation.
  bool holds(const void *memory, size_t bytes) const;
  size_t used() const { return usedBytes; }

private:
  mutable std::mutex mutex;
  std::map<const std::byte *, size_t> sizes; ///< by start
  size_t usedBytes = 0;
};

} // namespace orrery::gpu::emulated
