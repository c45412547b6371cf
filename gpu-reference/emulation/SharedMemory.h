// Shared memory of a block: filled with what nobody wrote when the block
// starts, and allocated apart so that ASan sees its ends.
#pragma once

#include <cstddef>

namespace orrery::gpu::emulated {

/// As many bytes as the launch gave, aligned to 16; null for none.
void *dynamicShared();

/// The block's memory for the array declared at `key`: the same for all its
/// threads. An error of the launch when a block's static arrays are together
/// over 48 KiB, or with the dynamic memory over Settings::sharedBytes.
void *staticSharedBytes(const void *key, const char *name, size_t bytes);

template <class Array> Array &staticShared(const void *key, const char *name) {
  static_assert(alignof(Array) <= 16);
  return *static_cast<Array *>(staticSharedBytes(key, name, sizeof(Array)));
}

} // namespace orrery::gpu::emulated
