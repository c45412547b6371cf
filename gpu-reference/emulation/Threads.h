// Which thread of which block this is, and barriers of a block.
#pragma once

#include "gpu-reference/emulation/VectorTypes.h"

#include <source_location>

namespace orrery::gpu::emulated {

// Set by the scheduler whenever it changes threads.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;

inline constexpr int warpSize = 32;

/// Every thread of the block must come to the same place; one that has ended
/// cannot, which is an error here (CUDA leaves it open).
void __syncthreads(
    std::source_location where = std::source_location::current());

/// As __syncthreads, and tells how many (whether all, any) had `predicate`.
int __syncthreads_count(int predicate, std::source_location where =
                                           std::source_location::current());
int __syncthreads_and(int predicate, std::source_location where =
                                         std::source_location::current());
int __syncthreads_or(int predicate, std::source_location where =
                                        std::source_location::current());

// One OS thread: its memory is always in order.
inline void __threadfence() {}
inline void __threadfence_block() {}

/// Ends the launch with an error.
[[noreturn]] void
__trap(std::source_location where = std::source_location::current());

} // namespace orrery::gpu::emulated
