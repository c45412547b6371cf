// Instructions of the vector unit (VXM) and of the permute units (SXM).
#ifndef ORRERY_DIALECTS_TICK_TICKVECTOR_TD
#define ORRERY_DIALECTS_TICK_TICKVECTOR_TD

include "dialects/tick/TickAttributes.td"

def Tick_VectorOp : Tick_Instruction<"vector"> {
  let summary = "a burst through an elementwise program";
  let description = [{
    For n < count, vector n of each stream group of `from` goes through
    `program`; its outputs leave on the groups of `to`, in order.

    Numerics:
      see `tick.vector_program`.

    Timing:
      One set of inputs is taken every vectorInterval ticks; outputs as
      vectorOutputStart and vectorOutputShape of machine/Timing.h say.

    Constraints:
      - (C1) at most 8 stream groups are taken, 1 to 4 driven.
      - (C2) count is at least 1.

    Example: tests/dialects/tick/vector.mlir
    ```mlir
    tick.vector at 900 @p0 count 20 from (east 0, west 4) to (west 0 stop 3)
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, FlatSymbolRefAttr:$program, UI32Attr:$count,
    Tick_StreamArray:$in, Tick_OutArray:$out);
  let assemblyFormat = [{
    `at` $tick $program `count` $count `from` custom<Streams>($in)
    `to` custom<Outs>($out) attr-dict
  }];
  let hasVerifier = 1;
}

def Tick_PermuteOp : Tick_Instruction<"permute"> {
  let summary = "lanes of a burst moved, or tokens turned into columns";
  let description = [{
    `lane_map`: vector n, of `width` streams, leaves with
    ```
    out[l] = in[map[l]]      or 0 where map[l] is 0xffff
    ```
    `transpose`: `count` token vectors of `width` streams come in; then for
    in-lanes r < rows, token j's goes to lane (POS + j) % lanes of out-vector
    r * width + b for byte plane b, zero elsewhere. Out-vector u leaves in cycle
    u / out_width on stream u % out_width.

    Timing:
      permuteOutputStart and permuteOutputShape of machine/Timing.h.

    Constraints:
      - (C1) width, out_width and count are at least 1.
      - (C2) a lane map is named exactly for lane_map.
      - (C3) transpose has at least 1 row; lane_map has none, and no out_width
        other than 1 or width.
      - (C4) the unit is 0 (west) or 1 (east).

    Example: tests/dialects/tick/vector.mlir
    ```mlir
    tick.permute at 900 sxm 0 lane_map @m0 width 4 count 20 from west 0 to east 0 stop 44
    tick.permute at 950 sxm 1 transpose rows 64 width 1 out_width 16 count 4 from east 0 to west 0 stop 50
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, UI8Attr:$sxm, Tick_PermuteKindAttr:$kind,
    OptionalAttr<FlatSymbolRefAttr>:$map,
    DefaultValuedAttr<UI16Attr, "0">:$rows, UI8Attr:$width,
    DefaultValuedAttr<UI8Attr, "1">:$out_width, UI32Attr:$count,
    Tick_Stream:$in, Tick_Out:$out);
  let assemblyFormat = [{
    `at` $tick `sxm` $sxm custom<Word>($kind) ($map^)? (`rows` $rows^)? `width` $width
    (`out_width` $out_width^)? `count` $count
    `from` custom<Stream>($in) `to` custom<Out>($out) attr-dict
  }];
  let hasVerifier = 1;
}

#endif
