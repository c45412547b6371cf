// A decoder step is cut into stages of ranks: what each rank does, what it
// gathers, what it passes on.
// RUN: orrery-opt %s "--grid-place-stages=machine=lpu-small-node tp=2 pp=2 products=column" | FileCheck %s
// RUN: orrery-opt %s "--grid-place-stages=machine=lpu-small-node tp=4 products=column" | FileCheck %s --check-prefix=WIDE
// RUN: orrery-opt %s "--grid-place-stages=machine=lpu-small-ring tp=4 products=column" | FileCheck %s --check-prefix=RING
// RUN: orrery-opt %s "--grid-place-stages=machine=lpu-small-ring pp=2 tp=1" | FileCheck %s --check-prefix=DEEP
// RUN: orrery-opt %s "--grid-place-stages=machine=lpu-v1-rack tp=2 pp=7" | FileCheck %s --check-prefix=CUT
// RUN: orrery-opt %s "--grid-place-stages=machine=lpu-small-node tp=1 pp=7" | FileCheck %s --check-prefix=THIN

// Two stages of two ranks. 128 query elements, 64 of K and V, 96 hidden, 100 of
// the FFN and 70 tokens are shared in whole blocks of 32; the residual is whole
// inside a stage and a shard between stages. Weights of a chip: 64 + 32 + 32
// rows of 3 blocks, 64 of 4, 64 + 64 of 3, 64 of 4, of 34 B; the head 64 of 3.
//
// CHECK-LABEL: func.func @step
// CHECK-SAME: -> (tensor<1x64xf32> {grid.shard = #grid.shard<64 of 70>}, tensor<1xi32>)
// CHECK-SAME: grid.machine = "lpu-small-node"
// CHECK-NEXT: %[[S:.*]] = grid.stage chips [0, 1] weights 43520 B kv 4352 B of 29360128 B -> tensor<1x64xf32> {
// CHECK-NEXT:   %[[E:.*]] = llm.embed {{.*}} -> tensor<1x96xf32>
// CHECK-NEXT:   %[[N:.*]] = llm.rms_norm %[[E]]
// CHECK-NEXT:   %[[Q:.*]] = llm.linear %[[N]] weight("blk.0.attn_q.weight") format(q8_0) {grid.shard = #grid.shard<64 of 128>} : tensor<1x96xf32> -> tensor<1x64xf32>
// CHECK-NEXT:   %[[K:.*]] = llm.linear %[[N]] {{.*}} {grid.shard = #grid.shard<32 of 64>}
// CHECK-NEXT:   %[[V:.*]] = llm.linear %[[N]] {{.*}} {grid.shard = #grid.shard<32 of 64>}
// CHECK-NEXT:   %[[RQ:.*]] = llm.rope %[[Q]] heads(2)
// CHECK-NEXT:   %[[RK:.*]] = llm.rope %[[K]] heads(1)
// CHECK-NEXT:   %[[A:.*]] = llm.attention %[[RQ]], %[[RK]], %[[V]] layer(0) heads(2) kv_heads(1) head_dim(32)
// CHECK-NEXT:   %[[AG:.*]] = grid.all_gather %[[A]] : tensor<1x64xf32> -> tensor<1x128xf32>
// CHECK-NEXT:   %[[O:.*]] = llm.linear %[[AG]] {{.*}} {grid.shard = #grid.shard<64 of 96>}
// CHECK-NEXT:   %[[OG:.*]] = grid.all_gather %[[O]] : tensor<1x64xf32> -> tensor<1x96xf32>
// CHECK-NEXT:   %[[R:.*]] = llm.add %[[E]], %[[OG]] : tensor<1x96xf32>
// CHECK-NEXT:   %[[M:.*]] = llm.rms_norm %[[R]]
// CHECK-NEXT:   %[[G:.*]] = llm.linear %[[M]] {{.*}} {grid.shard = #grid.shard<64 of 100>}
// CHECK-NEXT:   %[[U:.*]] = llm.linear %[[M]] {{.*}} {grid.shard = #grid.shard<64 of 100>}
// CHECK-NEXT:   %[[H:.*]] = llm.gated %[[G]], %[[U]] : tensor<1x64xf32>
// CHECK-NEXT:   %[[HG:.*]] = grid.all_gather %[[H]] : tensor<1x64xf32> -> tensor<1x100xf32>
// CHECK-NEXT:   %[[D:.*]] = llm.linear %[[HG]] {{.*}} {grid.shard = #grid.shard<64 of 96>}
// CHECK-NEXT:   %[[RO:.*]] = grid.own %[[R]] : tensor<1x96xf32> -> tensor<1x64xf32>
// CHECK-NEXT:   %[[X:.*]] = llm.add %[[RO]], %[[D]] : tensor<1x64xf32>
// CHECK-NEXT:   grid.yield %[[X]] : tensor<1x64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: %[[L:.*]]:2 = grid.stage chips [2, 3] from layer 1 weights 50048 B kv 4352 B of 29360128 B
// CHECK-NEXT:   %[[E1:.*]] = grid.all_gather %[[S]] : tensor<1x64xf32> -> tensor<1x96xf32>
// CHECK-NEXT:   llm.rms_norm %[[E1]] weight("blk.1.attn_norm.weight")
// CHECK:        %[[D1:.*]] = llm.linear {{.*}} weight("blk.1.ffn_down.weight")
// CHECK-NEXT:   %[[DG:.*]] = grid.all_gather %[[D1]]
// CHECK-NEXT:   %[[X1:.*]] = llm.add {{.*}}, %[[DG]] : tensor<1x96xf32>
// CHECK-NEXT:   %[[Y:.*]] = llm.rms_norm %[[X1]] weight("output_norm.weight")
// CHECK-NEXT:   %[[LO:.*]] = llm.linear %[[Y]] {{.*}} {grid.shard = #grid.shard<64 of 70>}
// CHECK-NEXT:   %[[T:.*]] = grid.argmax %[[LO]] vocab(70) : tensor<1x64xf32> -> tensor<1xi32>
// CHECK-NEXT:   grid.yield %[[LO]], %[[T]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[L]]#0, %[[L]]#1 : tensor<1x64xf32>, tensor<1xi32>

