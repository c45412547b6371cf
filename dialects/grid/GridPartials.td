// Products of which each rank has a part of every sum, and what adds the parts.
#ifndef ORRERY_DIALECTS_GRID_GRIDPARTIALS_TD
#define ORRERY_DIALECTS_GRID_GRIDPARTIALS_TD

include "dialects/grid/GridCollectives.td"

def Grid_ReduceScatterOp : Grid_Collective<"reduce_scatter"> {
  let summary = "the own shard of a product of which each rank has a partial";
  let description = [{
    With p_r the operand on rank r, exact accumulators, on rank r:
    ```
    result[t, i] = readout(sum_q p_q[t, r * E + i])     0 where r * E + i >= N
    ```

    Numerics:
      accumulators are added as int64, in any order, and read out once
      (machine/numerics.h, rule 5): the bits are those of the whole product. A
      sum that leaves the int64 on the way is reported.

    Constraints:
      - (C1) partial is f32 rows [T, N] of an llm.linear with `grid.columns`, the
        result f32 rows [T, E].
      - (C2) both have the same T.
      - (C3) E is a multiple of 32.
      - (C4) N is at most E times the chips of the stage.

    Example: tests/dialects/grid/partials.mlir
    ```mlir
    %p = llm.linear %x weight("w") format(q8_0)
         {grid.columns = #grid.shard<1024 of 8192>}
       : tensor<1x1024xf32> -> tensor<1x8192xf32>
    %y = grid.reduce_scatter %p : tensor<1x8192xf32> -> tensor<1x1024xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$partial);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$partial attr-dict `:` type($partial) `->` type($result)";
  let hasVerifier = 1;
}

def Grid_AllReduceOp : Grid_Collective<"all_reduce", [
    AllTypesMatch<["partial", "result"]>]> {
  let summary = "a product of which each rank has a partial, on every rank";
  let description = [{
    With p_r the operand on rank r, exact accumulators, on every rank:
    ```
    result[t, i] = readout(sum_q p_q[t, i])
    ```
    The same as a reduce_scatter and an all_gather of it; one crossing of the
    links instead of two, for more bytes.

    Numerics:
      those of reduce_scatter.

    Constraints:
      - (C1) partial is f32 rows [T, N] of an llm.linear with `grid.columns`.

    Example: tests/dialects/grid/partials.mlir
    ```mlir
    %p = llm.linear %x weight("w") format(q8_0)
         {grid.columns = #grid.shard<32 of 128>}
       : tensor<1x32xf32> -> tensor<1x64xf32>
    %y = grid.all_reduce %p : tensor<1x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$partial);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$partial attr-dict `:` type($partial)";
  let hasVerifier = 1;
}

#endif
