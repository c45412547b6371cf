// One function for each constraint of the ops, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @embed_c1(%ids: tensor<4xi64>) {
  // expected-error @+1 {{operand #0 must be i32 ids [T] of static shape}}
  %x = llm.embed %ids table("t") format(q8_0) vocab(8) : tensor<4xi64> -> tensor<4x64xf32>
  return
}

// -----

func.func @embed_c1_result(%ids: tensor<4xi32>) {
  // expected-error @+1 {{result #0 must be f32 rows [T, n] of static shape}}
  %x = llm.embed %ids table("t") format(q8_0) vocab(8) : tensor<4xi32> -> tensor<4x?xf32>
  return
}

// -----

func.func @embed_c2(%ids: tensor<4xi32>) {
  // expected-error @+1 {{has 4 ids but 3 rows}}
  %x = llm.embed %ids table("t") format(q8_0) vocab(8) : tensor<4xi32> -> tensor<3x64xf32>
  return
}

// -----

func.func @embed_c3(%ids: tensor<4xi32>) {
  // expected-error @+1 {{attribute 'vocab' failed to satisfy constraint}}
  %x = llm.embed %ids table("t") format(q8_0) vocab(0) : tensor<4xi32> -> tensor<4x64xf32>
  return
}

// -----

func.func @embed_c4(%ids: tensor<4xi32>) {
  // expected-error @+1 {{attribute 'table' failed to satisfy constraint}}
  %x = llm.embed %ids table("") format(q8_0) vocab(8) : tensor<4xi32> -> tensor<4x64xf32>
  return
}

// -----

func.func @argmax_c1(%logits: tensor<4x8xf16>) {
  // expected-error @+1 {{operand #0 must be f32 rows [T, n] of static shape}}
  %i = llm.argmax %logits : tensor<4x8xf16> -> tensor<4xi32>
  return
}

// -----

func.func @argmax_c2(%logits: tensor<4x8xf32>) {
  // expected-error @+1 {{has 4 rows but 3 ids}}
  %i = llm.argmax %logits : tensor<4x8xf32> -> tensor<3xi32>
  return
}

// -----

func.func @rms_norm_c1(%x: tensor<64xf32>) {
  // expected-error @+1 {{operand #0 must be f32 rows [T, n] of static shape}}
  %y = llm.rms_norm %x weight("n") eps(1.0e-05) : tensor<64xf32>
  return
}

// -----

func.func @rms_norm_c2(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %y = "llm.rms_norm"(%x) {weight = "n", eps = 1.0e-05 : f32} : (tensor<4x64xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @rms_norm_c3(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{attribute 'weight' failed to satisfy constraint}}
  %y = llm.rms_norm %x weight("") eps(1.0e-05) : tensor<4x64xf32>
  return
}

// -----

func.func @rms_norm_c4(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{needs a finite eps of at least 0}}
  %y = llm.rms_norm %x weight("n") eps(-1.0e-05) : tensor<4x64xf32>
  return
}

// -----

func.func @rms_norm_c4_infinite(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{needs a finite eps of at least 0}}
  %y = llm.rms_norm %x weight("n") eps(0x7F800000) : tensor<4x64xf32>
  return
}

// -----

func.func @add_c1(%x: tensor<?x64xf32>) {
  // expected-error @+1 {{operand #0 must be f32 rows [T, n] of static shape}}
  %y = llm.add %x, %x : tensor<?x64xf32>
  return
}

// -----

func.func @add_c2(%x: tensor<4x64xf32>, %y: tensor<4x32xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %z = "llm.add"(%x, %y) : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @gated_c1(%x: tensor<0x64xf32>) {
  // expected-error @+1 {{operand #0 must be f32 rows [T, n] of static shape}}
  %y = llm.gated %x, %x : tensor<0x64xf32>
  return
}

// -----

func.func @gated_c2(%x: tensor<4x64xf32>, %y: tensor<4x32xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %z = "llm.gated"(%x, %y) : (tensor<4x64xf32>, tensor<4x32xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @linear_c1(%x: tensor<4x64xi8>) {
  // expected-error @+1 {{operand #0 must be f32 rows [T, n] of static shape}}
  %y = llm.linear %x weight("w") format(q8_0) : tensor<4x64xi8> -> tensor<4x32xf32>
  return
}

// -----

func.func @linear_c2(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{takes 4 rows but gives 2}}
  %y = llm.linear %x weight("w") format(q8_0) : tensor<4x64xf32> -> tensor<2x32xf32>
  return
}

// -----

func.func @linear_c3(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{attribute 'weight' failed to satisfy constraint}}
  %y = llm.linear %x weight("") format(q8_0) : tensor<4x64xf32> -> tensor<4x32xf32>
  return
}

// -----

func.func @rope_c1(%x: tensor<64xf32>) {
  // expected-error @+1 {{operand #0 must be f32 rows [T, n] of static shape}}
  %y = llm.rope %x heads(8) head_dim(8) rope_dim(8) theta(1.0e+04) pairing(half) : tensor<64xf32>
  return
}

// -----

func.func @rope_c2(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %y = "llm.rope"(%x) {heads = 8 : i64, head_dim = 8 : i64, rope_dim = 8 : i64, theta = 1.0e+04 : f64, pairing = #llm<rope_pairing half>} : (tensor<4x64xf32>) -> tensor<2x64xf32>
  return
}

// -----

func.func @rope_c3(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{has rows of width 64, expected 4 heads of 8}}
  %y = llm.rope %x heads(4) head_dim(8) rope_dim(8) theta(1.0e+04) pairing(half) : tensor<4x64xf32>
  return
}

// -----

func.func @rope_c3_positive(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{attribute 'head_dim' failed to satisfy constraint}}
  %y = llm.rope %x heads(4) head_dim(0) rope_dim(0) theta(1.0e+04) pairing(half) : tensor<4x64xf32>
  return
}

