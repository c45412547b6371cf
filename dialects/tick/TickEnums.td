// The words of the tick dialect. Each enum has the cases, in the order, of the
// machine's enum of that name (QueueKind: QueueId::Kind); TickSyntax.h casts
// between them.
#ifndef ORRERY_DIALECTS_TICK_TICKENUMS_TD
#define ORRERY_DIALECTS_TICK_TICKENUMS_TD

include "dialects/tick/TickDialect.td"
include "mlir/IR/EnumAttr.td"

class Tick_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::orrery::tick";
  let genSpecializedAttr = 0;
}

/// The enum as an attribute; ops write the bare word with custom<Word>.
class Tick_EnumAttr<Tick_Enum word, string name>
    : EnumAttr<Tick_Dialect, word, name> {
  let assemblyFormat = "`<` $value `>`";
}

def Tick_Direction : Tick_Enum<"Direction", "stream direction", [
    I32EnumAttrCase<"East", 0, "east">,
    I32EnumAttrCase<"West", 1, "west">]>;

def Tick_Dynamic : Tick_Enum<"Dynamic", "step register", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Position", 1, "position">,
    I32EnumAttrCase<"Chunk", 2, "chunk">]>;

def Tick_StreamType : Tick_Enum<"StreamType", "stream type", [
    I32EnumAttrCase<"F32", 0, "f32">,
    I32EnumAttrCase<"F16", 1, "f16">,
    I32EnumAttrCase<"I8", 2, "i8">,
    I32EnumAttrCase<"A8", 3, "a8">,
    I32EnumAttrCase<"Sum", 4, "sum">]>;
def Tick_StreamTypeAttr : Tick_EnumAttr<Tick_StreamType, "stream_type">;

def Tick_WeightFormat : Tick_Enum<"WeightFormat", "weight format", [
    I32EnumAttrCase<"Q8", 0, "q8">,
    I32EnumAttrCase<"Q4", 1, "q4">,
    I32EnumAttrCase<"I8", 2, "i8">,
    I32EnumAttrCase<"F16", 3, "f16">]>;
def Tick_WeightFormatAttr : Tick_EnumAttr<Tick_WeightFormat, "weight_format">;

def Tick_LaneMask : Tick_Enum<"LaneMask", "lane mask", [
    I32EnumAttrCase<"All", 0, "all">,
    I32EnumAttrCase<"Range", 1, "range">,
    I32EnumAttrCase<"TokenLane", 2, "token_lane">,
    I32EnumAttrCase<"TokenSpan", 3, "token_span">]>;
def Tick_LaneMaskAttr : Tick_EnumAttr<Tick_LaneMask, "lane_mask">;

def Tick_PermuteKind : Tick_Enum<"PermuteKind", "permute kind", [
    I32EnumAttrCase<"LaneMap", 0, "lane_map">,
    I32EnumAttrCase<"Transpose", 1, "transpose">]>;
def Tick_PermuteKindAttr : Tick_EnumAttr<Tick_PermuteKind, "permute_kind">;

def Tick_RegionKind : Tick_Enum<"RegionKind", "region kind", [
    I32EnumAttrCase<"Weight", 0, "weight">,
    I32EnumAttrCase<"Table", 1, "table">,
    I32EnumAttrCase<"Kv", 2, "kv">,
    I32EnumAttrCase<"Temporary", 3, "temporary">,
    I32EnumAttrCase<"Instructions", 4, "instructions">]>;
def Tick_RegionKindAttr : Tick_EnumAttr<Tick_RegionKind, "region_kind">;

def Tick_QueueKind : Tick_Enum<"QueueKind", "instruction queue", [
    I32EnumAttrCase<"Read", 0, "read">,
    I32EnumAttrCase<"Write", 1, "write">,
    I32EnumAttrCase<"Load", 2, "load">,
    I32EnumAttrCase<"Install", 3, "install">,
    I32EnumAttrCase<"Matmul", 4, "matmul">,
    I32EnumAttrCase<"Vector", 5, "vector">,
    I32EnumAttrCase<"Permute", 6, "permute">,
    I32EnumAttrCase<"Receive", 7, "receive">,
    I32EnumAttrCase<"Send", 8, "send">,
    I32EnumAttrCase<"Fetch", 9, "fetch">]>;
def Tick_QueueKindAttr : Tick_EnumAttr<Tick_QueueKind, "queue_kind">;

def Tick_AluOp : Tick_Enum<"AluOp", "ALU operation", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Sub", 1, "sub">,
    I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Div", 3, "div">,
    I32EnumAttrCase<"Max", 4, "max">,
    I32EnumAttrCase<"Exp", 5, "exp">,
    I32EnumAttrCase<"Sqrt", 6, "sqrt">,
    I32EnumAttrCase<"Silu", 7, "silu">,
    I32EnumAttrCase<"Keep", 8, "keep">,
    I32EnumAttrCase<"Window", 9, "window">,
    I32EnumAttrCase<"Splat", 10, "splat">,
    I32EnumAttrCase<"KvScale", 11, "kv_scale">,
    I32EnumAttrCase<"KvCode", 12, "kv_code">,
    I32EnumAttrCase<"Immediate", 13, "immediate">,
    I32EnumAttrCase<"AddBits", 14, "add_bits">]>;

def Tick_Reduction : Tick_Enum<"Reduction", "reduction", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"SumWide", 1, "sum_wide">,
    I32EnumAttrCase<"SumExact", 2, "sum_exact">,
    I32EnumAttrCase<"Max", 3, "max">,
    I32EnumAttrCase<"ArgMax", 4, "argmax">,
    I32EnumAttrCase<"ArgBest", 5, "argbest">,
    I32EnumAttrCase<"AddSums", 6, "add_sums">]>;

#endif
