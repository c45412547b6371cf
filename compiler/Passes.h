// Orrery's passes; compiler/Passes.td describes them, Pipeline.h orders them.
#pragma once

#include "dialects/flow/Flow.h"
#include "dialects/grid/Grid.h"
#include "dialects/tick/Tick.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace orrery {

#define GEN_PASS_DECL
#include "compiler/Passes.h.inc"

/// On a flow.program that a pass refused because SRAM lacks room for it: fewer
/// layers would have had room.
inline constexpr char kLacksRoomAttr[] = "orrery.lacks_room";

/// Registers every pass and the pipeline `--orrery`.
void registerAllPasses();

} // namespace orrery
