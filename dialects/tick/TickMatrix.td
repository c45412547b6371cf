// Instructions of the matrix planes (MXM).
#ifndef ORRERY_DIALECTS_TICK_TICKMATRIX_TD
#define ORRERY_DIALECTS_TICK_TICKMATRIX_TD

include "dialects/tick/TickAttributes.td"

def Tick_LoadOp : Tick_Instruction<"load"> {
  let summary = "activation rows into a plane's activation buffer";
  let description = [{
    ```
    activation[base + n] = outward streams from `stream` on, vector n
    ```
    Numerics:
      a8 rows are codes and scales of 32-blocks, f16 rows halves; an entry keeps
      its type.

    Timing:
      Vector n is taken at tick + shape.at(n); a pass can use the entry
      `timing.load` ticks later.

    Constraints:
      - (C1) the type is a8 or f16.
      - (C2) the last entry, base + count - 1, is below 65536.

    Example: tests/dialects/tick/matrix.mlir
    ```mlir
    tick.load at 500 plane 0 a8 stream 8 base 0 shape <2>
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, UI8Attr:$plane, Tick_StreamTypeAttr:$type,
    UI8Attr:$stream, UI16Attr:$base, Tick_Shape:$shape);
  let assemblyFormat = [{
    `at` $tick `plane` $plane custom<Word>($type) `stream` $stream `base` $base
    `shape` $shape attr-dict
  }];
  let hasVerifier = 1;
}

def Tick_InstallOp : Tick_Instruction<"install"> {
  let summary = "weight tiles into a plane's next free buffers";
  let description = [{
    Each run of the shape is one tile of R = high - low rows for array columns
    [low, high), taken from `width` outward streams: the vector in cycle c on
    stream s is number u = c * width + s of the tile.
    ```
    q8   u < R: codes of row u; then scales of rows 16g .. 16g+15
    q4   u < R/2: codes of rows 2u and 2u+1; then scales as above
    i8   u < R: codes of row u
    f16  u < 2R: byte plane u % 2 of row u / 2
    ```
    Vectors past the end are ignored.

    Numerics:
      machine/Instruction.h, InstallOp, for the bytes.

    Timing:
      tileVectors and tileCycles of machine/Timing.h; a tile can be used
      `timing.install` ticks after its last cycle.

    Constraints:
      - (C1) low is below high.
      - (C2) width is at least 1.
      - (C3) q8 and q4 tiles have a multiple of 16 rows.
      - (C4) a run has at least the cycles of a tile.

    Example: tests/dialects/tick/matrix.mlir
    ```mlir
    tick.install at 640 plane 2 q8 columns 0 to 320 stream 0 width 16 shape <22, 2 runs every 22>
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, UI8Attr:$plane, Tick_WeightFormatAttr:$format,
    UI16Attr:$low, UI16Attr:$high, UI8Attr:$stream, UI8Attr:$width,
    Tick_Shape:$shape);
  let assemblyFormat = [{
    `at` $tick `plane` $plane custom<Word>($format) `columns` $low `to` $high
    `stream` $stream `width` $width `shape` $shape attr-dict
  }];
  let hasVerifier = 1;
}

def Tick_MatmulOp : Tick_Instruction<"matmul"> {
  let summary = "activation rows through the installed tiles";
  let description = [{
    For n < tiles, m < rows, and lanes [low, high), with the next
    tiles * inner installed tiles:
    ```
    out[n * rows + m] = sum_{k < inner} tile[n * inner + k] . activation[base + k * rows + m]
    ```
    as f32 on 4 inward streams or, with `sums`, as accumulators on 8; the other
    lanes are zero.

    Numerics:
      The sum over k and lanes is exact, read out once (machine/numerics.h); with
      `sums` not at all.

    Timing:
      Pass (n, k) starts at tick + (n * inner + k) * period; its row m enters
      m * matmulTicksPerRow later. Results: matmulOutputStart and
      matmulOutputShape of machine/Timing.h.

    Constraints:
      - (C1) low is below high.
      - (C2) tiles, inner and rows are at least 1.
      - (C3) with more than one pass, the period is at least `rows`.
      - (C4) q8 and q4 tiles have a multiple of 16 rows.
      - (C5) the stop is not negative.

    Example: tests/dialects/tick/matrix.mlir
    ```mlir
    tick.matmul at 700 plane 2 q8 columns 0 to 320 tiles 4 inner 2 rows 1 period 22 base 0 stream 28 stop 45
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, UI8Attr:$plane, Tick_WeightFormatAttr:$format,
    UI16Attr:$low, UI16Attr:$high, UI32Attr:$tiles, UI32Attr:$inner,
    UI32Attr:$rows, UI32Attr:$period, UI16Attr:$base, UI8Attr:$stream,
    Tick_Position:$stop, UnitAttr:$sums);
  let assemblyFormat = [{
    `at` $tick `plane` $plane custom<Word>($format) `columns` $low `to` $high `tiles` $tiles
    `inner` $inner `rows` $rows `period` $period `base` $base
    `stream` $stream `stop` $stop (`sums` $sums^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif
