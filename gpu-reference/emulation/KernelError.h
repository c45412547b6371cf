// What a thread of a kernel throws to end the launch. Never leaves Block::run.
#pragma once

#include <stdexcept>

namespace orrery::gpu::emulated {

class KernelError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace orrery::gpu::emulated
