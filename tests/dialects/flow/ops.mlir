// Every op prints what it parses, in custom and in generic form.
// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt %s -mlir-print-op-generic | orrery-opt | FileCheck %s

// CHECK-LABEL: func.func @memory
func.func @memory() {
  // CHECK: flow.alloc : !flow.buffer<4 x f32>
  %a = flow.alloc : !flow.buffer<4 x f32>
  // CHECK: flow.alloc held : !flow.buffer<2 x f32>
  %h = flow.alloc held : !flow.buffer<2 x f32>
  // CHECK: flow.alloc side 1 place <slice 46 bank 0 base 8> : !flow.buffer<4 x a8>
  %b = flow.alloc side 1 place <slice 46 bank 0 base 8> : !flow.buffer<4 x a8>
  // CHECK: flow.region weight "blk.0.attn_q.weight" rows <64, heads 8 over 4 of 8> columns <64> first 1 low 16 side 0 : !flow.tiles<1 x 16 rows, q8, width 16>
  %w = flow.region weight "blk.0.attn_q.weight" rows <64, heads 8 over 4 of 8>
       columns <64> first 1 low 16 side 0 : !flow.tiles<1 x 16 rows, q8, width 16>
  // CHECK: flow.region table "blk.0.attn_norm.weight" rows <64> : !flow.buffer<1 x f32>
  %t = flow.region table "blk.0.attn_norm.weight" rows <64> : !flow.buffer<1 x f32>
  // CHECK: flow.region weight "blk.0.attn_k.weight" rows <32> columns <64, shard of 2 in 96> shard_of 64 replicas 2 side 0 : !flow.tiles<1 x 32 rows, q8, width 16>
  %s = flow.region weight "blk.0.attn_k.weight" rows <32> columns <64, shard of 2 in 96>
       shard_of 64 replicas 2 side 0 : !flow.tiles<1 x 32 rows, q8, width 16>
  // CHECK: flow.region weight "blk.0.ffn_down.weight" rows <32> columns <64> shard_of 64 behind 1 of_ranks 2 columns_of 100 side 0 : !flow.tiles<1 x 32 rows, q8, width 16>
  %d = flow.region weight "blk.0.ffn_down.weight" rows <32> columns <64>
       shard_of 64 behind 1 of_ranks 2 columns_of 100 side 0 : !flow.tiles<1 x 32 rows, q8, width 16>
  // CHECK: flow.region kv "kv.0.k.0" side 1 place <slice 30 bank 1 base 0> : !flow.tiles<8 x 64 rows, i8, width 8>
  %k = flow.region kv "kv.0.k.0" side 1 place <slice 30 bank 1 base 0>
     : !flow.tiles<8 x 64 rows, i8, width 8>
  return
}

// CHECK-LABEL: func.func @sums
func.func @sums(%p: !flow.buffer<4 x sum>, %s: !flow.buffer<2 x sum>, %y: !flow.buffer<2 x f32>) {
  // CHECK: flow.vector count 4 group 2 ins (%{{.*}} <[4] by [1]> : !flow.buffer<4 x sum>)
  // CHECK-NEXT: out v0 : sum add_sums
  // CHECK-NEXT: out v0 : f32 add_sums
  flow.vector count 4 group 2 ins(%p <[4] by [1]> : !flow.buffer<4 x sum>)
      outs(0 to %s <[2] by [1]> : !flow.buffer<2 x sum>,
           1 to %y <[2] by [1]> : !flow.buffer<2 x f32>) {
    out v0 : sum add_sums
    out v0 : f32 add_sums
  }
  return
}

// CHECK-LABEL: func.func @vector
func.func @vector(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<8 x f16>,
                  %s: !flow.buffer<2 x f32>, %q: !flow.buffer<4 x a8>,
                  %r: !flow.buffer<4 x a8>, %k: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // CHECK: flow.vector count 4 group 2
  // CHECK-SAME: ins (%{{.*}} <[4] by [1]> : !flow.buffer<4 x f32>, %{{.*}} <[2, 2] by [1, 4], offset 2> : !flow.buffer<8 x f16>)
  // CHECK-SAME: outs (0 to %{{.*}} <[2] by [1]> : !flow.buffer<2 x f32>, 1 to %{{.*}} <[4] by [1], lanes 0 to 32> : !flow.buffer<4 x a8>, 1 to %{{.*}} <[4] by [1]> : !flow.buffer<4 x a8>) {
  // CHECK-NEXT: v2 = mul v0, v1
  // CHECK-NEXT: v3 = immediate 2.000000e+00
  // CHECK-NEXT: v4 = div v2, v3
  // CHECK-NEXT: out v2 : f32 sum_wide
  // CHECK-NEXT: out v4 : a8
  // CHECK-NEXT: }
  flow.vector count 4 group 2
      ins(%x <[4] by [1]> : !flow.buffer<4 x f32>,
          %y <[2, 2] by [1, 4], offset 2> : !flow.buffer<8 x f16>)
      outs(0 to %s <[2] by [1]> : !flow.buffer<2 x f32>,
           1 to %q <[4] by [1], lanes 0 to 32> : !flow.buffer<4 x a8>,
           1 to %r <[4] by [1]> : !flow.buffer<4 x a8>) {
    v2 = mul v0, v1
    v3 = immediate 2.0
    v4 = div v2, v3
    out v2 : f32 sum_wide
    out v4 : a8
  }
  // CHECK: flow.vector count 2 ins ({{.*}}) outs (0 to %{{.*}} <[2] by [0], stripe 1 step 8> : !flow.tiles<8 x 64 rows, i8, width 8>) {
  flow.vector count 2 ins(%x <[2] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %k <[2] by [0], stripe 1 step 8> : !flow.tiles<8 x 64 rows, i8, width 8>) {
    v1 = kv_code v0 width 32
    out v1 : i8
  }
  return
}