// Four ranks and two KV heads: two ranks hold each.
// WIDE: grid.stage chips [0, 1, 2, 3] weights
// WIDE: weight("blk.0.attn_q.weight") format(q8_0) {grid.shard = #grid.shard<32 of 128>}
// WIDE: weight("blk.0.attn_k.weight") format(q8_0) {grid.shard = #grid.shard<32 of 64 replicas 2>}
// WIDE: weight("blk.0.attn_v.weight") format(q8_0) {grid.shard = #grid.shard<32 of 64 replicas 2>}
// WIDE: llm.attention {{.*}} heads(1) kv_heads(1)

// RING: grid.stage chips [0, 1, 2, 3] ring weights

// Stages of one chip pass on the whole residual; nothing is gathered.
// DEEP: %[[S:.*]] = grid.stage chips [0] {{.*}} -> tensor<1x96xf32>
// DEEP-NOT: grid.all_gather
// DEEP: grid.stage chips [1] from layer 1
// DEEP-NEXT: llm.rms_norm %[[S]] weight("blk.1.attn_norm.weight")
// DEEP: return {{.*}} : tensor<1x70xf32>, tensor<1xi32>

// As many stages as there are: attention, gate and up, down, and the head alone.
// Between gate and down the residual stream goes along with the gated product;
// what is only passed through stays as it came.
// CUT: %[[A:.*]] = grid.stage chips [0, 1] weights {{.*}} -> tensor<1x64xf32> {
// CUT: %[[GU:.*]]:2 = grid.stage chips [2, 3] weights 13056 B kv 0 B of {{.*}} -> tensor<1x64xf32>, tensor<1x64xf32> {
// CUT-NEXT:   %[[X:.*]] = grid.all_gather %[[A]] : tensor<1x64xf32> -> tensor<1x96xf32>
// CUT-NEXT:   llm.rms_norm %[[X]]
// CUT-NEXT:   %[[G:.*]] = llm.linear {{.*}} weight("blk.0.ffn_gate.weight")
// CUT-NEXT:   %[[U:.*]] = llm.linear {{.*}} weight("blk.0.ffn_up.weight")
// CUT-NEXT:   %[[H:.*]] = llm.gated %[[G]], %[[U]] : tensor<1x64xf32>
// CUT-NEXT:   grid.yield %[[A]], %[[H]]
// CUT-NEXT: }
// CUT-NEXT: grid.stage chips [4, 5] weights 8704 B kv 0 B of {{.*}} -> tensor<1x64xf32> {
// CUT-NEXT:   %[[HG:.*]] = grid.all_gather %[[GU]]#1 : tensor<1x64xf32> -> tensor<1x100xf32>
// CUT-NEXT:   %[[D:.*]] = llm.linear %[[HG]] weight("blk.0.ffn_down.weight")
// CUT-NEXT:   %[[R:.*]] = llm.add %[[GU]]#0, %[[D]] : tensor<1x64xf32>
// CUT-NEXT:   grid.yield %[[R]]
// CUT-NEXT: }
// CUT-NEXT: grid.stage chips [6, 7] from layer 1
// CUT:      grid.stage chips {{.*}} from layer 1 weights 13056 B
// CUT:      grid.stage chips {{.*}} from layer 1 weights 8704 B
// CUT:      grid.stage chips {{.*}} from layer 2 weights 6528 B kv 0 B of {{.*}} -> tensor<1x64xf32>, tensor<1xi32> {
// CUT-NEXT:   grid.all_gather
// CUT-NEXT:   llm.rms_norm {{.*}} weight("output_norm.weight")
// CUT-NEXT:   llm.linear {{.*}} weight("output.weight")
// CUT-NEXT:   grid.argmax
// CUT-NEXT:   grid.yield

