// Number formats of weights and KV caches, and the pairing of RoPE.
#ifndef ORRERY_DIALECTS_LLM_LLMFORMATS_TD
#define ORRERY_DIALECTS_LLM_LLMFORMATS_TD

include "dialects/llm/LlmDialect.td"
include "mlir/IR/EnumAttr.td"

def Llm_WeightFormat : I32EnumAttr<"WeightFormat", "weight format", [
    I32EnumAttrCase<"Q8_0", 0, "q8_0">,
    I32EnumAttrCase<"Q4_0", 1, "q4_0">,
    I32EnumAttrCase<"F16", 2, "f16">]> {
  let cppNamespace = "::orrery::llm";
  let genSpecializedAttr = 0;
}
def Llm_WeightFormatAttr
    : EnumAttr<Llm_Dialect, Llm_WeightFormat, "weight_format">;

def Llm_KvFormat : I32EnumAttr<"KvFormat", "KV format", [
    I32EnumAttrCase<"Q8", 0, "q8">,
    I32EnumAttrCase<"F16", 1, "f16">,
    I32EnumAttrCase<"Q4", 2, "q4">]> {
  let cppNamespace = "::orrery::llm";
  let genSpecializedAttr = 0;
}
def Llm_KvFormatAttr : EnumAttr<Llm_Dialect, Llm_KvFormat, "kv_format">;

def Llm_RopePairing : I32EnumAttr<"RopePairing", "RoPE pairing", [
    I32EnumAttrCase<"Adjacent", 0, "adjacent">,
    I32EnumAttrCase<"Half", 1, "half">]> {
  let cppNamespace = "::orrery::llm";
  let genSpecializedAttr = 0;
}
def Llm_RopePairingAttr
    : EnumAttr<Llm_Dialect, Llm_RopePairing, "rope_pairing">;

#endif
