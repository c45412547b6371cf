// The rows of other systems for `orrery compare`: GPUs measured, modelled and
// as published, and the maker's own figures for the machine.
#pragma once

#include "gpu-reference/latency/Measurements.h"
#include "runtime/command/CompareReport.h"
#include "runtime/command/ShapeSubject.h"

namespace orrery::command {

/// The setting as the GPU model takes it: same formats, context and users.
gpu::latency::DecodeCase decodeCase(const CompareArguments &arguments,
                                    const ShapeSubject &subject);

/// Of each GPU: what was measured in that setting, what is modelled, what was
/// published for the model at that precision, number of GPUs and batch. Fails
/// for a GPU that is unknown or named twice, and for what it cannot be asked.
Expected<std::vector<CompareRow>>
gpuRows(const CompareArguments &arguments,
        const gpu::latency::DecodeCase &setting);

/// What was published of the system that a machine stands for.
Expected<std::vector<CompareRow>>
makerRows(const Machine &machine, const gpu::latency::DecodeCase &setting);

} // namespace orrery::command
