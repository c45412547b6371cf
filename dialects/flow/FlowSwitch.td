// The switch units (SXM): lanes moved.
#ifndef ORRERY_DIALECTS_FLOW_FLOWSWITCH_TD
#define ORRERY_DIALECTS_FLOW_FLOWSWITCH_TD

include "dialects/flow/FlowAttributes.td"

def Flow_PermuteOp : Flow_Op<"permute"> {
  let summary = "SXM: lanes of a burst moved by a map";
  let description = [{
    ```
    outs[o][writes[o](n)][l] = input[read(n)][map[l]],  zero where map[l] = -1
    ```

    Numerics:
      none: bits are moved.

    Constraints:
      - (C1) all buffers have one type, f32, f16 or i8.
      - (C2) one write a buffer, at least one; all accesses have the same number
        of vectors.
      - (C3) map entries are -1 or lanes of the map, 0 to its size - 1.
      - (C4) accesses stay inside their buffers; no stripes, and a read names no
        lanes or tokens.
      - (C5) `side` is 0 or 1.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.permute side 0 map [1, 0, 2 to 31, zero 32]
        ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
        outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
    ```
  }];
  let arguments = (ins Flow_Buffer:$input, Variadic<Flow_Buffer>:$outs,
                       DenseI32ArrayAttr:$map, Flow_Access:$read,
                       Flow_AccessArray:$writes, Flow_Int:$side);
  let assemblyFormat = [{
    `side` $side `map` custom<LaneMap>($map)
    `ins` `(` $input $read `:` qualified(type($input)) `)`
    `outs` custom<Reads>($outs, type($outs), $writes) attr-dict
  }];
  let hasVerifier = 1;
}

def Flow_TransposeOp : Flow_Op<"transpose"> {
  let summary = "SXM: token rows to columns of a KV tile (V append)";
  let description = [{
    With c = floor(POS / lanes), for r < rows and j < NTOK:
    ```
    out.tile(c)[r][(POS + j) % lanes] = input[read(j)][r]
    ```

    Numerics:
      none: bits are moved.

    Constraints:
      - (C1) i8 rows into i8 tiles, or f16 into f16.
      - (C2) the access has `tokens` vectors.
      - (C3) `rows` is the tiles' row count.
      - (C4) the access stays inside the buffer and names no lanes, tokens or
        stripes.
      - (C5) `side` is 0 or 1.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.transpose side 1 tokens 2 rows 64
        ins(%v <[2] by [1]> : !flow.buffer<2 x i8>)
        outs(%c : !flow.tiles<8 x 64 rows, i8, width 8>)
    ```
  }];
  let arguments = (ins Flow_Buffer:$input, Flow_Tiles:$out, Flow_Int:$tokens,
                       Flow_Int:$rows, Flow_Int:$side, Flow_Access:$read);
  let assemblyFormat = [{
    `side` $side `tokens` $tokens `rows` $rows
    `ins` `(` $input $read `:` qualified(type($input)) `)`
    `outs` `(` $out `:` qualified(type($out)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

#endif