// -----

func.func @rope_c4_odd(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{needs an even rope_dim of at most head_dim 8, found 3}}
  %y = llm.rope %x heads(8) head_dim(8) rope_dim(3) theta(1.0e+04) pairing(half) : tensor<4x64xf32>
  return
}

// -----

func.func @rope_c4_wide(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{needs an even rope_dim of at most head_dim 8, found 10}}
  %y = llm.rope %x heads(8) head_dim(8) rope_dim(10) theta(1.0e+04) pairing(half) : tensor<4x64xf32>
  return
}

// -----

func.func @rope_c5(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{needs a finite, positive theta}}
  %y = llm.rope %x heads(8) head_dim(8) rope_dim(8) theta(0.0) pairing(half) : tensor<4x64xf32>
  return
}

// -----

func.func @attention_c1(%q: tensor<4x64xf32>, %k: tensor<4x32xf16>) {
  // expected-error @+1 {{operand #1 must be f32 rows [T, n] of static shape}}
  %a = llm.attention %q, %k, %k layer(0) heads(8) kv_heads(4) head_dim(8) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf16>
  return
}

// -----

func.func @attention_c2(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>, %v: tensor<4x16xf32>) {
  // expected-error @+1 {{failed to verify that all of {k, v} have same type}}
  %a = "llm.attention"(%q, %k, %v) {layer = 0 : i64, heads = 8 : i64, kv_heads = 4 : i64, head_dim = 8 : i64, kv_format = #llm<kv_format q8>, context = 512 : i64} : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x16xf32>) -> tensor<4x64xf32>
  return
}

// -----

func.func @attention_c2_result(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>) {
  // expected-error @+1 {{failed to verify that all of {q, result} have same type}}
  %a = "llm.attention"(%q, %k, %k) {layer = 0 : i64, heads = 8 : i64, kv_heads = 4 : i64, head_dim = 8 : i64, kv_format = #llm<kv_format q8>, context = 512 : i64} : (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  return
}

// -----

func.func @attention_c3(%q: tensor<4x64xf32>, %k: tensor<2x32xf32>) {
  // expected-error @+1 {{has 4 rows of q but 2 of k and v}}
  %a = llm.attention %q, %k, %k layer(0) heads(8) kv_heads(4) head_dim(8) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<2x32xf32>
  return
}

// -----

func.func @attention_c4(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>) {
  // expected-error @+1 {{has q of width 64, expected 16 heads of 8}}
  %a = llm.attention %q, %k, %k layer(0) heads(16) kv_heads(4) head_dim(8) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
  return
}

// -----

// Heads times head_dim is 64 modulo 2^64.
func.func @attention_c4_overflow(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>) {
  // expected-error @+1 {{has q of width 64, expected 4611686018427387905 heads of 64}}
  %a = llm.attention %q, %k, %k layer(0) heads(4611686018427387905) kv_heads(4) head_dim(64) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
  return
}

// -----

func.func @attention_c5(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>) {
  // expected-error @+1 {{has k and v of width 32, expected 2 heads of 8}}
  %a = llm.attention %q, %k, %k layer(0) heads(8) kv_heads(2) head_dim(8) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
  return
}

// -----

func.func @attention_c6(%q: tensor<4x64xf32>, %k: tensor<4x24xf32>) {
  // expected-error @+1 {{needs kv_heads that divide heads, found 3 and 8}}
  %a = llm.attention %q, %k, %k layer(0) heads(8) kv_heads(3) head_dim(8) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x24xf32>
  return
}

// -----

func.func @attention_c7(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>) {
  // expected-error @+1 {{attribute 'layer' failed to satisfy constraint}}
  %a = llm.attention %q, %k, %k layer(-1) heads(8) kv_heads(4) head_dim(8) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
  return
}

// -----

func.func @attention_c8(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>) {
  // expected-error @+1 {{has room for 3 positions but takes 4 tokens}}
  %a = llm.attention %q, %k, %k layer(0) heads(8) kv_heads(4) head_dim(8) kv_format(q8) context(3) : tensor<4x64xf32>, tensor<4x32xf32>
  return
}

// -----

func.func @unknown_format(%x: tensor<4x64xf32>) {
  // expected-error @+1 {{invalid weight format specification: q9_0}}
  %y = llm.linear %x weight("w") format(q9_0) : tensor<4x64xf32> -> tensor<4x32xf32>
  return
}
