// Instructions of the host link.
#ifndef ORRERY_DIALECTS_TICK_TICKHOST_TD
#define ORRERY_DIALECTS_TICK_TICKHOST_TD

include "dialects/tick/TickAttributes.td"

def Tick_ReceiveOp : Tick_Instruction<"receive"> {
  let summary = "vectors from the host to 4 westward streams";
  let description = [{
    ```
    streams [stream, stream + 4) vector n = n-th f32 vector of the step's input
    ```
    which is row-major [tokens, input_vectors].

    Timing:
      Vector n leaves the host port at tick + shape.at(n); none before
      `timing.host`, nor closer together than `timing.hostVector`.

    Constraints:
      - (C1) the stop is not negative.

    Example: tests/dialects/tick/host.mlir
    ```mlir
    tick.receive at 300 stream 0 stop 44 shape <2 every 4>
    ```
  }];
  let arguments = (ins Tick_Time:$tick, UI8Attr:$stream, Tick_Position:$stop,
                       Tick_Shape:$shape);
  let assemblyFormat =
    "`at` $tick `stream` $stream `stop` $stop `shape` $shape attr-dict";
  let hasVerifier = 1;
}

def Tick_SendOp : Tick_Instruction<"send"> {
  let summary = "vectors from 4 eastward streams to the host";
  let description = [{
    ```
    n-th f32 vector of the step's output = streams [stream, stream + 4) vector n
    ```
    Timing:
      Vector n is taken at the host port at tick + shape.at(n) and is with the
      host `timing.host` ticks later.

    Constraints: none beyond those of its shape.

    Example: tests/dialects/tick/host.mlir
    ```mlir
    tick.send at 800 stream 0 shape <2 every 4>
    ```
  }];
  let arguments = (ins Tick_Time:$tick, UI8Attr:$stream, Tick_Shape:$shape);
  let assemblyFormat = "`at` $tick `stream` $stream `shape` $shape attr-dict";
}

#endif
