// Attributes of the flow ops: places, axes, accesses, vector programs.
#ifndef ORRERY_DIALECTS_FLOW_FLOWATTRIBUTES_TD
#define ORRERY_DIALECTS_FLOW_FLOWATTRIBUTES_TD

include "dialects/flow/FlowDialect.td"

class Flow_Attr<string name, string attrMnemonic>
    : AttrDef<Flow_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Flow_Place : Flow_Attr<"Place", "place"> {
  let summary = "where a buffer lies: first slice, bank, first address";
  let description = [{
    Constraints: none here; the machine's bounds are `--flow-allocate`'s.

    Example: tests/dialects/flow/attributes.mlir
    ```mlir
    #flow.place<slice 20 bank 1 base 40>
    ```
  }];
  let parameters = (ins "uint32_t":$slice, "uint32_t":$bank, "uint32_t":$base);
  let assemblyFormat = "`<` `slice` $slice `bank` $bank `base` $base `>`";
}

def Flow_Axis : Flow_Attr<"Axis", "axis"> {
  let summary = "how the elements of one tensor axis lie in vectors";
  let description = [{
    No heads: dense, element j * lanes + l in lane l of vector j. Otherwise
    attention heads in slots of lanes, see compiler/lower/AxisLayout.h.

    With `shard of R in N` the axis is gathered from R tensor-parallel ranks: an
    axis of N elements in shards of `elements`, each laid out as before, the
    own rank's first and that of the s-th rank before it after s others.

    Constraints:
      - (C1) `elements` is at least 1.
      - (C2) with heads, elements = heads * head_dim and kv_heads divides
        heads; without, all three are 0.
      - (C3) a gathered axis has at least 2 shards of a multiple of 32 elements
        and at least 1 element in all, no more than they hold.

    Example: tests/dialects/flow/attributes.mlir
    ```mlir
    #flow.axis<4096>
    #flow.axis<4096, heads 32 over 8 of 128>
    #flow.axis<1024, shard of 8 in 8000>
    ```
  }];
  let parameters = (ins "uint32_t":$elements,
    DefaultValuedParameter<"uint32_t", "0">:$heads,
    DefaultValuedParameter<"uint32_t", "0">:$kv_heads,
    DefaultValuedParameter<"uint32_t", "0">:$head_dim,
    DefaultValuedParameter<"uint32_t", "1">:$ranks,
    DefaultValuedParameter<"uint32_t", "0">:$total);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Flow_Access : Flow_Attr<"Access", "access"> {
  let summary = "which vectors of a buffer a burst touches, in order";
  let description = [{
    ```
    vector(n) = offset + sum_k steps[k] * i_k + dynamic
    n = i_0 + extents[0] * (i_1 + extents[1] * i_2)
    ```
    where dynamic is 0, POS * dynamic_step (`position`) or
    floor(POS / lanes) * dynamic_step (`chunk`). For writes also which lanes
    change, and the striped form that appends rows to tiles, both as in
    machine/Instruction.h, WriteOp; the token of vector n is i_{token_dim}.

    After extents and steps, the fields that are not zero are printed:
    `offset 2`, `position 4` or `chunk 4`, `lanes 0 to 64` or `token_lane` or
    `token_span`, `token_dim 1`, `stripe 1 step 20`.

    Constraints:
      - (C1) one to three extents of 1 to 2^20, and as many steps of at most
        that either way.
      - (C2) a lane range is not empty.
      - (C3) `token_dim` names an extent.
      - (C4) a striped access changes all lanes of its row: no `lanes`, no
        token mask.

    Example: tests/dialects/flow/attributes.mlir
    ```mlir
    #flow.access<[3, 4] by [1, 8], offset 2, lanes 0 to 64>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$extents,
    ArrayRefParameter<"int64_t">:$steps,
    DefaultValuedParameter<"uint32_t", "0">:$offset,
    DefaultValuedParameter<"::orrery::flow::Dynamic",
                           "::orrery::flow::Dynamic::None">:$dynamic,
    DefaultValuedParameter<"uint32_t", "0">:$dynamic_step,
    DefaultValuedParameter<"::orrery::flow::Mask",
                           "::orrery::flow::Mask::All">:$mask,
    DefaultValuedParameter<"uint32_t", "0">:$low,
    DefaultValuedParameter<"uint32_t", "0">:$high,
    DefaultValuedParameter<"uint32_t", "0">:$token_dim,
    DefaultValuedParameter<"uint32_t", "0">:$stripe_bytes,
    DefaultValuedParameter<"uint32_t", "0">:$stripe_step);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Flow_Step : Flow_Attr<"Step", "step"> {
  let summary = "one ALU step of a vector program";
  let description = [{
    A step makes the next value: inputs are v0, v1, ..., then one a step. Fields
    and meaning are those of machine/VectorProgram.h's AluStep.

    Numerics:
      f32, nearest even, no contraction; machine/VectorProgram.h, AluOp.

    Constraints:
      - (C1) fields that the operation does not use are at their defaults.
      - (C2) the `width` of window, splat, kv_scale and kv_code is at least 1.
      - (C3) every div and mod is at least 1.

    Example: tests/dialects/flow/attributes.mlir
    ```mlir
    #flow.step<mul v0, v1>
    #flow.step<keep v3 below 0 + position else 0xFF800000 token div 4 mod 2>
    #flow.step<splat v8 width 32 tile div 2 mod 4>
    ```
  }];
  let parameters = (ins
    Flow_EnumParameter<Flow_AluOpEnum>:$op,
    DefaultValuedParameter<"uint32_t", "0">:$a,
    DefaultValuedParameter<"uint32_t", "0">:$b,
    OptionalParameter<"::mlir::FloatAttr">:$imm,
    DefaultValuedParameter<"uint32_t", "0">:$bound,
    DefaultValuedParameter<"bool", "false">:$position,
    DefaultValuedParameter<"uint32_t", "0">:$width,
    DefaultValuedParameter<"uint32_t", "1">:$token_div,
    DefaultValuedParameter<"uint32_t", "1">:$token_mod,
    DefaultValuedParameter<"uint32_t", "1">:$tile_div,
    DefaultValuedParameter<"uint32_t", "1">:$tile_mod);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Flow_Output : Flow_Attr<"Output", "output"> {
  let summary = "what leaves the VXM: a value, its stream type, a reduction";
  let description = [{
    Numerics:
      a8 quantizes each block of 32 lanes (quantizeA8Block); reductions are
      those of machine/VectorProgram.h.

    Constraints:
      - (C1) a reduction is f32, add_sums f32 or sum.

    Example: tests/dialects/flow/attributes.mlir
    ```mlir
    #flow.output<v4 : a8>
    #flow.output<v2 : f32 sum_wide>
    ```
  }];
  let parameters = (ins "uint32_t":$value,
    Flow_EnumParameter<Flow_StreamTypeEnum>:$type,
    DefaultValuedParameter<"::orrery::flow::Reduction",
                           "::orrery::flow::Reduction::None">:$reduction);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

/// Signed, since -1 means "anywhere" or "zero".
class Flow_Integer<I type, string cppType>
    : TypedSignlessIntegerAttrBase<type, cppType, "signed integer">;
def Flow_Int : Flow_Integer<I32, "int32_t">;
def Flow_Long : Flow_Integer<I64, "int64_t">;

def Flow_AccessArray : TypedArrayAttrBase<Flow_Access, "accesses">;
def Flow_StepArray : TypedArrayAttrBase<Flow_Step, "ALU steps">;
def Flow_OutputArray : TypedArrayAttrBase<Flow_Output, "VXM outputs">;

#endif
