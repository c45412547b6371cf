// What the ranks of a stage do together.
#ifndef ORRERY_DIALECTS_GRID_GRIDCOLLECTIVES_TD
#define ORRERY_DIALECTS_GRID_GRIDCOLLECTIVES_TD

include "dialects/grid/GridDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Grid_Collective<string mnemonic, list<Trait> traits = []>
    : Grid_Op<mnemonic, traits # [Pure, HasParent<"StageOp">]>;

def Grid_AllGatherOp : Grid_Collective<"all_gather"> {
  let summary = "the shards of all ranks side by side";
  let description = [{
    With x_r the operand on rank r, on every rank:
    ```
    result[t, r * E + i] = x_r[t, i]      for r * E + i < N
    ```
    Ranks may hold the shards in an order of their own, as long as every use of
    the result has the same: the layout is a lowering's choice.

    Numerics:
      none. What only linears use may cross as the blocks of 32 that they
      quantize it to; it is the same numbers.

    Constraints:
      - (C1) x is f32 rows [T, E], the result f32 rows [T, N].
      - (C2) both have the same T.
      - (C3) E is a multiple of 32.
      - (C4) N is at most E times the chips of the stage.

    Example: tests/dialects/grid/ops.mlir
    ```mlir
    %y = grid.all_gather %x : tensor<1x1024xf32> -> tensor<1x8192xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Grid_OwnOp : Grid_Collective<"own"> {
  let summary = "the own shard of a replicated value";
  let description = [{
    On rank r:
    ```
    result[t, i] = x[t, r * E + i]        0 where r * E + i >= N
    ```
    Of a gathered value this is what the rank itself had put in.

    Numerics:
      none.

    Constraints:
      - (C1) x is f32 rows [T, N], the result f32 rows [T, E].
      - (C2) both have the same T.
      - (C3) E is a multiple of 32.
      - (C4) N is at most E times the chips of the stage.

    Example: tests/dialects/grid/ops.mlir
    ```mlir
    %y = grid.own %x : tensor<1x8192xf32> -> tensor<1x1024xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Grid_ArgmaxOp : Grid_Collective<"argmax"> {
  let summary = "the most likely token of each row, over the shards of all ranks";
  let description = [{
    With l_r the operand on rank r and logits[t, r * E + i] = l_r[t, i] for
    r * E + i < `vocab`, on every rank:
    ```
    result[t] = min { i : logits[t, i] = max_j logits[t, j] }
    ```

    Numerics:
      that of llm.argmax: comparison of f32, the lowest index on ties; -0 ties
      with +0.

    Constraints:
      - (C1) logits are f32 rows [T, E], the result is i32 [T].
      - (C2) both have the same T.
      - (C3) E is a multiple of 32.
      - (C4) `vocab` is at most E times the chips of the stage.
      - (C5) `vocab` is at least 1.

    Example: tests/dialects/grid/ops.mlir
    ```mlir
    %next = grid.argmax %logits vocab(32000)
          : tensor<1x4000xf32> -> tensor<1xi32>
    ```
  }];
  let arguments = (ins Llm_Rows:$logits, Llm_Count:$vocab);
  let results = (outs Llm_Ids:$result);
  let assemblyFormat = [{
    $logits `vocab` `(` $vocab `)` attr-dict `:` type($logits) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

#endif