// CHECK-LABEL: func.func @matrix
func.func @matrix(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
                  %y: !flow.buffer<4 x f32>) {
  // CHECK: flow.load side 0 rows 2 inner 3 %{{.*}} <[2, 3] by [3, 1]> : !flow.buffer<6 x a8>
  %l = flow.load side 0 rows 2 inner 3 %x <[2, 3] by [3, 1]> : !flow.buffer<6 x a8>
  // CHECK: flow.matmul plane 1 %{{.*}}, %{{.*}} : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64 outs(%{{.*}} <[2, 2] by [2, 1]> : !flow.buffer<4 x f32>)
  flow.matmul plane 1 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16>
      first 0 tiles 2 lanes 0 to 64
      outs(%y <[2, 2] by [2, 1]> : !flow.buffer<4 x f32>)
  return
}

// CHECK-LABEL: func.func @switch
func.func @switch(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>,
                  %z: !flow.buffer<8 x f32>, %v: !flow.buffer<2 x i8>,
                  %c: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // CHECK: flow.permute side 0 map [1, 0, 2 to 31, zero 32] ins(%{{.*}} <[4] by [1]> : !flow.buffer<4 x f32>) outs (%{{.*}} <[4] by [1]> : !flow.buffer<4 x f32>, %{{.*}} <[4] by [2], lanes 0 to 8> : !flow.buffer<8 x f32>)
  flow.permute side 0 map [1, 0, 2 to 31, zero 32]
      ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>,
           %z <[4] by [2], lanes 0 to 8> : !flow.buffer<8 x f32>)
  // CHECK: flow.transpose side 1 tokens 2 rows 64 ins(%{{.*}} <[2] by [1]> : !flow.buffer<2 x i8>) outs(%{{.*}} : !flow.tiles<8 x 64 rows, i8, width 8>)
  flow.transpose side 1 tokens 2 rows 64
      ins(%v <[2] by [1]> : !flow.buffer<2 x i8>)
      outs(%c : !flow.tiles<8 x 64 rows, i8, width 8>)
  return
}

// CHECK-LABEL: func.func @host
func.func @host(%x: !flow.buffer<4 x f32>) {
  // CHECK: flow.receive rows <96> %{{.*}} : !flow.buffer<4 x f32>
  flow.receive rows <96> %x : !flow.buffer<4 x f32>
  // CHECK: flow.receive rope "cos" theta 1.000000e+04 turning 8 half rows <32, heads 4 over 4 of 8> %{{.*}} : !flow.buffer<4 x f32>
  flow.receive rope "cos" theta 1.0e+04 turning 8 half
      rows <32, heads 4 over 4 of 8> %x : !flow.buffer<4 x f32>
  // CHECK: flow.logits %{{.*}} vectors 2 vocab 100 : !flow.buffer<4 x f32>
  flow.logits %x vectors 2 vocab 100 : !flow.buffer<4 x f32>
  // CHECK: flow.send %{{.*}} : !flow.buffer<4 x f32>
  flow.send %x : !flow.buffer<4 x f32>
  return
}

// CHECK-LABEL: func.func @links
func.func @links(%x: !flow.buffer<4 x a8>, %y: !flow.buffer<4 x a8>) {
  // CHECK: flow.link_send links [1, 2] %{{.*}} <[4] by [1]> : !flow.buffer<4 x a8>
  flow.link_send links [1, 2] %x <[4] by [1]> : !flow.buffer<4 x a8>
  // CHECK: flow.link_receive link 2 outs (%{{.*}} <[4] by [1]> : !flow.buffer<4 x a8>)
  flow.link_receive link 2 outs(%y <[4] by [1]> : !flow.buffer<4 x a8>)
  // CHECK: flow.link_receive link 1 from 64 to 32 lanes 32 outs (%{{.*}} <[4] by [1], lanes 32 to 64> : !flow.buffer<4 x a8>)
  flow.link_receive link 1 from 64 to 32 lanes 32
      outs(%y <[4] by [1], lanes 32 to 64> : !flow.buffer<4 x a8>)
  return
}
