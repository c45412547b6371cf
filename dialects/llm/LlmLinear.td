// The matrix product with a weight of the model file.
#ifndef ORRERY_DIALECTS_LLM_LLMLINEAR_TD
#define ORRERY_DIALECTS_LLM_LLMLINEAR_TD

include "dialects/llm/LlmFormats.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Llm_LinearOp : Llm_Op<"linear", [Pure]> {
  let summary = "rows times the transpose of a weight matrix";
  let description = [{
    ```
    result[t, n] = sum_k x[t, k] * weight[n, k]
    ```
    with `weight` an [N, K] matrix of the model file, kept in `format`.

    Numerics:
      q8_0 and q4_0: row t is quantized in blocks of 32 along K from k = 0
      (quantizeA8Block, a short last block padded with zeros): codes qx[t, k],
      scales dx[t, b]. The weight has codes qw[n, k] (q4_0: stored code - 8) and
      scales dw[n, b].
      ```
      isum[t, n, b] = sum_{i < 32} qx[t, 32 b + i] * qw[n, 32 b + i]
      term[t, n, b] = blockTerm(isum[t, n, b], dw[n, b], dx[t, b])
      result[t, n] = readAccumulator(sum_b term[t, n, b])
      ```
      f16: both sides are rounded to f16, and
      ```
      result[t, n] = readAccumulator(sum_k halfTerm(x[t, k], weight[n, k]))
      ```

    Constraints:
      - (C1) x is f32 rows [T, K], the result f32 rows [T, N].
      - (C2) both have the same T.
      - (C3) `weight` is not empty.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %q = llm.linear %x weight("blk.0.attn_q.weight") format(q8_0)
       : tensor<4x64xf32> -> tensor<4x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Llm_TensorName:$weight,
                       Llm_WeightFormatAttr:$format);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = [{
    $x `weight` `(` $weight `)` `format` `(` custom<Word>($format) `)` attr-dict
    `:` type($x) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif
