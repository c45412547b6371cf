// A whole step in canonical form: q/k/v and gate/up take one norm each, and
// nothing is left to simplify.
// RUN: orrery-opt %s -canonicalize -cse | FileCheck %s
// RUN: orrery-opt %s -canonicalize -cse -mlir-print-op-generic | orrery-opt | FileCheck %s

// CHECK: func.func @step(%[[IDS:.*]]: tensor<2xi32>) -> (tensor<2x512xf32>, tensor<2xi32>)
// CHECK-SAME: llm.bucket = 128 : i64
// CHECK-SAME: llm.context = 512 : i64
// CHECK-SAME: llm.model = "one layer"
// CHECK-SAME: llm.tokens = 2 : i64
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x512xf32>, tensor<2xi32>)
    attributes {llm.tokens = 2 : i64, llm.bucket = 128 : i64,
                llm.context = 512 : i64, llm.model = "one layer"} {
  // CHECK-NEXT: %[[X:.*]] = llm.embed %[[IDS]]
  %x = llm.embed %ids table("token_embd.weight") format(q8_0) vocab(512)
     : tensor<2xi32> -> tensor<2x64xf32>
  // CHECK-NEXT: %[[N:.*]] = llm.rms_norm %[[X]]
  %n = llm.rms_norm %x weight("blk.0.attn_norm.weight") eps(1.0e-05)
     : tensor<2x64xf32>
  // CHECK-NEXT: %[[Q:.*]] = llm.linear %[[N]] weight("blk.0.attn_q.weight")
  %q = llm.linear %n weight("blk.0.attn_q.weight") format(q8_0)
     : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %[[K:.*]] = llm.linear %[[N]] weight("blk.0.attn_k.weight")
  %k = llm.linear %n weight("blk.0.attn_k.weight") format(q8_0)
     : tensor<2x64xf32> -> tensor<2x32xf32>
  // CHECK-NEXT: %[[V:.*]] = llm.linear %[[N]] weight("blk.0.attn_v.weight")
  %v = llm.linear %n weight("blk.0.attn_v.weight") format(q8_0)
     : tensor<2x64xf32> -> tensor<2x32xf32>
  // CHECK-NEXT: %[[QR:.*]] = llm.rope %[[Q]]
  %qr = llm.rope %q heads(8) head_dim(8) rope_dim(8) theta(1.0e+04)
        pairing(adjacent) : tensor<2x64xf32>
  // CHECK-NEXT: %[[KR:.*]] = llm.rope %[[K]]
  %kr = llm.rope %k heads(4) head_dim(8) rope_dim(8) theta(1.0e+04)
        pairing(adjacent) : tensor<2x32xf32>
  // CHECK-NEXT: %[[A:.*]] = llm.attention %[[QR]], %[[KR]], %[[V]]
  %a = llm.attention %qr, %kr, %v layer(0) heads(8) kv_heads(4) head_dim(8)
       kv_format(q8) context(512) : tensor<2x64xf32>, tensor<2x32xf32>
  // CHECK-NEXT: %[[O:.*]] = llm.linear %[[A]]
  %o = llm.linear %a weight("blk.0.attn_output.weight") format(q8_0)
     : tensor<2x64xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %[[Y:.*]] = llm.add %[[X]], %[[O]]
  %y = llm.add %x, %o : tensor<2x64xf32>
  // CHECK-NEXT: %[[M:.*]] = llm.rms_norm %[[Y]]
  %m = llm.rms_norm %y weight("blk.0.ffn_norm.weight") eps(1.0e-05)
     : tensor<2x64xf32>
  // CHECK-NEXT: %[[G:.*]] = llm.linear %[[M]] weight("blk.0.ffn_gate.weight")
  %g = llm.linear %m weight("blk.0.ffn_gate.weight") format(q8_0)
     : tensor<2x64xf32> -> tensor<2x172xf32>
  // CHECK-NEXT: %[[U:.*]] = llm.linear %[[M]] weight("blk.0.ffn_up.weight")
  %u = llm.linear %m weight("blk.0.ffn_up.weight") format(q8_0)
     : tensor<2x64xf32> -> tensor<2x172xf32>
  // CHECK-NEXT: %[[H:.*]] = llm.gated %[[G]], %[[U]]
  %h = llm.gated %g, %u : tensor<2x172xf32>
  // CHECK-NEXT: %[[D:.*]] = llm.linear %[[H]]
  %d = llm.linear %h weight("blk.0.ffn_down.weight") format(q8_0)
     : tensor<2x172xf32> -> tensor<2x64xf32>
  // CHECK-NEXT: %[[Z:.*]] = llm.add %[[Y]], %[[D]]
  %z = llm.add %y, %d : tensor<2x64xf32>
  // CHECK-NEXT: llm.rms_norm %[[Z]]
  %f = llm.rms_norm %z weight("output_norm.weight") eps(1.0e-05)
     : tensor<2x64xf32>
  // CHECK-NEXT: %[[L:.*]] = llm.linear
  %logits = llm.linear %f weight("token_embd.weight") format(q8_0)
     : tensor<2x64xf32> -> tensor<2x512xf32>
  // CHECK-NEXT: %[[T:.*]] = llm.argmax %[[L]]
  %next = llm.argmax %logits : tensor<2x512xf32> -> tensor<2xi32>
  // CHECK-NEXT: return %[[L]], %[[T]]
  return %logits, %next : tensor<2x512xf32>, tensor<2xi32>
}
