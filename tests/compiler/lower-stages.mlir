// Each op of a stage becomes unit operations on buffers.
// RUN: orrery-opt %s --grid-place-stages=machine=lpu-small --flow-lower-stages -split-input-file | FileCheck %s

// The norm's sum of squares is a burst of its own, its product leaves quantized
// for both hemispheres. 100 rows are one whole vector and 36 more; they are
// cut over the four planes, in tiles of a multiple of 16 rows, and the last
// piece of a vector also writes its zeros.
//
// CHECK-LABEL: flow.program machine "lpu-small" model "head" tokens 2 bucket 64 context 64 {
// CHECK-NEXT: %[[X:.*]] = flow.alloc : !flow.buffer<4 x f32>
// CHECK-NEXT: flow.receive rows <96> %[[X]]
// CHECK-NEXT: %[[S:.*]] = flow.alloc : !flow.buffer<2 x f32>
// CHECK-NEXT: flow.vector count 4 group 2 ins (%[[X]] <[4] by [1]> : {{.*}}) outs (0 to %[[S]] <[2] by [1]> : {{.*}}) {
// CHECK-NEXT:   v1 = mul v0, v0
// CHECK-NEXT:   out v1 : f32 sum_wide
// CHECK-NEXT: }
// CHECK-NEXT: %[[W:.*]] = flow.region table "norm" rows <96> : !flow.buffer<2 x f32>
// CHECK-NEXT: %[[Q0:.*]] = flow.alloc side 0 : !flow.buffer<4 x a8>
// CHECK-NEXT: %[[Q1:.*]] = flow.alloc side 1 : !flow.buffer<4 x a8>
// CHECK-NEXT: flow.vector count 4 ins (%[[X]] <[4] by [1]> : {{.*}}, %[[W]] <[2, 2] by [1, 0]> : {{.*}}, %[[S]] <[2, 2] by [0, 1]> : {{.*}}) outs (0 to %[[Q0]] {{.*}}, 1 to %[[Q1]] {{.*}}) {
// CHECK-NEXT:   v3 = immediate 9.600000e+01
// CHECK-NEXT:   v4 = div v2, v3
// CHECK-NEXT:   v5 = immediate 9.99999974E-6
// CHECK-NEXT:   v6 = add v4, v5
// CHECK-NEXT:   v7 = sqrt v6
// CHECK-NEXT:   v8 = immediate 1.000000e+00
// CHECK-NEXT:   v9 = div v8, v7
// CHECK-NEXT:   v10 = mul v0, v9
// CHECK-NEXT:   v11 = mul v10, v1
// CHECK-NEXT:   out v11 : a8
// CHECK-NEXT:   out v11 : a8
// CHECK-NEXT: }
// CHECK-NEXT: %[[Y:.*]] = flow.alloc : !flow.buffer<4 x f32>
// CHECK-NEXT: %[[L0:.*]] = flow.load side 0 rows 2 inner 2 %[[Q0]] <[2, 2] by [2, 1]>
// CHECK-NEXT: %[[L1:.*]] = flow.load side 1 rows 2 inner 2 %[[Q1]] <[2, 2] by [2, 1]>
// CHECK-NEXT: %[[T0:.*]] = flow.region weight "head" rows <100> columns <96> side 0 : !flow.tiles<2 x 32 rows, q8, width 16>
// CHECK-NEXT: flow.matmul plane 0 %[[L0]], %[[T0]] : {{.*}} first 0 tiles 1 lanes 0 to 32 outs(%[[Y]] <[2, 1] by [2, 1], lanes 0 to 32>
// CHECK-NEXT: flow.region weight "head" rows <100> columns <96> low 32 side 0
// CHECK-NEXT: flow.matmul plane 1 %[[L0]], {{.*}} lanes 32 to 64 outs(%[[Y]] <[2, 1] by [2, 1], lanes 32 to 64>
// CHECK-NEXT: flow.region weight "head" rows <100> columns <96> first 1 side 1
// CHECK-NEXT: flow.matmul plane 2 %[[L1]], {{.*}} lanes 0 to 32 outs(%[[Y]] <[2, 1] by [2, 1], offset 1, lanes 0 to 32>
// CHECK-NEXT: flow.region weight "head" rows <100> columns <96> first 1 low 32 side 1
// CHECK-NEXT: flow.matmul plane 3 %[[L1]], {{.*}} lanes 32 to 48 outs(%[[Y]] <[2, 1] by [2, 1], offset 1, lanes 32 to 64>
// CHECK-NOT:  flow.matmul
// CHECK:      %[[B:.*]] = flow.alloc : !flow.buffer<2 x f32>
// CHECK-NEXT: flow.vector count 4 group 2 ins (%[[Y]] {{.*}}) outs (0 to %[[B]] {{.*}}) {
// CHECK-NEXT:   v1 = keep v0 below 100 else 0xFF800000 tile div 1 mod 2
// CHECK-NEXT:   out v1 : f32 argmax
// CHECK-NEXT: }
// CHECK-NEXT: flow.logits %[[Y]] vectors 2 vocab 100
// CHECK-NEXT: flow.send %[[B]]
// CHECK-NEXT: }
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x100xf32>, tensor<2xi32>)
    attributes {llm.tokens = 2 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "head"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(100)
     : tensor<2xi32> -> tensor<2x96xf32>
  %y = llm.rms_norm %x weight("norm") eps(1.0e-05) : tensor<2x96xf32>
  %l = llm.linear %y weight("head") format(q8_0) : tensor<2x96xf32> -> tensor<2x100xf32>
  %n = llm.argmax %l : tensor<2x100xf32> -> tensor<2xi32>
  return %l, %n : tensor<2x100xf32>, tensor<2xi32>
}

