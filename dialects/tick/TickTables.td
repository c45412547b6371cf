// The tables of a program: SRAM regions, vector programs, lane maps.
#ifndef ORRERY_DIALECTS_TICK_TICKTABLES_TD
#define ORRERY_DIALECTS_TICK_TICKTABLES_TD

include "dialects/tick/TickAttributes.td"
include "mlir/IR/SymbolInterfaces.td"

def Tick_RegionOp : Tick_Op<"region", [HasParent<"ProgramOp">]> {
  let summary = "what a part of SRAM holds";
  let description = [{
    Addresses [base, base + length) of bank `bank` in slices
    [slice, slice + width). Weights, tables and instructions are there before
    the first step and never written; kv starts as zeros and lives across steps;
    a temporary holds a value in ticks [born, dies).

    Constraints:
      - (C1) width and length are at least 1.
      - (C2) a temporary has 0 <= born < dies; the others have neither.

    Example: tests/dialects/tick/tables.mlir
    ```mlir
    tick.region "blk.0.attn_q.weight" weight slice 0 width 16 bank 0 base 40 length 352
    tick.region "x" temporary slice 20 width 4 bank 1 base 0 length 1 born 300 dies 371
    ```
  }];
  let arguments = (ins
    StrAttr:$name, Tick_RegionKindAttr:$kind, UI16Attr:$slice, UI16Attr:$width,
    UI8Attr:$bank, UI32Attr:$base, UI32Attr:$length,
    DefaultValuedAttr<Tick_Time, "0">:$born,
    DefaultValuedAttr<Tick_Time, "0">:$dies);
  let assemblyFormat = [{
    $name custom<Word>($kind) `slice` $slice `width` $width `bank` $bank
    `base` $base `length` $length (`born` $born `dies` $dies^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Tick_VectorProgramOp : Tick_Op<"vector_program", [
    HasParent<"ProgramOp">, Symbol]> {
  let summary = "an elementwise program of the vector unit";
  let description = [{
    Values are numbered: v0, v1, ... are the inputs, widened to f32, then each
    step gives the next one. For each vector of a burst
    ```
    v[inputs + k] = step_k(v[0 .. inputs + k))
    ```
    and each `out` sends a value off, reduced over lanes and over `group`
    successive vectors if it says so. The n-th program of a `tick.program` is
    number n in the encoding; its name is not encoded.

    Numerics:
      machine/VectorProgram.h and machine/numerics.h: f32, nearest even, no
      contraction; reductions are exact.

    Timing:
      vectorInterval, vectorLatency, vectorOutputStart of machine/Timing.h.

    Constraints:
      - (C1) at most 8 inputs, 1 to 4 outputs, at most 256 values.
      - (C2) inputs are f32, f16, i8 or sum.
      - (C3) steps and outputs name earlier values.
      - (C4) group is at least 1.
      - (C5) sum inputs, and no other values, are what add_sums outputs put out;
        no step takes them.

    Example: tests/dialects/tick/tables.mlir
    ```mlir
    tick.vector_program @p0 group 4 (f32, f32) {
      v2 = mul v0, v1
      out v2 : f32 sum_wide
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, DefaultValuedAttr<UI32Attr, "1">:$group,
    Tick_TypeArray:$inputs, Tick_StepArray:$steps, Tick_OutputArray:$outputs);
  let assemblyFormat = [{
    $sym_name (`group` $group^)? attr-dict-with-keyword
    custom<VectorBody>($inputs, $steps, $outputs)
  }];
  let extraClassDeclaration = [{
    ::orrery::VectorProgram getProgram();
  }];
  let hasVerifier = 1;
}

def Tick_LaneMapOp : Tick_Op<"lane_map", [HasParent<"ProgramOp">, Symbol]> {
  let summary = "a map of lanes for the permute unit";
  let description = [{
    ```
    out[l] = in[map[l]]      or 0 where map[l] is 0xffff
    ```
    The map is listed from lane 0: `a to b` stands for the lanes a, a+1, ..., b,
    `zero n` for n lanes of zeros. The n-th map of a `tick.program` is number n
    in the encoding; its name is not encoded.

    Constraints:
      - (C1) there is at least one lane.

    Example: tests/dialects/tick/tables.mlir
    ```mlir
    tick.lane_map @m0 [160 to 319, 0 to 158, zero 1]
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, DenseI16ArrayAttr:$lanes);
  let assemblyFormat = "$sym_name custom<Lanes>($lanes) attr-dict";
  let hasVerifier = 1;
}

#endif
