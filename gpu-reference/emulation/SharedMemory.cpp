#include "gpu-reference/emulation/SharedMemory.h"

#include "gpu-reference/emulation/Block.h"
#include "gpu-reference/emulation/KernelError.h"
#include "gpu-reference/emulation/Settings.h"

namespace orrery::gpu::emulated {

/// What CUDA gives static arrays, whatever the device has.
static constexpr size_t kStaticBytes = size_t(48) * 1024;

static std::unique_ptr<std::byte[]> freshBytes(size_t bytes) {
  // operator new[] of bytes is aligned to 16.
  static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16);
  std::unique_ptr<std::byte[]> memory(new std::byte[bytes]);
  poison(memory.get(), bytes);
  return memory;
}

void *Block::dynamicShared() {
  if (dynamic == nullptr && shape.sharedBytes != 0) {
    dynamic = freshBytes(shape.sharedBytes);
  }
  return dynamic.get();
}

void *Block::staticShared(const void *key, const char *name, size_t bytes) {
  for (const SharedArray &array : arrays) {
    if (array.key == key) {
      return array.bytes.get();
    }
  }
  arrayBytes += (bytes + 15) / 16 * 16;
  const size_t total = arrayBytes + shape.sharedBytes;
  if (arrayBytes > kStaticBytes || total > settings().sharedBytes) {
    throw KernelError(
        "shared array " + std::string(name) + " of " + std::to_string(bytes) +
        " bytes does not fit: " + std::to_string(arrayBytes) +
        " static (at most " + std::to_string(kStaticBytes) + ") and " +
        std::to_string(shape.sharedBytes) + " dynamic (together at most " +
        std::to_string(settings().sharedBytes) + ")");
  }
  arrays.push_back({key, freshBytes(bytes)});
  return arrays.back().bytes.get();
}

void *dynamicShared() { return Block::current().dynamicShared(); }

void *staticSharedBytes(const void *key, const char *name, size_t bytes) {
  return Block::current().staticShared(key, name, bytes);
}

} // namespace orrery::gpu::emulated
