// Launching a kernel: arguments are converted and copied at once, as CUDA does,
// checked, and run now or whenever the graph that records them is launched.
#pragma once

#include "gpu-reference/emulation/Runtime.h"
#include "gpu-reference/emulation/VectorTypes.h"

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace orrery::gpu::emulated {

struct LaunchShape {
  const char *kernel; ///< for messages
  dim3 grid;
  dim3 block;
  size_t sharedBytes;
  cudaStream_t stream;
};

/// A kernel and its arguments.
struct LaunchCall {
  /// The kernel's address, the key of cudaFuncSetAttribute.
  const void *function = nullptr;
  /// Every argument that is a pointer, with its number from 1; what it points
  /// to must be device memory.
  std::vector<std::pair<int, const void *>> pointers;
  std::function<void()> thread;
};

/// Runs every thread of the grid, or records it if the stream is being
/// captured. Errors are cudaGetLastError()'s: a shape CUDA would refuse, an
/// argument in host memory, and whatever a thread did wrong.
void launchCall(const LaunchShape &shape, LaunchCall call);

template <class... Parameters, class... Arguments>
void launch(const LaunchShape &shape, void (*kernel)(Parameters...),
            Arguments &&...arguments) {
  std::tuple<std::remove_cv_t<Parameters>...> values(
      std::forward<Arguments>(arguments)...);
  LaunchCall call;
  call.function = reinterpret_cast<const void *>(kernel);
  int number = 0;
  auto note = [&](const auto &value) {
    ++number;
    if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(value)>>) {
      call.pointers.emplace_back(number, value);
    }
  };
  std::apply([&](const auto &...value) { (note(value), ...); }, values);
  call.thread = [kernel, values] { std::apply(kernel, values); };
  launchCall(shape, std::move(call));
}

} // namespace orrery::gpu::emulated
