// The matrix planes (MXM): activation rows in, products out.
#ifndef ORRERY_DIALECTS_FLOW_FLOWMATRIX_TD
#define ORRERY_DIALECTS_FLOW_FLOWMATRIX_TD

include "dialects/flow/FlowAttributes.td"

def Flow_LoadOp : Flow_Op<"load"> {
  let summary = "MXM: activation rows into the planes of one hemisphere";
  let description = [{
    ```
    loaded[k * rows + m] = input[read(k * rows + m)],  k < inner, m < rows
    ```
    in the activation buffer of every plane of hemisphere `side` that a
    flow.matmul uses the result on.

    Numerics:
      none: a8 codes and scales, or halves, as they are.

    Constraints:
      - (C1) the buffer is a8 or f16.
      - (C2) the access has rows * inner vectors; rows and inner are at least 1.
      - (C3) the access stays inside the buffer and names no lanes, tokens or
        stripes.
      - (C4) `side` is 0 or 1.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    %l = flow.load side 0 rows 2 inner 3 %x <[2, 3] by [3, 1]>
       : !flow.buffer<6 x a8>
    ```
  }];
  let arguments = (ins Flow_Buffer:$input, Flow_Access:$read,
                       Flow_Int:$rows, Flow_Int:$inner, Flow_Int:$side);
  let results = (outs Flow_Loaded:$loaded);
  let assemblyFormat = [{
    `side` $side `rows` $rows `inner` $inner $input $read attr-dict
    `:` qualified(type($input))
  }];
  let hasVerifier = 1;
}

def Flow_MatmulOp : Flow_Op<"matmul"> {
  let summary = "MXM: tiles of weights times loaded activations, on one plane";
  let description = [{
    With the load's `rows` and `inner`, for n < tiles, m < rows and lanes l of
    [low, high):
    ```
    out[write(n * rows + m)][l] =
        sum_{k < inner} tile(first + n * inner + k)[l - low] . loaded[k * rows + m]
    ```
    The other lanes that `write` changes become zero.

    Numerics:
      the sum over k and lanes is exact, read out once (machine/numerics.h); not
      at all into a `sum` buffer, which gets the accumulators.

    Constraints:
      - (C1) 0 <= low, and high - low is the tiles' row count.
      - (C2) the write has tiles * rows vectors; `tiles` is at least 1.
      - (C3) 0 <= first, and the weights have first + tiles * inner tiles.
      - (C4) f16 tiles take f16 rows, all others a8 rows.
      - (C5) `out` is f32 or sum; the write stays inside it and is not striped.
      - (C6) a weight region lies on the load's side.
      - (C7) `plane` is at least 0. (That it is on the load's side takes the
        machine: `--tick-schedule` checks it.)
      - (C8) `loaded` comes from a flow.load.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.matmul plane 1 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16>
        first 0 tiles 2 lanes 0 to 64
        outs(%y <[2, 2] by [2, 1]> : !flow.buffer<4 x f32>)
    ```
  }];
  let arguments = (ins Flow_Loaded:$loaded, Flow_Tiles:$weights,
                       Flow_Buffer:$out, Flow_Int:$plane, Flow_Int:$first,
                       Flow_Int:$tiles, Flow_Int:$low, Flow_Int:$high,
                       Flow_Access:$write);
  let assemblyFormat = [{
    `plane` $plane $loaded `,` $weights `:` qualified(type($weights))
    `first` $first `tiles` $tiles `lanes` $low `to` $high
    `outs` `(` $out $write `:` qualified(type($out)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif
