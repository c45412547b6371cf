// The host link, and where the host finds the logits.
#ifndef ORRERY_DIALECTS_FLOW_FLOWHOST_TD
#define ORRERY_DIALECTS_FLOW_FLOWHOST_TD

include "dialects/flow/FlowAttributes.td"

def Flow_ReceiveOp : Flow_Op<"receive"> {
  let summary = "host link: rows that the host sends into a buffer";
  let description = [{
    ```
    out[t * V + j] = vector j of token t's row,  V vectors a token
    ```
    after those of the receives before. The row of token t is its embedding,
    laid out as `rows` says; or, with `rope`, the cosine or the signed sine of
    its position for each element of the slots of `rows`.

    Numerics:
      none: f32 as the host sends it; RoPE entries from ropeTable.

    Constraints:
      - (C1) the buffer is f32.
      - (C2) it has a multiple of the program's tokens of vectors.
      - (C3) `rope` is "cos" or "sin" and has a finite, positive theta and an
        even number of turning elements, 2 to rows' head_dim; nothing else has
        them.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.receive rows <96> %x : !flow.buffer<4 x f32>
    flow.receive rope "cos" theta 1.0e+04 turning 8 half
        rows <32, heads 4 over 4 of 8> %c : !flow.buffer<2 x f32>
    ```
  }];
  let arguments = (ins Flow_Buffer:$out, Flow_Axis:$rows,
                       OptionalAttr<StrAttr>:$rope,
                       OptionalAttr<F64Attr>:$rope_theta,
                       DefaultValuedAttr<Flow_Int, "0">:$rope_dim,
                       UnitAttr:$rope_half);
  let builders = [OpBuilder<(ins "::mlir::Value":$out,
                                 "::orrery::flow::AxisAttr":$rows), [{
    $_state.addOperands(out);
    auto &properties = $_state.getOrAddProperties<Properties>();
    properties.rows = rows;
    properties.rope_dim = $_builder.getI32IntegerAttr(0);
  }]>];
  let assemblyFormat = [{
    (`rope` $rope^)? (`theta` $rope_theta^)? (`turning` $rope_dim^)?
    (`half` $rope_half^)? `rows` $rows $out attr-dict
    `:` qualified(type($out))
  }];
  let hasVerifier = 1;
}

def Flow_SendOp : Flow_Op<"send"> {
  let summary = "host link: a buffer's vectors to the host";
  let description = [{
    ```
    host[n] = input[n]
    ```

    Numerics:
      none.

    Constraints:
      - (C1) the buffer is f32.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.send %best : !flow.buffer<2 x f32>
    ```
  }];
  let arguments = (ins Flow_Buffer:$input);
  let assemblyFormat = "$input attr-dict `:` qualified(type($input))";
  let hasVerifier = 1;
}

def Flow_LogitsOp : Flow_Op<"logits"> {
  let summary = "marks the buffer that holds the step's logits";
  let description = [{
    ```
    logits[t, j * lanes + l] = buffer[t * vectors + j][l],  below vocab
    ```

    Numerics:
      none.

    Constraints:
      - (C1) the buffer is f32.
      - (C2) `vectors` and `vocab` are at least 1, and the buffer has
        tokens * vectors vectors.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.logits %y vectors 2 vocab 100 : !flow.buffer<4 x f32>
    ```
  }];
  let arguments = (ins Flow_Buffer:$buffer, Flow_Int:$vectors, Flow_Int:$vocab);
  let assemblyFormat = [{
    $buffer `vectors` $vectors `vocab` $vocab attr-dict
    `:` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

#endif