// One chip a stage: both go whole.
// THIN: %[[A:.*]] = grid.stage chips [0] weights 39168 B
// THIN: grid.stage chips [1] weights 20400 B kv 0 B of {{.*}} -> tensor<1x96xf32>, tensor<1x100xf32> {
// THIN: %[[H:.*]] = llm.gated
// THIN-NEXT: grid.yield %[[A]], %[[H]]
// THIN: grid.stage chips [6] from layer 2 weights 7140 B
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x70xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %e = llm.embed %ids table("token_embd.weight") format(q8_0) vocab(70) : tensor<1xi32> -> tensor<1x96xf32>
  %n0 = llm.rms_norm %e weight("blk.0.attn_norm.weight") eps(1.0e-05) : tensor<1x96xf32>
  %q0 = llm.linear %n0 weight("blk.0.attn_q.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x128xf32>
  %k0 = llm.linear %n0 weight("blk.0.attn_k.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x64xf32>
  %v0 = llm.linear %n0 weight("blk.0.attn_v.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x64xf32>
  %rq0 = llm.rope %q0 heads(4) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(half) : tensor<1x128xf32>
  %rk0 = llm.rope %k0 heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(half) : tensor<1x64xf32>
  %a0 = llm.attention %rq0, %rk0, %v0 layer(0) heads(4) kv_heads(2) head_dim(32) kv_format(q8) context(64) : tensor<1x128xf32>, tensor<1x64xf32>
  %o0 = llm.linear %a0 weight("blk.0.attn_output.weight") format(q8_0) : tensor<1x128xf32> -> tensor<1x96xf32>
  %s0 = llm.add %e, %o0 : tensor<1x96xf32>
  %m0 = llm.rms_norm %s0 weight("blk.0.ffn_norm.weight") eps(1.0e-05) : tensor<1x96xf32>
  %g0 = llm.linear %m0 weight("blk.0.ffn_gate.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x100xf32>
  %u0 = llm.linear %m0 weight("blk.0.ffn_up.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x100xf32>
  %h0 = llm.gated %g0, %u0 : tensor<1x100xf32>
  %d0 = llm.linear %h0 weight("blk.0.ffn_down.weight") format(q8_0) : tensor<1x100xf32> -> tensor<1x96xf32>
  %x0 = llm.add %s0, %d0 : tensor<1x96xf32>
  %n1 = llm.rms_norm %x0 weight("blk.1.attn_norm.weight") eps(1.0e-05) : tensor<1x96xf32>
  %q1 = llm.linear %n1 weight("blk.1.attn_q.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x128xf32>
  %k1 = llm.linear %n1 weight("blk.1.attn_k.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x64xf32>
  %v1 = llm.linear %n1 weight("blk.1.attn_v.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x64xf32>
  %rq1 = llm.rope %q1 heads(4) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(half) : tensor<1x128xf32>
  %rk1 = llm.rope %k1 heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(half) : tensor<1x64xf32>
  %a1 = llm.attention %rq1, %rk1, %v1 layer(1) heads(4) kv_heads(2) head_dim(32) kv_format(q8) context(64) : tensor<1x128xf32>, tensor<1x64xf32>
  %o1 = llm.linear %a1 weight("blk.1.attn_output.weight") format(q8_0) : tensor<1x128xf32> -> tensor<1x96xf32>
  %s1 = llm.add %x0, %o1 : tensor<1x96xf32>
  %m1 = llm.rms_norm %s1 weight("blk.1.ffn_norm.weight") eps(1.0e-05) : tensor<1x96xf32>
  %g1 = llm.linear %m1 weight("blk.1.ffn_gate.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x100xf32>
  %u1 = llm.linear %m1 weight("blk.1.ffn_up.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x100xf32>
  %h1 = llm.gated %g1, %u1 : tensor<1x100xf32>
  %d1 = llm.linear %h1 weight("blk.1.ffn_down.weight") format(q8_0) : tensor<1x100xf32> -> tensor<1x96xf32>
  %x1 = llm.add %s1, %d1 : tensor<1x96xf32>
  %y = llm.rms_norm %x1 weight("output_norm.weight") eps(1.0e-05) : tensor<1x96xf32>
  %l = llm.linear %y weight("output.weight") format(q8_0) : tensor<1x96xf32> -> tensor<1x70xf32>
  %t = llm.argmax %l : tensor<1x70xf32> -> tensor<1xi32>
  return %l, %t : tensor<1x70xf32>, tensor<1xi32>
}
