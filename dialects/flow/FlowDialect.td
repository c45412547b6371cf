// The flow dialect: definition, types and attributes.
#ifndef ORRERY_FLOW_DIALECT
#define ORRERY_FLOW_DIALECT

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Flow_Dialect : Dialect {
  let name = "flow";
  let cppNamespace = "::orrery::flow";
  let summary = "how a shard is computed: unit operations joined by buffers";
  let description = [{
    `flow` says **how**: each op is one unit of the chip (VXM, MXM, SXM, host
    link) fed from SRAM buffers over streams and writing SRAM buffers. What is
    still unknown here is when (cycles), on which streams, and, until
    `--flow-allocate` has run, at which addresses.

    Ops are in destination-passing style: buffers are memory, and program
    order is the meaning. A buffer made by `flow.alloc` is a temporary; every
    lane of it is written at most once.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Flow_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::orrery::flow";
  let genSpecializedAttr = 0;
}

// The cases of each enum stand in the order of the machine's enum of that
// name; Flow.cpp asserts it.
def Flow_StreamTypeEnum : Flow_Enum<"StreamType", "type of a vector on streams", [
  I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"F16", 1, "f16">,
  I32EnumAttrCase<"I8", 2, "i8">, I32EnumAttrCase<"A8", 3, "a8">]>;
def Flow_AluOpEnum : Flow_Enum<"AluOp", "step of a vector program", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
  I32EnumAttrCase<"Mul", 2, "mul">, I32EnumAttrCase<"Div", 3, "div">,
  I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"Exp", 5, "exp">,
  I32EnumAttrCase<"Sqrt", 6, "sqrt">, I32EnumAttrCase<"Silu", 7, "silu">,
  I32EnumAttrCase<"Keep", 8, "keep">, I32EnumAttrCase<"Window", 9, "window">,
  I32EnumAttrCase<"Splat", 10, "splat">,
  I32EnumAttrCase<"KvScale", 11, "kv_scale">,
  I32EnumAttrCase<"KvCode", 12, "kv_code">,
  I32EnumAttrCase<"Immediate", 13, "immediate">]>;
def Flow_ReductionEnum : Flow_Enum<"Reduction", "reduction of an output", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"SumWide", 1, "sum_wide">,
  I32EnumAttrCase<"SumExact", 2, "sum_exact">, I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"ArgMax", 4, "argmax">]>;
def Flow_DynamicEnum : Flow_Enum<"Dynamic", "step register in an address", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Position", 1, "position">,
  I32EnumAttrCase<"Chunk", 2, "chunk">]>;
def Flow_MaskEnum : Flow_Enum<"Mask", "lanes that a write changes", [
  I32EnumAttrCase<"All", 0, "all">, I32EnumAttrCase<"Range", 1, "range">,
  I32EnumAttrCase<"TokenLane", 2, "token_lane">,
  I32EnumAttrCase<"TokenSpan", 3, "token_span">]>;
def Flow_FormatEnum : Flow_Enum<"Format", "format of installed weights", [
  I32EnumAttrCase<"Q8", 0, "q8">, I32EnumAttrCase<"Q4", 1, "q4">,
  I32EnumAttrCase<"I8", 2, "i8">, I32EnumAttrCase<"F16", 3, "f16">]>;
def Flow_KindEnum : Flow_Enum<"Kind", "what a named region holds", [
  I32EnumAttrCase<"Weight", 0, "weight">, I32EnumAttrCase<"Table", 1, "table">,
  I32EnumAttrCase<"Kv", 2, "kv">]>;

class Flow_EnumParameter<Flow_Enum e> : EnumParameter<e>;
class Flow_DefaultEnum<Flow_Enum e, string value> : EnumParameter<e> {
  let defaultValue = value;
}

class Flow_Type<string name, string typeMnemonic>
    : TypeDef<Flow_Dialect, name> {
  let mnemonic = typeMnemonic;
}
class Flow_Attr<string name, string attrMnemonic>
    : AttrDef<Flow_Dialect, name> {
  let mnemonic = attrMnemonic;
  let assemblyFormat = "`<` struct(params) `>`";
}

def Flow_Buffer : Flow_Type<"Buffer", "buffer"> {
  let summary = "vectors in SRAM";
  let description = [{
    `!flow.buffer<vectors = 40, type = f32>`: 40 vectors of `lanes` elements.
    An f32 buffer takes four slices (byte plane k in slice k), f16 and a8 two,
    i8 one; all at the same addresses.
  }];
  let parameters = (ins "uint32_t":$vectors,
                        Flow_EnumParameter<Flow_StreamTypeEnum>:$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Flow_Tiles : Flow_Type<"Tiles", "tiles"> {
  let summary = "weight tiles in SRAM, ready to install";
  let description = [{
    `!flow.tiles<tiles = 26, format = q8, rows = 320, width = 16>`: tiles of
    `rows` rows striped over `width` slices, each `tileCycles(format, rows,
    width)` addresses long, one after another.
  }];
  let parameters = (ins "uint32_t":$tiles,
                        Flow_EnumParameter<Flow_FormatEnum>:$format,
                        "uint32_t":$rows, "uint32_t":$width);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Flow_Loaded : Flow_Type<"Loaded", "loaded"> {
  let summary = "activation rows held by the planes of one hemisphere";
}

def Flow_Place : Flow_Attr<"Place", "place"> {
  let summary = "where a buffer lies: first slice, bank, first address";
  let parameters = (ins "uint32_t":$slice, "uint32_t":$bank, "uint32_t":$base);
}

def Flow_Axis : Flow_Attr<"Axis", "axis"> {
  let summary = "how the elements of one tensor axis lie in vectors";
  let description = [{
    `heads = 0`: dense, element j * lanes + l in lane l of vector j.
    Otherwise attention heads in slots, see compiler/lower/AxisLayout.h.
  }];
  let parameters = (ins "uint32_t":$elements,
    DefaultValuedParameter<"uint32_t", "0">:$heads,
    DefaultValuedParameter<"uint32_t", "0">:$kv_heads,
    DefaultValuedParameter<"uint32_t", "0">:$head_dim);
}

def Flow_Access : AttrDef<Flow_Dialect, "Access"> {
  let mnemonic = "access";
  let summary = "which vectors of a buffer a burst touches, in order";
  let description = [{
    Vector n of the burst is vector
    `offset + sum_k steps[k] * i_k + dynamic` of the buffer, with
    `n = i_0 + extents[0] * (i_1 + extents[1] * i_2)`; one to three extents.
    For writes also the lanes (`mask`, `low`, `high`, `token_dim`) and the
    striped form (`stripe_bytes`, `stripe_step`), as in machine/Instruction.h.
    Printed as `<[3, 4] by [1, 8]>`, followed by the fields that are not zero:
    `offset 2`, `position 4` or `chunk 4`, `lanes 0 to 64` or `token_lane` or
    `token_span`, `token_dim 1`, `stripe 1 step 20`.
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
  let summary = "one ALU step; fields as machine/VectorProgram.h's AluStep";
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
}

def Flow_Output : Flow_Attr<"Output", "output"> {
  let summary = "what leaves the VXM: a value, its stream type, a reduction";
  let parameters = (ins "uint32_t":$value,
    Flow_EnumParameter<Flow_StreamTypeEnum>:$type,
    DefaultValuedParameter<"::orrery::flow::Reduction",
                           "::orrery::flow::Reduction::None">:$reduction);
}

#endif // ORRERY_FLOW_DIALECT
