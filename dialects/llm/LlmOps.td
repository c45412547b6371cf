// All of the llm dialect, for TableGen.
#ifndef ORRERY_DIALECTS_LLM_LLMOPS_TD
#define ORRERY_DIALECTS_LLM_LLMOPS_TD

include "dialects/llm/LlmAttention.td"
include "dialects/llm/LlmElementwise.td"
include "dialects/llm/LlmLinear.td"
include "dialects/llm/LlmTokens.td"

#endif
