// Attention: K and V become tiles that install without a copy.
// RUN: orrery-opt %s --grid-place-stages=machine=lpu-small --flow-lower-stages -split-input-file | FileCheck %s

// Two KV heads of 32 fill a vector of 64 lanes; query vector g holds the g-th
// query of both. Context and bucket are rounded up to position tiles.
//
// CHECK-LABEL: model "slots" tokens 2 bucket 128 context 192 {
// The host sends a row a token for each of cosines and sines.
// CHECK:      flow.receive rope "cos" theta 1.000000e+04 turning 16 half rows <64, heads 2 over 2 of 32> %[[COS:.*]] : !flow.buffer<2 x f32>
// CHECK:      flow.receive rope "sin" {{.*}} %[[SIN:.*]] : !flow.buffer<2 x f32>
// CHECK:      flow.region weight "q" rows <128, heads 4 over 2 of 32> columns <64>
// CHECK:      flow.region weight "k" rows <64, heads 2 over 2 of 32> columns <64>
// CHECK:      flow.region kv "kv.5.k_scale" : !flow.buffer<6 x f16>
// CHECK:      flow.region kv "kv.5.v_scale" : !flow.buffer<6 x f16>
// Pairs (d, d + 8) of the 16 that turn change places.
// CHECK:      flow.permute side 1 map [8 to 15, 0 to 7, 16 to 31, 40 to 47, 32 to 39, 48 to 63]
// CHECK:      flow.permute side 0 map [8 to 15, 0 to 7, 16 to 31, 40 to 47, 32 to 39, 48 to 63]
// CHECK:      %[[K:.*]] = flow.region kv "kv.5.k.0" side [[S:[01]]] : !flow.tiles<3 x 64 rows, i8, width 8>
// CHECK-NEXT: flow.vector count 2 ins ({{.*}}, %[[COS]] <[2] by [1]> : {{.*}}, %[[SIN]] <[2] by [1]> : {{.*}}) outs (0 to %[[K]] <[2] by [0], stripe 1 step 8>
// CHECK-NEXT:   v4 = mul v0, v2
// CHECK-NEXT:   v5 = mul v1, v3
// CHECK-NEXT:   v6 = add v4, v5
// CHECK-NEXT:   v7 = kv_code v6 width 32
// CHECK-NEXT:   out v7 : i8
// CHECK:      outs (0 to %{{.*}} <[2, 2] by [0, 1], chunk 2, token_lane> : !flow.buffer<6 x f16>) {
// CHECK:        kv_scale
// CHECK-NEXT:   splat {{.*}} width 32 tile div 2 mod 2
// CHECK:        window v6 width 32 tile div 4 mod 2
// CHECK-NEXT:   out v7 : a8
// CHECK:      flow.load side [[S]] rows 8 inner 1
// CHECK:      flow.matmul plane {{[0-3]}} {{.*}}, %[[K]] : {{.*}} first 0 tiles 2 lanes 0 to 64
// CHECK:      %[[V:.*]] = flow.region kv "kv.5.v.0" side [[S]] : !flow.tiles<3 x 64 rows, i8, width 8>
// CHECK:      flow.transpose side [[S]] tokens 2 rows 64 {{.*}} outs(%[[V]] :
// CHECK:      flow.vector count 16 group 2
// CHECK:        keep {{.*}} below 0 + position else 0xFF800000 token div 2 mod 2 tile div 1 mod 2
// CHECK-NEXT:   out {{.*}} : f32 max
// CHECK:      flow.vector count 16 group 2
// CHECK:        exp
// CHECK-NEXT:   keep {{.*}} below 0 + position else 0.000000e+00 token div 2 mod 2 tile div 1 mod 2
// CHECK-NEXT:   mul
// CHECK-NEXT:   out {{.*}} : a8
// CHECK-NEXT:   out {{.*}} : f32 sum_exact
// CHECK:      flow.load side [[S]] rows 8 inner 2
// CHECK:      flow.matmul plane {{[0-3]}} {{.*}}, %[[V]] : {{.*}} first 0 tiles 1 lanes 0 to 64
// Heads of whole blocks keep their slots; the next matrix has such columns.
// CHECK:      lanes 0 to 32>
// CHECK:      lanes 32 to 64>
// CHECK:      flow.region weight "o" rows <64> columns <128, heads 4 over 2 of 32>
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x64xf32>, tensor<2xi32>)
    attributes {llm.tokens = 2 : i64, llm.bucket = 100 : i64,
                llm.context = 150 : i64, llm.model = "slots"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<2xi32> -> tensor<2x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<2x64xf32> -> tensor<2x128xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<2x64xf32> -> tensor<2x64xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<2x64xf32> -> tensor<2x64xf32>
  %qr = llm.rope %q heads(4) head_dim(32) rope_dim(16) theta(1.0e+04)
        pairing(half) : tensor<2x128xf32>
  %kr = llm.rope %k heads(2) head_dim(32) rope_dim(16) theta(1.0e+04)
        pairing(half) : tensor<2x64xf32>
  %a = llm.attention %qr, %kr, %v layer(5) heads(4) kv_heads(2) head_dim(32)
       kv_format(q8) context(150) : tensor<2x128xf32>, tensor<2x64xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<2x128xf32> -> tensor<2x64xf32>
  %n = llm.argmax %l : tensor<2x64xf32> -> tensor<2xi32>
  return %l, %n : tensor<2x64xf32>, tensor<2xi32>
}

// -----

// head_dim 24: blocks of 32 would straddle heads, so outputs are packed side by
// side before they are quantized. An f16 cache has no scales and no codes.
//
// CHECK-LABEL: model "packed" tokens 1 bucket 64 context 64 {
// CHECK:      flow.region weight "q" rows <48, heads 2 over 2 of 24>
// CHECK-NOT:  k_scale
// CHECK:      flow.region kv "kv.0.k.0" side [[S:[01]]] : !flow.tiles<1 x 64 rows, f16, width 8>
// CHECK-NEXT: flow.vector count 1 {{.*}} outs (0 to %{{.*}} <[1] by [0], stripe 2 step 16>
// CHECK-NOT:  kv_code
// CHECK:      flow.permute side [[S]] map [0 to 23, zero 40] {{.*}} lanes 0 to 24>
// CHECK:      flow.permute side [[S]] map [zero 24, 32 to 55, zero 16] {{.*}} lanes 24 to 64>
// CHECK:      flow.region weight "o" rows <64> columns <48> side
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "packed"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x48xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x48xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x48xf32>
  %qr = llm.rope %q heads(2) head_dim(24) rope_dim(24) theta(1.0e+04)
        pairing(adjacent) : tensor<1x48xf32>
  %kr = llm.rope %k heads(2) head_dim(24) rope_dim(24) theta(1.0e+04)
        pairing(adjacent) : tensor<1x48xf32>
  %a = llm.attention %qr, %kr, %v layer(0) heads(2) kv_heads(2) head_dim(24)
       kv_format(f16) context(64) : tensor<1x48xf32>, tensor<1x48xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<1x48xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}
