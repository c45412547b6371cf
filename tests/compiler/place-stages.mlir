// A step's ops go into one stage on one chip; what its matrices and caches take
// there, without padding, is written on it.
// RUN: orrery-opt %s --grid-place-stages=machine=lpu-small | FileCheck %s
// RUN: orrery-opt %s --grid-place-stages | FileCheck %s --check-prefix=V1

// q 64x64 q8_0: 64 rows of 2 blocks of 34 B; k 32x64 q4_0: 32 of 2 of 18 B; v
// 32x40 f16: 2 B an element; o 10x64 q8_0. 4352 + 1152 + 2560 + 680.
// KV of 4 KV heads (not 8 heads) at 100 positions: K and V, 8 codes and a scale.
//
// CHECK-LABEL: func.func @step
// CHECK-SAME: grid.machine = "lpu-small"
// CHECK-NEXT: %[[R:.*]]:2 = grid.stage chips [0] weights 8744 B kv 8000 B of 29360128 B -> tensor<2x10xf32>, tensor<2xi32> {
// CHECK-NEXT:   llm.embed
// CHECK:        %[[L:.*]] = llm.linear {{.*}} weight("o")
// CHECK-NEXT:   %[[N:.*]] = llm.argmax
// CHECK-NEXT:   grid.yield %[[L]], %[[N]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
// V1: grid.machine = "lpu-v1"
// V1: grid.stage chips [0] weights 8744 B kv 8000 B of 230686720 B
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x10xf32>, tensor<2xi32>)
    attributes {llm.tokens = 2 : i64, llm.bucket = 50 : i64,
                llm.context = 100 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(10)
     : tensor<2xi32> -> tensor<2x64xf32>
  %y = llm.embed %ids table("f") format(q8_0) vocab(10)
     : tensor<2xi32> -> tensor<2x40xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<2x64xf32> -> tensor<2x64xf32>
  %k = llm.linear %x weight("k") format(q4_0) : tensor<2x64xf32> -> tensor<2x32xf32>
  %v = llm.linear %y weight("v") format(f16) : tensor<2x40xf32> -> tensor<2x32xf32>
  %a = llm.attention %q, %k, %v layer(0) heads(8) kv_heads(4) head_dim(8)
       kv_format(q8) context(100) : tensor<2x64xf32>, tensor<2x32xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<2x64xf32> -> tensor<2x10xf32>
  %n = llm.argmax %l : tensor<2x10xf32> -> tensor<2xi32>
  return %l, %n : tensor<2x10xf32>, tensor<2xi32>
}

// An f16 cache has no scales: 2 * 100 * 4 * 8 * 2 B.
// CHECK-LABEL: func.func @f16_cache
// CHECK: grid.stage chips [0] weights 0 B kv 12800 B
func.func @f16_cache(%ids: tensor<2xi32>) -> tensor<2x64xf32>
    attributes {llm.tokens = 2 : i64, llm.bucket = 50 : i64,
                llm.context = 100 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(10)
     : tensor<2xi32> -> tensor<2x64xf32>
  %k = llm.embed %ids table("f") format(q8_0) vocab(10)
     : tensor<2xi32> -> tensor<2x32xf32>
  %a = llm.attention %x, %k, %k layer(0) heads(8) kv_heads(4) head_dim(8)
       kv_format(f16) context(100) : tensor<2x64xf32>, tensor<2x32xf32>
  return %a : tensor<2x64xf32>
}

// What is no step stays as it is.
// CHECK-LABEL: func.func @no_step
// CHECK-NOT: grid.stage
func.func @no_step(%x: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %y = llm.add %x, %x : tensor<2x64xf32>
  return %y : tensor<2x64xf32>
}
