// Where token ids become rows, and rows become token ids.
#ifndef ORRERY_DIALECTS_LLM_LLMTOKENS_TD
#define ORRERY_DIALECTS_LLM_LLMTOKENS_TD

include "dialects/llm/LlmFormats.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Llm_EmbedOp : Llm_Op<"embed", [Pure]> {
  let summary = "rows of the token embedding";
  let description = [{
    ```
    result[t, i] = value(table[ids[t], i])
    ```
    with `table` a [vocab, n] matrix of the model file.

    Numerics:
      The value of a stored element: q8_0 f32(d) * q, q4_0 f32(d) * (q - 8),
      both exact in f32; f16 the element rounded to f16. An id outside
      0 .. vocab-1 is an error.

    Constraints:
      - (C1) ids are i32 [T], the result is f32 rows [T, n].
      - (C2) ids and result have the same T.
      - (C3) `vocab` is at least 1.
      - (C4) `table` is not empty.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %x = llm.embed %ids table("token_embd.weight") format(q8_0) vocab(512)
       : tensor<4xi32> -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins Llm_Ids:$ids, Llm_TensorName:$table, Llm_Count:$vocab,
                       Llm_WeightFormatAttr:$format);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = [{
    $ids `table` `(` $table `)` `format` `(` custom<Word>($format) `)`
    `vocab` `(` $vocab `)` attr-dict `:` type($ids) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Llm_ArgmaxOp : Llm_Op<"argmax", [Pure]> {
  let summary = "the most likely token of each row";
  let description = [{
    ```
    result[t] = min { i : logits[t, i] = max_j logits[t, j] }
    ```

    Numerics:
      Comparison of f32, the lowest index on ties; -0 ties with +0.

    Constraints:
      - (C1) logits are f32 rows [T, vocab], the result is i32 [T].
      - (C2) both have the same T.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %next = llm.argmax %logits : tensor<4x512xf32> -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Llm_Rows:$logits);
  let results = (outs Llm_Ids:$result);
  let assemblyFormat = "$logits attr-dict `:` type($logits) `->` type($result)";
  let hasVerifier = 1;
}

#endif
