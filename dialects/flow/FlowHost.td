// The host link, and where the host finds the logits.
#ifndef ORRERY_DIALECTS_FLOW_FLOWHOST_TD
#define ORRERY_DIALECTS_FLOW_FLOWHOST_TD

include "dialects/flow/FlowAttributes.td"

def Flow_ReceiveOp : Flow_Op<"receive"> {
  let summary = "host link: the step's input vectors into a buffer";
  let description = [{
    ```
    out[t * V + j] = vector j of token t's input row,  V vectors a token
    ```

    Numerics:
      none: f32 as the host sends it.

    Constraints:
      - (C1) the buffer is f32.
      - (C2) it has a multiple of the program's tokens of vectors.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.receive %x : !flow.buffer<4 x f32>
    ```
  }];
  let arguments = (ins Flow_Buffer:$out);
  let assemblyFormat = "$out attr-dict `:` qualified(type($out))";
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
