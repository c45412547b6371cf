// The tick dialect and the base classes of its attributes and ops.
#ifndef ORRERY_DIALECTS_TICK_TICKDIALECT_TD
#define ORRERY_DIALECTS_TICK_TICKDIALECT_TD

include "dialects/tick/TickInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

def Tick_Dialect : Dialect {
  let name = "tick";
  let summary = "when each instruction of a chip is issued";
  let cppNamespace = "::orrery::tick";
  let useDefaultAttributePrinterParser = 1;
  let description = [{
    A `tick.program` is a program file that one can read: one op an instruction,
    with its tick, its unit, its SRAM addresses and its streams, and the tables
    (SRAM regions, vector programs, lane maps) that instructions refer to.
    Nothing is left to decide, so there are no SSA values: what one instruction
    hands to another follows from ticks and positions (machine/README.md).

    It is 1:1 with machine/Program.h and machine/Instruction.h, which define
    the meaning; the text here repeats only what a reader of the IR needs.
    `encodeProgram` and `decodeProgram` (compiler/encode) are inverses.

    Times are ticks from the start of the step. A burst's vector n comes at
    `tick + at(n)` of its shape:
    ```
    at(n) = (n / length) * period + (n % length) * stride
    ```
    Streams named in `from` are taken from, those in `to` are driven and end
    behind position `stop`. An op's location is the `llm` op it was made from,
    a line of the program's location table.

    The verifiers check what needs no machine: counts that must be equal,
    ranges, references, order. Whether a schedule is legal on its machine is
    for the checker (`orrery check`) and for the simulator.

    Example: tests/dialects/tick/program.mlir
  }];
}

/// An attribute that wraps one struct of the machine; op getters and builders
/// use the struct itself.
class Tick_Attr<string name, string struct, string what>
    : AttrDef<Tick_Dialect, name> {
  let parameters = (ins AttrParameter<struct, what>:$value);
  let genVerifyDecl = 1;
  let returnType = struct;
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::orrery::tick::" # name #
                         "Attr::get($_builder.getContext(), $0)";
}

class Tick_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tick_Dialect, mnemonic, traits>;

/// A tick: i64, read as int64_t.
def Tick_Time : TypedSignlessIntegerAttrBase<I64, "int64_t", "tick">;

/// A position in the row of units: i32, read as int32_t.
def Tick_Position : TypedSignlessIntegerAttrBase<I32, "int32_t", "position">;

/// An op that encodes to one instruction.
class Tick_Instruction<string mnemonic, list<Trait> traits = []>
    : Tick_Op<mnemonic, traits # [Tick_InstructionInterface,
                                  HasParent<"ProgramOp">]>;

#endif
