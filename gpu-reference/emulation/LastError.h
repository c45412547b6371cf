// The error that cudaGetLastError gives, with what exactly went wrong.
#pragma once

#include "gpu-reference/emulation/Runtime.h"

#include <string>

namespace orrery::gpu::emulated {

/// Remembers `error` for this OS thread and returns it. `text` is one line.
cudaError_t fail(cudaError_t error, std::string text);

} // namespace orrery::gpu::emulated
