// What depends on position: rotary embedding, and attention over the KV cache.
#ifndef ORRERY_DIALECTS_LLM_LLMATTENTION_TD
#define ORRERY_DIALECTS_LLM_LLMATTENTION_TD

include "dialects/llm/LlmFormats.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Llm_RopeOp : Llm_Op<"rope", [Pure, SameOperandsAndResultType]> {
  let summary = "rotary position embedding of each head";
  let description = [{
    With p = position + t, d = rope_dim and pair j < d / 2 of each head made of
    elements (i0, i1) = (2 j, 2 j + 1) when `adjacent`, (j, j + d / 2) when
    `half`:
    ```
    angle = p * theta^(-2 j / d),  c = cos(angle),  s = sin(angle)
    result[t, h, i0] = x[t, h, i0] * c - x[t, h, i1] * s
    result[t, h, i1] = x[t, h, i0] * s + x[t, h, i1] * c
    ```
    Elements d .. head_dim-1 of a head pass unchanged; rope_dim 0 folds away.

    Numerics:
      c and s are computed in double and rounded to f32 (ropeTable); then f32
      multiply, multiply, subtract or add.

    Constraints:
      - (C1) x and the result are f32 rows [T, heads * head_dim].
      - (C2) both have the same type.
      - (C3) `heads` and `head_dim` are at least 1, and their product is the
        rows' width.
      - (C4) `rope_dim` is even, at least 0 and at most `head_dim`.
      - (C5) `theta` is finite and positive.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %r = llm.rope %q heads(8) head_dim(8) rope_dim(8) theta(1.0e+04)
         pairing(adjacent) : tensor<4x64xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$x, Llm_Count:$heads, Llm_Count:$head_dim,
                       Llm_Index:$rope_dim, F64Attr:$theta,
                       Llm_RopePairingAttr:$pairing);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = [{
    $x `heads` `(` $heads `)` `head_dim` `(` $head_dim `)`
    `rope_dim` `(` $rope_dim `)` `theta` `(` $theta `)`
    `pairing` `(` custom<Word>($pairing) `)` attr-dict `:` type($x)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

/// The KV caches of all layers: what keeps attention ops in order and alive.
def Llm_KvCacheResource : Resource<"::orrery::llm::KvCacheResource">;

def Llm_AttentionOp : Llm_Op<"attention", [
    MemoryEffects<[MemRead<Llm_KvCacheResource>,
                   MemWrite<Llm_KvCacheResource>]>,
    AllTypesMatch<["q", "result"]>, AllTypesMatch<["k", "v"]>]> {
  let summary = "append to a layer's KV cache, then causal attention over it";
  let description = [{
    First K[position + t, g] = k[t, g] and V[position + t, g] = v[t, g] for
    every token t and KV head g of `layer`. Then, with
    g = h / (heads / kv_heads) and u over the positions 0 .. position + t that
    token t sees:
    ```
    s[u] = (sum_i q[t, h, i] * K[u, g, i]) * scale,  scale = 1 / sqrt(head_dim)
    p[u] = exp(s[u] - max_u s[u]),                   Z = sum_u p[u]
    result[t, h, i] = (sum_u p[u] * V[u, g, i]) / Z
    ```

    Numerics, all formats:
      scale = 1.0f / sqrtf(f32(head_dim)); exp is expExact; Z is
      readAccumulator(sum_u floatTerm(p[u])); the last step is one f32 division.

    Numerics, `q8`:
      A cached row of head_dim elements has codes and one f16 scale
      (quantizeKvRow): K codes kq[u, i], scale dk[u]; V codes vq[u, i], scale
      dv[u]. q is quantized per head in blocks of 32 from the head's start
      (quantizeA8Block, a short last block padded with zeros): codes qq[i],
      scales dq[b].
      ```
      isum[u, b] = sum_{i in block b} qq[i] * kq[u, i]
      dot[u] = readAccumulator(sum_b blockTerm(isum[u, b], 1, dq[b]))
      s[u] = (dot[u] * f32(dk[u])) * scale
      a[u] = p[u] * f32(dv[u])
      ```
      a is quantized in blocks of 32 positions counted from position 0, with
      zeros for positions the token does not see: codes aq[u], scales da[c].
      ```
      isum[c, i] = sum_{u in block c} aq[u] * vq[u, i]
      result[i] = readAccumulator(sum_c blockTerm(isum[c, i], 1, da[c])) / Z
      ```

    Numerics, `q4`:
      As `q8`, with rows cached by quantizeKvRow4: codes in -7 .. 7. The
      interpreter and GPUs have it, chips do not.

    Numerics, `f16`:
      K, V and q are rounded to f16, p is rounded to f16 for the second product
      only; an infinity from rounding is an error.
      ```
      s[u] = readAccumulator(sum_i halfTerm(q[i], K[u, i])) * scale
      result[i] = readAccumulator(sum_u halfTerm(f16(p[u]), V[u, i])) / Z
      ```

    Constraints:
      - (C1) q and the result are f32 rows [T, heads * head_dim], k and v
        f32 rows [T, kv_heads * head_dim].
      - (C2) q and result have the same type, and so have k and v.
      - (C3) q and k have the same T.
      - (C4) `heads` and `head_dim` are at least 1, and their product is q's
        width.
      - (C5) `kv_heads` is at least 1, and times `head_dim` it is k's width.
      - (C6) `kv_heads` divides `heads`.
      - (C7) `layer` is at least 0.
      - (C8) `context` is at least T.

    Example: tests/dialects/llm/ops.mlir
    ```mlir
    %a = llm.attention %q, %k, %v layer(0) heads(8) kv_heads(4) head_dim(8)
         kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
    ```
  }];
  let arguments = (ins Llm_Rows:$q, Llm_Rows:$k, Llm_Rows:$v, Llm_Index:$layer,
                       Llm_Count:$heads, Llm_Count:$kv_heads,
                       Llm_Count:$head_dim, Llm_KvFormatAttr:$kv_format,
                       Llm_Count:$context);
  let results = (outs Llm_Rows:$result);
  let assemblyFormat = [{
    $q `,` $k `,` $v `layer` `(` $layer `)` `heads` `(` $heads `)`
    `kv_heads` `(` $kv_heads `)` `head_dim` `(` $head_dim `)`
    `kv_format` `(` custom<Word>($kv_format) `)` `context` `(` $context `)`
    attr-dict `:` type($q) `,` type($k)
  }];
  let hasVerifier = 1;
}

#endif
