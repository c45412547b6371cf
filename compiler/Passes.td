// Orrery's passes, in the order in which Pipeline.cpp runs them.
#ifndef ORRERY_PASSES
#define ORRERY_PASSES

include "mlir/Pass/PassBase.td"

def PlaceStages : Pass<"grid-place-stages", "::mlir::func::FuncOp"> {
  let summary = "llm -> grid: which chips compute which ops";
  let description = [{
    Input: step functions of llm ops. Output: the same, with their ops in
    `grid.stage`s on chips of the system named by `machine`; other functions are
    left alone.

    A step is cut into `pp` stages of consecutive sections (attention; gate and
    up; down; and the head behind the last), each on a group of `tp` chips that
    share its matrices and attention heads; what is not given is chosen for the
    least estimated latency (or, with `throughput`, the fewest ticks a token)
    among what fits and what the system's cables allow
    (compiler/partition/README.md). `products` says whether ranks gather the rows
    of attention's and the feed-forward network's last product or add partials of
    it; if not, each takes the way that is estimated to be faster. On a system of one chip nothing is chosen
    and any step is taken; otherwise it must be a decoder as imported.

    Refuses a step that does not fit, and says by how much, or for which no
    chips are linked as it needs.

    Example: tests/compiler/place-stages.mlir, place-stages-many.mlir (refused:
    place-stages-invalid.mlir, place-stages-many-invalid.mlir)
  }];
  let options = [Option<"machine", "machine", "std::string", "\"lpu-v1\"",
                        "preset or file of the machine">,
                 Option<"tp", "tp", "int64_t", "0",
                        "chips of a stage; 0: chosen">,
                 Option<"pp", "pp", "int64_t", "0", "stages; 0: chosen">,
                 Option<"reach", "reach", "int64_t", "0",
                        "positions the longest step over the same SRAM reaches; "
                        "0: the context">,
                 Option<"throughput", "throughput", "bool", "false",
                        "choose for tokens a second, not for latency">,
                 Option<"products", "products", "std::string", "\"chosen\"",
                        "how ranks share products of shards: chosen, column, "
                        "row (scatter or reduce), scatter, reduce">];
  let dependentDialects = ["::orrery::grid::GridDialect"];
}

def LowerStages : Pass<"flow-lower-stages", "::mlir::ModuleOp"> {
  let summary = "grid -> flow: unit operations on buffers";
  let description = [{
    Input: functions with one `grid.stage`. Output: a `flow.program` each, in
    the order of the llm ops, without places.

    Heads get lane slots, norms and residuals fuse with quantization and sums,
    rows of weight matrices are dealt to planes; compiler/lower/README.md tells
    why. What has no lowering (compiler/lower/VerifyOperands.cpp) or does not
    fit a unit is refused on its op.

    Example: tests/compiler/lower-stages.mlir, lower-attention.mlir (refused:
    lower-stages-invalid.mlir)
  }];
  let dependentDialects = ["::orrery::flow::FlowDialect"];
}

def Allocate : Pass<"flow-allocate", "::orrery::flow::ProgramOp"> {
  let summary = "flow: a place in SRAM for each buffer and region";
  let description = [{
    Input: a `flow.program`. Output: the same with a `place` on each
    `flow.alloc` and `flow.region`; spilled weights also get narrower tiles.

    First fit in program order; lifetimes end at the last op that names the
    buffer. What one op reads or writes together is kept on different ports.
    Refuses what finds no room, with a table of what takes it.

    Example: tests/compiler/allocate.mlir (refused: allocate-invalid.mlir)
  }];
}

def ScheduleTicks : Pass<"tick-schedule", "::mlir::ModuleOp"> {
  let summary = "flow -> tick: when and on which streams";
  let description = [{
    Input: placed `flow.program`s. Output: a `tick.program` in the stead of
    each, with instructions by tick, lifetimes, room for its own text, the
    predicted end and, as attributes, two lower bounds of it.

    Each flow op is a gang of instructions at fixed offsets; list scheduling
    places them on reservation tables of ports, units and stream diagonals.
    The result is verified by other code than made it.

    Example: tests/compiler/schedule.mlir (refused: schedule-invalid.mlir)
  }];
  let dependentDialects = ["::orrery::tick::TickDialect"];
}

#endif // ORRERY_PASSES
