// The words of the flow dialect. The cases of each enum stand in the order of
// the machine's enum of that name; FlowDialect.cpp asserts it.
#ifndef ORRERY_DIALECTS_FLOW_FLOWENUMS_TD
#define ORRERY_DIALECTS_FLOW_FLOWENUMS_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

class Flow_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::orrery::flow";
  let genSpecializedAttr = 0;
}

def Flow_StreamTypeEnum : Flow_Enum<"StreamType", "type of a vector on streams", [
  I32EnumAttrCase<"F32", 0, "f32">, I32EnumAttrCase<"F16", 1, "f16">,
  I32EnumAttrCase<"I8", 2, "i8">, I32EnumAttrCase<"A8", 3, "a8">,
  I32EnumAttrCase<"Sum", 4, "sum">]>;
def Flow_AluOpEnum : Flow_Enum<"AluOp", "step of a vector program", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">,
  I32EnumAttrCase<"Mul", 2, "mul">, I32EnumAttrCase<"Div", 3, "div">,
  I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"Exp", 5, "exp">,
  I32EnumAttrCase<"Sqrt", 6, "sqrt">, I32EnumAttrCase<"Silu", 7, "silu">,
  I32EnumAttrCase<"Keep", 8, "keep">, I32EnumAttrCase<"Window", 9, "window">,
  I32EnumAttrCase<"Splat", 10, "splat">,
  I32EnumAttrCase<"KvScale", 11, "kv_scale">,
  I32EnumAttrCase<"KvCode", 12, "kv_code">,
  I32EnumAttrCase<"Immediate", 13, "immediate">,
  I32EnumAttrCase<"AddBits", 14, "add_bits">]>;
def Flow_ReductionEnum : Flow_Enum<"Reduction", "reduction of an output", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"SumWide", 1, "sum_wide">,
  I32EnumAttrCase<"SumExact", 2, "sum_exact">, I32EnumAttrCase<"Max", 3, "max">,
  I32EnumAttrCase<"ArgMax", 4, "argmax">,
  I32EnumAttrCase<"ArgBest", 5, "argbest">,
  I32EnumAttrCase<"AddSums", 6, "add_sums">]>;
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

#endif
