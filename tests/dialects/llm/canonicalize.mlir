// What canonicalisation and CSE do to llm ops, and what they must leave.
// RUN: orrery-opt %s -canonicalize -cse | FileCheck %s

// CHECK-LABEL: func.func @rope_of_nothing_folds
// CHECK-SAME: (%[[X:.*]]: tensor<1x64xf32>)
func.func @rope_of_nothing_folds(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: return %[[X]]
  %y = llm.rope %x heads(8) head_dim(8) rope_dim(0) theta(1.0e+04)
       pairing(half) : tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @rope_of_something_stays
func.func @rope_of_something_stays(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: llm.rope
  %y = llm.rope %x heads(8) head_dim(8) rope_dim(2) theta(1.0e+04)
       pairing(half) : tensor<1x64xf32>
  return %y : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @equal_ops_merge
func.func @equal_ops_merge(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
  // CHECK-NEXT: %[[N:.*]] = llm.rms_norm
  %n = llm.rms_norm %x weight("n") eps(1.0e-05) : tensor<1x64xf32>
  %m = llm.rms_norm %x weight("n") eps(1.0e-05) : tensor<1x64xf32>
  // CHECK-NEXT: %[[A:.*]] = llm.linear %[[N]]
  %a = llm.linear %n weight("w") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %b = llm.linear %m weight("w") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  // CHECK-NEXT: llm.gated %[[A]], %[[A]]
  %c = llm.gated %a, %b : tensor<1x64xf32>
  return %c : tensor<1x64xf32>
}

// CHECK-LABEL: func.func @other_weights_and_formats_stay_apart
func.func @other_weights_and_formats_stay_apart(%x: tensor<1x64xf32>)
    -> (tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  // CHECK-COUNT-3: llm.linear
  %a = llm.linear %x weight("w") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %b = llm.linear %x weight("w") format(q4_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %c = llm.linear %x weight("u") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  return %a, %b, %c : tensor<1x64xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// CHECK-LABEL: func.func @dead_ops_go
func.func @dead_ops_go(%ids: tensor<1xi32>) {
  // CHECK-NEXT: return
  %x = llm.embed %ids table("t") format(q8_0) vocab(8) : tensor<1xi32> -> tensor<1x64xf32>
  %n = llm.rms_norm %x weight("n") eps(0.0) : tensor<1x64xf32>
  %l = llm.linear %n weight("w") format(f16) : tensor<1x64xf32> -> tensor<1x64xf32>
  %s = llm.add %x, %l : tensor<1x64xf32>
  %g = llm.gated %s, %l : tensor<1x64xf32>
  %i = llm.argmax %g : tensor<1x64xf32> -> tensor<1xi32>
  return
}

// Later steps read what an attention appends, so it is never dead, and two of
// different layers never merge.
// CHECK-LABEL: func.func @attention_stays
func.func @attention_stays(%q: tensor<1x64xf32>, %k: tensor<1x64xf32>) {
  // CHECK-COUNT-2: llm.attention
  %a = llm.attention %q, %k, %k layer(0) heads(8) kv_heads(8) head_dim(8)
       kv_format(q8) context(16) : tensor<1x64xf32>, tensor<1x64xf32>
  %b = llm.attention %q, %k, %k layer(1) heads(8) kv_heads(8) head_dim(8)
       kv_format(q8) context(16) : tensor<1x64xf32>, tensor<1x64xf32>
  return
}
