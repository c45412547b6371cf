// Links to other chips (C2C).
#ifndef ORRERY_DIALECTS_FLOW_FLOWLINKS_TD
#define ORRERY_DIALECTS_FLOW_FLOWLINKS_TD

include "dialects/flow/FlowAttributes.td"

def Flow_LinkSendOp : Flow_Op<"link_send"> {
  let summary = "C2C: vectors of a buffer onto links";
  let description = [{
    ```
    n-th vector on each of `links` = input[read(n)]
    ```
    after those that were sent before. The code vectors of a8 go before the
    scale vectors.

    Numerics:
      none: bits are moved.

    Constraints:
      - (C1) at least one link, numbers 1 to 255, none twice.
      - (C2) the access stays inside the buffer and names no lanes, tokens or
        stripes.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.link_send links [1, 2] %x <[4] by [1]> : !flow.buffer<4 x a8>
    ```
  }];
  let arguments = (ins Flow_Buffer:$input, DenseI32ArrayAttr:$links,
                       Flow_Access:$read);
  let assemblyFormat = [{
    `links` $links $input $read attr-dict `:` qualified(type($input))
  }];
  let hasVerifier = 1;
}

def Flow_LinkReceiveOp : Flow_Op<"link_receive"> {
  let summary = "C2C: vectors from a link into buffers";
  let description = [{
    ```
    outs[o][writes[o](n)][to + l] = n-th vector from `link` [from + l],  l < lanes
    ```
    after those that were received before, in the order in which the other chip
    sent them; other lanes that the write changes become zero. With `lanes` 0
    vectors stay as they are. In a8 buffers scales move with their blocks.

    Numerics:
      none: bits are moved.

    Constraints:
      - (C1) the link's number is 1 to 255.
      - (C2) one write a buffer, at least one; all have the same number of
        vectors, and all buffers one type.
      - (C3) accesses stay inside their buffers; no stripes.
      - (C4) `from`, `to` and `lanes` are not negative and multiples of 32, and so
        are lane ranges of writes to a8.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.link_receive link 2 from 0 to 32 lanes 32
        outs(%y <[4] by [1], lanes 32 to 64> : !flow.buffer<4 x a8>)
    ```
  }];
  let arguments = (ins Variadic<Flow_Buffer>:$outs, Flow_Int:$link,
                       DefaultValuedAttr<Flow_Int, "0">:$from,
                       DefaultValuedAttr<Flow_Int, "0">:$to,
                       DefaultValuedAttr<Flow_Int, "0">:$lanes,
                       Flow_AccessArray:$writes);
  let assemblyFormat = [{
    `link` $link (`from` $from^)? (`to` $to^)? (`lanes` $lanes^)?
    `outs` custom<Reads>($outs, type($outs), $writes) attr-dict
  }];
  let hasVerifier = 1;
}

#endif
