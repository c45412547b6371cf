// Orrery's passes, in the order in which Pipeline.cpp runs them.
#ifndef ORRERY_PASSES
#define ORRERY_PASSES

include "mlir/Pass/PassBase.td"

def PlaceStages : Pass<"grid-place-stages", "::mlir::func::FuncOp"> {
  let summary = "llm -> grid: which chips compute which ops";
  let description = [{
    Puts the ops of a step into one `grid.stage` on the system named by
    `machine`, after adding up what the weights and the KV cache at full
    context need there. One chip, one stage so far.
    Example: tests/compiler/place-stages.mlir
  }];
  let options = [Option<"machine", "machine", "std::string", "\"lpu-v1\"",
                        "preset or file of the machine">];
  let dependentDialects = ["::orrery::grid::GridDialect"];
}

def LowerStages : Pass<"flow-lower-stages", "::mlir::ModuleOp"> {
  let summary = "grid -> flow: unit operations on buffers";
  let description = [{
    Each stage becomes a `flow.program`. Heads get lane slots, norms and
    residuals fuse with quantization and sums, rows of weight matrices are
    dealt to planes.
    Example: tests/compiler/lower-stages.mlir
  }];
  let dependentDialects = ["::orrery::flow::FlowDialect"];
}

def Allocate : Pass<"flow-allocate", "::orrery::flow::ProgramOp"> {
  let summary = "flow: a place in SRAM for each buffer and region";
  let description = [{
    First fit in program order; lifetimes end at the last op that names the
    buffer. What one op reads or writes together is kept on different ports.
    Example: tests/compiler/allocate.mlir
  }];
}

def ScheduleTicks : Pass<"tick-schedule", "::mlir::ModuleOp"> {
  let summary = "flow -> tick: when and on which streams";
  let description = [{
    Each flow op is a gang of instructions at fixed offsets; list scheduling
    places them on reservation tables of ports, units and stream diagonals.
    The result is verified by other code than made it.
    Example: tests/compiler/schedule.mlir
  }];
  let dependentDialects = ["::orrery::tick::TickDialect"];
}

#endif // ORRERY_PASSES
