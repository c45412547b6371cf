// The grid dialect: where a model's layers are computed.
#ifndef ORRERY_GRID_OPS
#define ORRERY_GRID_OPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Grid_Dialect : Dialect {
  let name = "grid";
  let cppNamespace = "::orrery::grid";
  let summary = "where: which chips hold which part of a model";
  let description = [{
    `grid` says **where**: a step function is divided into stages, each on a
    group of chips. What is still unknown is how a chip computes its part
    (units, buffers) and when. The system is named by the function's attribute
    `grid.machine` (a preset, a file, or a description's text).
  }];
}

class Grid_Op<string mnemonic, list<Trait> traits = []>
    : Op<Grid_Dialect, mnemonic, traits>;

def Grid_StageOp : Grid_Op<"stage", [SingleBlock, NoRegionArguments,
    RecursiveMemoryEffects]> {
  let summary = "consecutive ops of a step on one group of chips";
  let description = [{
    The body's `llm` ops are computed by `chips`; results are its yielded
    values. `weight_bytes`, `kv_bytes` and `capacity_bytes` are what placing
    decided on: the stage's matrices and KV cache at full context as the chip
    stores them, nominal, and the SRAM of the group.

    Constraints:
      (C1) `chips` names at least one chip, none twice.
      (C2) weight_bytes + kv_bytes is at most capacity_bytes.
      (C3) results have the types of the yielded values.
      (C4) the body holds no other stage.
    Example: tests/dialects/grid/ops.mlir
  }];
  let arguments = (ins DenseI32ArrayAttr:$chips, I64Attr:$weight_bytes,
                       I64Attr:$kv_bytes, I64Attr:$capacity_bytes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `chips` $chips attr-dict-with-keyword (`->` type($results)^)? $body
  }];
  let hasVerifier = 1;
}

def Grid_YieldOp : Grid_Op<"yield", [Pure, Terminator, ReturnLike,
    HasParent<"StageOp">]> {
  let summary = "the results of a stage";
  let description = [{
    Constraints: see grid.stage (C3).
    Example: tests/dialects/grid/ops.mlir
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // ORRERY_GRID_OPS
