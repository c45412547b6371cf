// Every op prints what it parses, in custom and in generic form.
// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt %s -mlir-print-op-generic | orrery-opt | FileCheck %s

// CHECK-LABEL: func.func @embed
func.func @embed(%ids: tensor<4xi32>) -> tensor<4x64xf32> {
  // CHECK: llm.embed %{{.*}} table("token_embd.weight") format(q8_0) vocab(512) : tensor<4xi32> -> tensor<4x64xf32>
  %x = llm.embed %ids table("token_embd.weight") format(q8_0) vocab(512)
     : tensor<4xi32> -> tensor<4x64xf32>
  return %x : tensor<4x64xf32>
}

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // CHECK: llm.rms_norm %{{.*}} weight("blk.0.attn_norm.weight") eps(9.99999974E-6) : tensor<4x64xf32>
  %y = llm.rms_norm %x weight("blk.0.attn_norm.weight") eps(1.0e-05)
     : tensor<4x64xf32>
  return %y : tensor<4x64xf32>
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x7xf32>) {
  // CHECK: llm.linear %{{.*}} weight("blk.0.attn_q.weight") format(q8_0) : tensor<4x64xf32> -> tensor<4x64xf32>
  %a = llm.linear %x weight("blk.0.attn_q.weight") format(q8_0)
     : tensor<4x64xf32> -> tensor<4x64xf32>
  // CHECK: format(q4_0)
  %b = llm.linear %x weight("blk.0.attn_k.weight") format(q4_0)
     : tensor<4x64xf32> -> tensor<4x32xf32>
  // CHECK: format(f16)
  %c = llm.linear %x weight("w") format(f16)
     : tensor<4x64xf32> -> tensor<4x7xf32>
  return %a, %b, %c : tensor<4x64xf32>, tensor<4x32xf32>, tensor<4x7xf32>
}

// CHECK-LABEL: func.func @rope
func.func @rope(%q: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  // CHECK: llm.rope %{{.*}} heads(8) head_dim(8) rope_dim(8) theta(1.000000e+04) pairing(adjacent) : tensor<4x64xf32>
  %a = llm.rope %q heads(8) head_dim(8) rope_dim(8) theta(1.0e+04)
       pairing(adjacent) : tensor<4x64xf32>
  // CHECK: rope_dim(4) theta(5.000000e+05) pairing(half)
  %b = llm.rope %q heads(8) head_dim(8) rope_dim(4) theta(5.0e+05)
       pairing(half) : tensor<4x64xf32>
  return %a, %b : tensor<4x64xf32>, tensor<4x64xf32>
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<4x64xf32>, %k: tensor<4x32xf32>, %v: tensor<4x32xf32>)
    -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  // CHECK: llm.attention %{{.*}}, %{{.*}}, %{{.*}} layer(0) heads(8) kv_heads(4) head_dim(8) kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
  %a = llm.attention %q, %k, %v layer(0) heads(8) kv_heads(4) head_dim(8)
       kv_format(q8) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
  // CHECK: layer(1) {{.*}} kv_format(f16)
  %b = llm.attention %q, %k, %v layer(1) heads(8) kv_heads(4) head_dim(8)
       kv_format(f16) context(512) : tensor<4x64xf32>, tensor<4x32xf32>
  return %a, %b : tensor<4x64xf32>, tensor<4x64xf32>
}

// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%x: tensor<4x64xf32>, %y: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // CHECK: llm.gated %{{.*}}, %{{.*}} : tensor<4x64xf32>
  %g = llm.gated %x, %y : tensor<4x64xf32>
  // CHECK: llm.add %{{.*}}, %{{.*}} : tensor<4x64xf32>
  %s = llm.add %x, %g : tensor<4x64xf32>
  return %s : tensor<4x64xf32>
}

// CHECK-LABEL: func.func @argmax
func.func @argmax(%logits: tensor<4x512xf32>) -> tensor<4xi32> {
  // CHECK: llm.argmax %{{.*}} : tensor<4x512xf32> -> tensor<4xi32>
  %next = llm.argmax %logits : tensor<4x512xf32> -> tensor<4xi32>
  return %next : tensor<4xi32>
}
