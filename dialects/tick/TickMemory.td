// Instructions of the SRAM slices (MEM).
#ifndef ORRERY_DIALECTS_TICK_TICKMEMORY_TD
#define ORRERY_DIALECTS_TICK_TICKMEMORY_TD

include "dialects/tick/TickAttributes.td"

def Tick_ReadOp : Tick_Instruction<"read"> {
  let summary = "a burst from SRAM slices to streams";
  let description = [{
    ```
    stream[to + k] vector n = sram[slice + k][bank][address(n)],  k < width
    ```
    Timing:
      Slice `slice` issues vector n at tick + shape.at(n), slice g so much later
      (eastward; earlier westward) as it stands further east, so that vector n
      of all slices lies on one diagonal. The vector is at the slice's own
      position `timing.read` ticks after issue.

    Constraints:
      - (C1) width is at least 1.
      - (C2) address and shape have the same count.

    Example: tests/dialects/tick/memory.mlir
    ```mlir
    tick.read at 120 slice 28 width 16 bank 0 address <40, 352 by 1> to east 0 stop 95 shape <352>
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, UI16Attr:$slice, UI8Attr:$width, UI8Attr:$bank,
    Tick_Address:$address, Tick_Out:$out, Tick_Shape:$shape);
  let assemblyFormat = [{
    `at` $tick `slice` $slice `width` $width `bank` $bank `address` $address
    `to` custom<Out>($out) `shape` $shape attr-dict
  }];
  let hasVerifier = 1;
}

def Tick_WriteOp : Tick_Instruction<"write"> {
  let summary = "a burst from streams to SRAM slices";
  let description = [{
    ```
    sram[slice + k][bank][address(n)][l] = stream[from + k] vector n, lane l
    ```
    for k < width and the lanes l of `mask`: all; `range`, those of `lanes`;
    `token_lane`, lane (POS + t) % lanes if t < NTOK; `token_span`, lanes
    [POS % lanes, POS % lanes + NTOK). t is the index of vector n in dimension
    `token_dimension` of the address.

    With `stripe` (KV append) byte plane b of token t, one of `stripe` streams,
    goes to one slice: with R = POS + t, u = (R % lanes) * stripe + b,
    ```
    sram[slice + u % width][bank][address(n) + (R / lanes) * stripe_step + u / width]
    ```
    and nothing is written for t >= NTOK.

    Timing:
      Times as in `tick.read`, without latency: a slice takes its vector when it
      passes. A read may issue `timing.write` ticks later.

    Constraints:
      - (C1) width is at least 1.
      - (C2) address and shape have the same count.
      - (C3) `lanes` goes with mask range, low below high, and with no other.
      - (C4) token_dimension is below 3.
      - (C5) `stripe_step` goes with `stripe`.
      - (C6) with `stripe` the mask is all or range.

    Example: tests/dialects/tick/memory.mlir
    ```mlir
    tick.write at 482 slice 3 width 4 bank 1 address <40, 2 by 1> from west 8 shape <2>
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, UI16Attr:$slice, UI8Attr:$width, UI8Attr:$bank,
    Tick_Address:$address, Tick_Stream:$in, Tick_Shape:$shape,
    DefaultValuedAttr<Tick_LaneMaskAttr, "::orrery::tick::LaneMask::All">:$mask,
    DefaultValuedAttr<UI16Attr, "0">:$low,
    DefaultValuedAttr<UI16Attr, "0">:$high,
    DefaultValuedAttr<UI8Attr, "0">:$token_dimension,
    DefaultValuedAttr<UI8Attr, "0">:$stripe_bytes,
    DefaultValuedAttr<UI32Attr, "0">:$stripe_step);
  let assemblyFormat = [{
    `at` $tick `slice` $slice `width` $width `bank` $bank `address` $address
    `from` custom<Stream>($in) `shape` $shape
    (`mask` custom<Word>($mask)^)? (`lanes` $low `to` $high^)?
    (`token_dimension` $token_dimension^)?
    (`stripe` $stripe_bytes^)? (`stripe_step` $stripe_step^)? attr-dict
  }];
  let hasVerifier = 1;
}

#endif
