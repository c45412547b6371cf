// What all instructions of the tick dialect have in common.
#ifndef ORRERY_DIALECTS_TICK_TICKINTERFACES_TD
#define ORRERY_DIALECTS_TICK_TICKINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tick_InstructionInterface : OpInterface<"InstructionInterface"> {
  let cppNamespace = "::orrery::tick";
  let description = [{ An op that encodes to one instruction. }];
  let methods = [
    InterfaceMethod<"When the instruction is issued.", "int64_t", "getTick">
  ];
}

#endif
