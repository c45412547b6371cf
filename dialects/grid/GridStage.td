// A stage of the pipeline and what it yields.
#ifndef ORRERY_DIALECTS_GRID_GRIDSTAGE_TD
#define ORRERY_DIALECTS_GRID_GRIDSTAGE_TD

include "dialects/grid/GridDialect.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Grid_Bytes : Llm_Integer<"64-bit bytes">;

def Grid_StageOp : Grid_Op<"stage", [SingleBlock, NoRegionArguments,
    RecursiveMemoryEffects]> {
  let summary = "consecutive ops of a step on one group of chips";
  let description = [{
    ```
    results = yielded values of the body, computed by `chips`
    ```
    `chips` are the ranks of the group, in order: the body is what each of them
    does. With `ring` only chips that follow each other in that order (and the
    last and the first) are linked; without, each is linked to each. Chip r of a
    stage is linked to chip r of the next, by `cables` cables (1 if it is not
    written), over which what is passed on is spread. The stage's first decoder
    layer is `from layer` (0 if it is not written): stages that are equal but for
    that are one program.

    A *relay* only yields what it takes of the stage before: its chips are third
    chips on the way to the next stage, and need not be linked to each other.

    `weight_bytes`, `kv_bytes` and `capacity_bytes` are what placing decided on:
    one chip's shards of the stage's matrices and its KV cache at full context
    as the chip stores them, without padding to lanes, and its SRAM.

    Numerics:
      those of the body's ops.

    Constraints:
      - (C1) `chips` names at least one chip, none twice, none negative.
      - (C2) bytes are not negative, and weight_bytes + kv_bytes is at most
        capacity_bytes.
      - (C3) results have the types of the yielded values.
      - (C4) the body holds no other stage.
      - (C5) `first_layer` is not negative.
      - (C6) a `ring` has at least 3 chips: fewer are all linked.
      - (C7) what the body takes of other stages are results of the stage right
        before it in its block: chips of others are not linked to its own.
      - (C8) at least one of `cables`, and as many in the stage before.

    Example: tests/dialects/grid/ops.mlir
    ```mlir
    %y = grid.stage chips [0] weights 4352 B kv 0 B of 16777216 B
        -> tensor<2x64xf32> {
      ...
      grid.yield %r : tensor<2x64xf32>
    }
    ```
  }];
  let arguments = (ins DenseI32ArrayAttr:$chips, UnitAttr:$ring,
                       DefaultValuedAttr<Llm_Integer<"64-bit layer">,
                                         "0">:$first_layer,
                       DefaultValuedAttr<I32Attr, "1">:$cables,
                       Grid_Bytes:$weight_bytes, Grid_Bytes:$kv_bytes,
                       Grid_Bytes:$capacity_bytes);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `chips` $chips (`ring` $ring^)? (`cables` $cables^)?
    (`from` `layer` $first_layer^)?
    `weights` $weight_bytes `B` `kv` $kv_bytes `B` `of` $capacity_bytes `B`
    (`->` type($results)^)? attr-dict-with-keyword $body
  }];
  let extraClassDeclaration = [{
    /// Ranks of the group: how many shards a sharded value has.
    int64_t getTp() { return int64_t(getChips().size()); }
    /// Whether it is a relay.
    bool isRelay();
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
