#include "gpu-reference/emulation/Settings.h"

#include <cstring>

namespace orrery::gpu::emulated {

Settings &settings() {
  static Settings settings;
  return settings;
}

static int poisonByte() {
  switch (settings().order) {
  case Order::Forward:
    return 0xff; // NaN, -1
  case Order::Backward:
    return 0x4b; // 1.3e7, 1.3e9
  case Order::Shuffled:
    break;
  }
  const uint64_t mixed = (settings().seed + 1) * 0x9e3779b97f4a7c15ull;
  return int(mixed >> 56);
}

void poison(void *memory, size_t bytes) {
  if (bytes != 0) {
    std::memset(memory, poisonByte(), bytes);
  }
}

} // namespace orrery::gpu::emulated