// -----

// f16 takes both planes of a pair, so only planes 0 and 2 are named; whole
// vectors go one to a plane. A matrix may feed a matrix: its rows are copied
// out of the VXM in the next one's format. q4 and f16 of one value: both.
//
// CHECK-LABEL: model "formats"
// CHECK:      flow.vector count 1 {{.*}} {
// CHECK-NEXT:   out v0 : f16
// CHECK-NEXT:   out v0 : f16
// CHECK:      flow.region weight "a" rows <128> columns <64> side 0 : !flow.tiles<1 x 64 rows, f16, width 16>
// CHECK-NEXT: flow.matmul plane 0 {{.*}} lanes 0 to 64 outs(%[[Y:.*]] <[1, 1] by [2, 1]>
// CHECK:      flow.region weight "a" rows <128> columns <64> first 1 side 1
// CHECK-NEXT: flow.matmul plane 2 {{.*}} outs(%[[Y]] <[1, 1] by [2, 1], offset 1>
// CHECK-NOT:  flow.matmul
// CHECK:      flow.vector count 2 {{.*}} {
// CHECK-NEXT:   out v0 : a8
// CHECK-NEXT:   out v0 : a8
// CHECK:      flow.region weight "b" {{.*}} !flow.tiles<2 x 16 rows, q4, width 16>
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "formats"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(100)
     : tensor<1xi32> -> tensor<1x64xf32>
  %y = llm.linear %x weight("a") format(f16) : tensor<1x64xf32> -> tensor<1x128xf32>
  %l = llm.linear %y weight("b") format(q4_0) : tensor<1x128xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// Residual and gate. The sum that a norm reads also gives that norm's squares;
// a table is made once.
//
// CHECK-LABEL: model "residual"
// CHECK-COUNT-1: flow.region table "norm"
// CHECK:        v2 = silu v0
// CHECK-NEXT:   v3 = mul v2, v1
// CHECK-NEXT:   out v3 : a8
// CHECK:        v2 = add v0, v1
// CHECK-NEXT:   v3 = mul v2, v2
// CHECK-NEXT:   out v3 : f32 sum_wide
// CHECK-NEXT:   out v2 : f32
// CHECK-NEXT: }
// CHECK-NOT: flow.region table
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "residual"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(100)
     : tensor<1xi32> -> tensor<1x64xf32>
  %n = llm.rms_norm %x weight("norm") eps(1.0e-05) : tensor<1x64xf32>
  %g = llm.linear %n weight("gate") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %u = llm.linear %n weight("up") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %h = llm.gated %g, %u : tensor<1x64xf32>
  %d = llm.linear %h weight("down") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %y = llm.add %x, %d : tensor<1x64xf32>
  %m = llm.rms_norm %y weight("norm") eps(1.0e-05) : tensor<1x64xf32>
  %l = llm.linear %m weight("head") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %t : tensor<1x64xf32>, tensor<1xi32>
}
