// Instructions of the links: the host's (0) and those to other chips.
#ifndef ORRERY_DIALECTS_TICK_TICKHOST_TD
#define ORRERY_DIALECTS_TICK_TICKHOST_TD

include "dialects/tick/TickAttributes.td"

def Tick_ReceiveOp : Tick_Instruction<"receive"> {
  let summary = "vectors from a link to westward streams";
  let description = [{
    Host (link 0, width 4):
    ```
    streams [stream, stream + 4) vector n = n-th f32 vector of the step's input
    ```
    which is row-major [tokens, input_vectors]. C2C (link >= 1):
    ```
    streams [stream, stream + width) vector n = next vector out of the link
    ```

    Timing:
      Vector n leaves the host port at tick + shape.at(n); none before
      `timing.host`, nor closer together than `timing.hostVector`. C2C: each
      vector has arrived (machine/Timing.h, crossLink).

    Constraints:
      - (C1) the stop is not negative.
      - (C2) the host's link is 4 streams wide; no link has 0.

    Example: tests/dialects/tick/host.mlir
    ```mlir
    tick.receive at 300 stream 0 stop 44 shape <2 every 4>
    ```
  }];
  let arguments = (ins Tick_Time:$tick, UI8Attr:$stream, Tick_Position:$stop,
                       Tick_Shape:$shape,
                       DefaultValuedAttr<UI8Attr, "0">:$link,
                       DefaultValuedAttr<UI8Attr, "4">:$width);
  let assemblyFormat = [{
    `at` $tick (`link` $link^)? (`width` $width^)? `stream` $stream
    `stop` $stop `shape` $shape attr-dict
  }];
  let hasVerifier = 1;
}

def Tick_SendOp : Tick_Instruction<"send"> {
  let summary = "vectors from eastward streams to a link";
  let description = [{
    ```
    n-th f32 vector of the step's output = streams [stream, stream + 4) vector n
    ```
    for the host (link 0, width 4); for C2C the next vectors of the link.
    Timing:
      Vector n is taken at the host port at tick + shape.at(n) and is with the
      host `timing.host` ticks later; C2C as machine/Timing.h, crossLink.

    Constraints:
      - (C1) the host's link is 4 streams wide; no link has 0.

    Example: tests/dialects/tick/host.mlir
    ```mlir
    tick.send at 800 stream 0 shape <2 every 4>
    ```
  }];
  let arguments = (ins Tick_Time:$tick, UI8Attr:$stream, Tick_Shape:$shape,
                       DefaultValuedAttr<UI8Attr, "0">:$link,
                       DefaultValuedAttr<UI8Attr, "4">:$width);
  let assemblyFormat = [{
    `at` $tick (`link` $link^)? (`width` $width^)? `stream` $stream
    `shape` $shape attr-dict
  }];
  let hasVerifier = 1;
}

#endif
