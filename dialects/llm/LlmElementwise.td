// Ops on a row's elements: norm, residual sum, gated activation.
#ifndef ORRERY_DIALECTS_LLM_LLMELEMENTWISE_TD
#define ORRERY_DIALECTS_LLM_LLMELEMENTWISE_TD

include "dialects/llm/LlmDialect.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Llm_RmsNormOp : Llm_Op<"rms_norm", [Pure, SameOperandsAndResultType]> {
  let summary = "root-mean-square normalisation of each row";
  let description = [{
    ```
    result[t, i] = (x[t, i] * r[t]) * weight[i]
    r[t] = 1 / sqrt((sum_j x[t, j]^2) / n + eps)
    ```
    with `weight` an f32 vector [n] of the model file.

    Numerics:
      The sum is a WideAccumulator over f32(x * x); mean = f32(sum) / f32(n);
      r = 1.0f / sqrtf(mean + eps); then two f32 multiplies in the order
      written.

    Constraints:
      - (C1) x and the result are f32 rows [T, n].
      - (C2) both have the same type.
      - (C3) `weight` is not empty.
      - (C4) `eps` is finite and not negative.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %y = llm.rms_norm %x weight("blk.0.attn_norm.weight") eps(1.0e-05)
       : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Llm_TensorName:$weight, F32Attr:$eps);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = [{
    $x `weight` `(` $weight `)` `eps` `(` $eps `)` attr-dict `:` type($x)
  }];
  let hasVerifier = 1;
}

def Llm_AddOp : Llm_Op<"add", [Pure, SameOperandsAndResultType]> {
  let summary = "sum of two rows, the residual connection";
  let description = [{
    ```
    result[t, i] = a[t, i] + b[t, i]
    ```

    Numerics:
      One f32 addition.

    Constraints:
      - (C1) all are f32 rows [T, n].
      - (C2) all have the same type.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %y = llm.add %x, %branch : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$a, Llm_Rows:$b);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a)";
}

def Llm_GatedOp : Llm_Op<"gated", [Pure, SameOperandsAndResultType]> {
  let summary = "SiLU-gated product (SwiGLU)";
  let description = [{
    ```
    result[t, i] = silu(gate[t, i]) * up[t, i]
    silu(x) = x / (1 + exp(-x))
    ```

    Numerics:
      numerics::silu (exp of rule 8), then one f32 multiply.

    Constraints:
      - (C1) all are f32 rows [T, n].
      - (C2) all have the same type.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %y = llm.gated %gate, %up : tensor<4x172xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$gate, Llm_Rows:$up);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($gate)";
}

#endif
