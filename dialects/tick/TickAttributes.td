// The structs that several instructions share, each as one attribute. They
// wrap the struct of machine/ named in their description and print its fields.
#ifndef ORRERY_DIALECTS_TICK_TICKATTRIBUTES_TD
#define ORRERY_DIALECTS_TICK_TICKATTRIBUTES_TD

include "dialects/tick/TickEnums.td"

def Tick_Shape : Tick_Attr<"Shape", "::orrery::BurstShape",
                           "times of a burst"> {
  let mnemonic = "shape";
  let summary = "times of a burst's vectors";
  let description = [{
    BurstShape. `<22>` is 22 vectors, one a tick; `<22 every 2>` one each second
    tick; `<22 every 2, 4 runs every 60>` that four times, 60 ticks apart.
    Vector n comes `(n / length) * period + (n % length) * stride` ticks after
    the instruction's tick.

    Constraints:
      - (C1) length, stride and runs are at least 1.
      - (C2) vectors come at rising ticks: a run ends before the next begins.

    Example: tests/dialects/tick/attributes.mlir
  }];
  let assemblyFormat = "`<` custom<Shape>($value) `>`";
}

def Tick_Address : Tick_Attr<"Address", "::orrery::AddressPattern",
                             "addresses of a burst"> {
  let mnemonic = "address";
  let summary = "addresses of a burst's vectors";
  let description = [{
    AddressPattern: a base, then `extent by step` of up to three dimensions,
    the innermost first, then `position by step` or `chunk by step` if a step
    register adds to it. Vector n = i_0 + extent_0 * (i_1 + extent_1 * i_2) is
    at
    ```
    base + sum_k step_k * i_k + dynamic
    dynamic = POS * step (position), (POS / lanes) * step (chunk)
    ```
    `<40, 352 by 1>` is 352 vectors from address 40 on.

    Constraints:
      - (C1) extents are at least 1.
      - (C2) without a step register there is no dynamic step.
      - (C3) no address is negative.

    Example: tests/dialects/tick/attributes.mlir
  }];
  let assemblyFormat = "`<` custom<Address>($value) `>`";
}

def Tick_Stream : Tick_Attr<"Stream", "::orrery::StreamRef", "a stream group"> {
  let mnemonic = "stream";
  let summary = "a stream group that is taken from";
  let description = [{
    StreamRef: direction and first stream; the value says how many follow. As
    attribute `<east 4>`, in an op `east 4`.

    Constraints: none.

    Example: tests/dialects/tick/attributes.mlir
  }];
  let assemblyFormat = "`<` custom<StreamRef>($value) `>`";
}

def Tick_Out : Tick_Attr<"Out", "::orrery::StreamOut", "a driven group"> {
  let mnemonic = "out";
  let summary = "a stream group that is driven";
  let description = [{
    StreamOut: a stream group and the position behind which its vectors vanish.
    As attribute `<east 4 stop 95>`, in an op `east 4 stop 95`.

    Constraints:
      - (C1) the stop is not negative.

    Example: tests/dialects/tick/attributes.mlir
  }];
  let assemblyFormat = "`<` custom<StreamOut>($value) `>`";
}

def Tick_Logits : Tick_Attr<"Logits", "::orrery::LogitsPlace", "a place"> {
  let mnemonic = "logits";
  let summary = "where the step leaves its logits";
  let description = [{
    LogitsPlace: f32, byte plane k in slice `slice + k`; vector (token t, j) at
    address `base + t * vectors + j`, its lane l being element j * lanes + l;
    elements from `vocab` on are padding.

    Constraints:
      - (C1) vectors and vocab are at least 1, or both 0: no logits.

    Example: tests/dialects/tick/attributes.mlir
  }];
  let assemblyFormat = "`<` custom<Logits>($value) `>`";
}

/// Compared by bits, not by value: -0.0 is not 0.0, a NaN is equal to itself.
def Tick_StepParameter
    : AttrParameter<"::orrery::AluStep", "operation and operands"> {
  let comparator = "::orrery::tick::sameBits($_lhs, $_rhs)";
}

def Tick_Step : AttrDef<Tick_Dialect, "Step"> {
  let mnemonic = "step";
  let summary = "one step of a vector program";
  let description = [{
    AluStep, whose operands are numbers of earlier values. By operation:
    ```
    add v0, v1                    also sub, mul, div, max
    exp v0                        also sqrt, silu
    keep v0 below 64 else 0.0     with tile, see below
    window v0 width 64            with tile; also splat
    kv_scale v0 width 32          also kv_code
    immediate 1.0
    ```
    `below 64 + position` adds POS + token + 1 to the bound; token may be given.
    `token div 4 mod 2` and `tile div 4 mod 2` say that the index of vector i of
    the burst is (i / 4) % 2; without them it is 0.

    Numerics:
      machine/VectorProgram.h and machine/numerics.h.

    Constraints:
      - (C1) fields that the operation does not use are at their defaults.
      - (C2) a width is at least 1.
      - (C3) `div` and `mod` are at least 1.

    Example: tests/dialects/tick/attributes.mlir
  }];
  let parameters = (ins Tick_StepParameter:$value);
  let genVerifyDecl = 1;
  let assemblyFormat = "`<` custom<Step>($value) `>`";
}
def Tick_Output : Tick_Attr<"Output", "::orrery::VectorOutput", "a result"> {
  let mnemonic = "output";
  let summary = "a value that leaves a vector program";
  let description = [{
    VectorOutput: `v3 : a8`, or after a reduction over lanes and group
    `v3 : f32 sum_wide`.

    Numerics:
      machine/VectorProgram.h; a8 quantizes blocks of 32 lanes.

    Constraints:
      - (C1) a reduction gives f32, add_sums f32 or sum.

    Example: tests/dialects/tick/attributes.mlir
  }];
  let assemblyFormat = "`<` custom<Output>($value) `>`";
}

def Tick_StreamArray : TypedArrayAttrBase<Tick_Stream, "streams taken from">;
def Tick_OutArray : TypedArrayAttrBase<Tick_Out, "streams driven">;
def Tick_StepArray : TypedArrayAttrBase<Tick_Step, "steps">;
def Tick_OutputArray : TypedArrayAttrBase<Tick_Output, "results">;
def Tick_TypeArray : TypedArrayAttrBase<Tick_StreamTypeAttr, "types of inputs">;

#endif
