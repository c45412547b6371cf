// Partials of products and what adds them.
// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt %s -mlir-print-op-generic | orrery-opt | FileCheck %s

// CHECK-LABEL: func.func @partials
func.func @partials(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1, 2] weights 0 B kv 0 B of 0 B {
    // CHECK: %[[P:.*]] = llm.linear %{{.*}} weight("w") format(q8_0) {grid.columns = #grid.shard<32 of 90>} : tensor<2x32xf32> -> tensor<2x70xf32>
    %p = llm.linear %x weight("w") format(q8_0)
         {grid.columns = #grid.shard<32 of 90>}
       : tensor<2x32xf32> -> tensor<2x70xf32>
    // CHECK-NEXT: grid.reduce_scatter %[[P]] : tensor<2x70xf32> -> tensor<2x32xf32>
    %y = grid.reduce_scatter %p : tensor<2x70xf32> -> tensor<2x32xf32>
    // CHECK: %[[Q:.*]] = llm.linear
    %q = llm.linear %x weight("v") format(f16)
         {grid.columns = #grid.shard<32 of 90>}
       : tensor<2x32xf32> -> tensor<2x70xf32>
    // CHECK-NEXT: grid.all_reduce %[[Q]] : tensor<2x70xf32>
    %z = grid.all_reduce %q : tensor<2x70xf32>
    grid.yield
  }
  return
}
