// A tick.program as the program that compiler, simulator and checker share.
#pragma once

#include "dialects/tick/Tick.h"
#include "machine/Program.h"

namespace orrery::compiler {

/// The program that `op`, which is verified, stands for. The location table is
/// `locations` of the op, followed by the locations of its instructions, as
/// far as they are not there yet, by first use. An error, emitted at the op,
/// when its machine is neither JSON text nor a preset. Whether the program is
/// valid on its machine is for validateProgram.
mlir::FailureOr<Program> encodeProgram(tick::ProgramOp op);

} // namespace orrery::compiler
