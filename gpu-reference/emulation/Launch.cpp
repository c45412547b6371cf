#include "gpu-reference/emulation/Launch.h"

#include "gpu-reference/emulation/Block.h"
#include "gpu-reference/emulation/DeviceMemory.h"
#include "gpu-reference/emulation/LastError.h"
#include "gpu-reference/emulation/Settings.h"
#include "gpu-reference/emulation/Stream.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <random>

namespace orrery::gpu::emulated {

namespace {
/// Dynamic shared memory that kernels have asked for, by address.
struct SharedLimits {
  std::mutex mutex;
  std::map<const void *, size_t> bytes;
};
} // namespace

static SharedLimits &sharedLimits() {
  static SharedLimits limits;
  return limits;
}

/// What a kernel may be given without asking.
static constexpr size_t kDefaultDynamicBytes = size_t(48) * 1024;

cudaError_t setFunctionAttribute(const void *function,
                                 cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
    return cudaSuccess; // a hint
  }
  if (value < 0 || size_t(value) > settings().sharedBytes) {
    return fail(cudaErrorInvalidValue,
                "cudaFuncSetAttribute: " + std::to_string(value) +
                    " bytes of dynamic shared memory, at most " +
                    std::to_string(settings().sharedBytes));
  }
  SharedLimits &limits = sharedLimits();
  const std::lock_guard lock(limits.mutex);
  limits.bytes[function] = size_t(value);
  return cudaSuccess;
}

static size_t dynamicLimit(const void *function) {
  SharedLimits &limits = sharedLimits();
  const std::lock_guard lock(limits.mutex);
  const auto found = limits.bytes.find(function);
  return found == limits.bytes.end()
             ? kDefaultDynamicBytes
             : std::max(found->second, kDefaultDynamicBytes);
}

static std::string sizeText(const dim3 &size) {
  return std::to_string(size.x) + " x " + std::to_string(size.y) + " x " +
         std::to_string(size.z);
}

/// What CUDA would refuse about the launch, or nothing.
static std::string problemOf(const LaunchShape &shape, const LaunchCall &call) {
  const dim3 &grid = shape.grid;
  const dim3 &block = shape.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffffu ||
      grid.y > 65535 || grid.z > 65535) {
    return "a grid of " + sizeText(grid) + " blocks";
  }
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > 1024 ||
      block.y > 1024 || block.z > 64 || block.x * block.y * block.z > 1024) {
    return "a block of " + sizeText(block) + " threads";
  }
  if (shape.sharedBytes > dynamicLimit(call.function)) {
    return std::to_string(shape.sharedBytes) +
           " bytes of dynamic shared memory, at most " +
           std::to_string(dynamicLimit(call.function)) +
           " (cudaFuncSetAttribute can ask for more)";
  }
  for (const auto &[number, pointer] : call.pointers) {
    if (pointer != nullptr && !DeviceMemory::instance().holds(pointer, 0)) {
      return "argument " + std::to_string(number) +
             " points to memory that is not the device's";
    }
  }
  return {};
}

/// Numbers of the blocks in the order they run.
static std::vector<uint64_t> blockOrder(uint64_t count) {
  std::vector<uint64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  if (settings().order == Order::Backward) {
    std::reverse(order.begin(), order.end());
  } else if (settings().order == Order::Shuffled) {
    std::shuffle(order.begin(), order.end(), std::mt19937_64(settings().seed));
  }
  return order;
}

static cudaError_t runGrid(const LaunchShape &shape, const LaunchCall &call) {
  const dim3 &grid = shape.grid;
  Block block(shape, call.thread);
  for (uint64_t i : blockOrder(uint64_t(grid.x) * grid.y * grid.z)) {
    const uint3 index{unsigned(i % grid.x), unsigned(i / grid.x % grid.y),
                      unsigned(i / grid.x / grid.y)};
    const std::string problem = block.run(index);
    if (!problem.empty()) {
      return fail(cudaErrorLaunchFailure,
                  "kernel " + std::string(shape.kernel) + ", block (" +
                      std::to_string(index.x) + ", " + std::to_string(index.y) +
                      ", " + std::to_string(index.z) + "): " + problem);
    }
  }
  return cudaSuccess;
}

void launchCall(const LaunchShape &shape, LaunchCall call) {
  const std::string problem = problemOf(shape, call);
  if (!problem.empty()) {
    (void)fail(cudaErrorInvalidConfiguration,
               "kernel " + std::string(shape.kernel) + ": " + problem);
    return;
  }
  // What it returns is kept for cudaGetLastError.
  (void)give(shape.stream,
             [shape, call = std::move(call)] { return runGrid(shape, call); });
}

} // namespace orrery::gpu::emulated
