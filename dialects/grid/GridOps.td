// The grid dialect: where a model's layers are computed.
#ifndef ORRERY_DIALECTS_GRID_GRIDOPS_TD
#define ORRERY_DIALECTS_GRID_GRIDOPS_TD

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
    `grid.machine` (a preset or a file).

    The values are those of the llm dialect: grid changes no number.

    Example: tests/dialects/grid/ops.mlir
  }];
}

class Grid_Op<string mnemonic, list<Trait> traits = []>
    : Op<Grid_Dialect, mnemonic, traits>;

def Grid_Bytes : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit bytes">;

def Grid_StageOp : Grid_Op<"stage", [SingleBlock, NoRegionArguments,
    RecursiveMemoryEffects]> {
  let summary = "consecutive ops of a step on one group of chips";
  let description = [{
    ```
    results = yielded values of the body, computed by `chips`
    ```
    `weight_bytes`, `kv_bytes` and `capacity_bytes` are what placing decided on:
    the stage's matrices and its KV cache at full context as the chips store
    them, without padding to lanes, and the SRAM of the group.

    Numerics:
      those of the body's ops.

    Constraints:
      - (C1) `chips` names at least one chip, none twice, none negative.
      - (C2) bytes are not negative, and weight_bytes + kv_bytes is at most
        capacity_bytes.
      - (C3) results have the types of the yielded values.
      - (C4) the body holds no other stage.

    Example: tests/dialects/grid/ops.mlir
    ```mlir
    %y = grid.stage chips [0] weights 4352 B kv 0 B of 16777216 B
        -> tensor<2x64xf32> {
      ...
      grid.yield %r : tensor<2x64xf32>
    }
    ```
  }];
  let arguments = (ins DenseI32ArrayAttr:$chips, Grid_Bytes:$weight_bytes,
                       Grid_Bytes:$kv_bytes, Grid_Bytes:$capacity_bytes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `chips` $chips `weights` $weight_bytes `B` `kv` $kv_bytes `B` `of`
    $capacity_bytes `B` (`->` type($results)^)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Grid_YieldOp : Grid_Op<"yield", [Pure, Terminator, ReturnLike,
    HasParent<"StageOp">]> {
  let summary = "the results of a stage";
  let description = [{
    ```
    results of the stage = values
    ```

    Numerics:
      none.

    Constraints:
      - (C1) it ends a grid.stage; for types see there, (C3).

    Example: tests/dialects/grid/ops.mlir
    ```mlir
    grid.yield %logits : tensor<2x512xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
