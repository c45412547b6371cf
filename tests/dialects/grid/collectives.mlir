// Shards and collectives print what they parse, in custom and in generic form.
// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt %s -mlir-print-op-generic | orrery-opt | FileCheck %s

// Two stages of two ranks: 64 elements in shards of 32, 100 tokens in shards of
// 64, of which the last holds 36.
// CHECK-LABEL: func.func @shards
// CHECK-SAME: -> (tensor<2x64xf32> {grid.shard = #grid.shard<64 of 100>}, tensor<2xi32>)
func.func @shards(%x: tensor<2x64xf32>)
    -> (tensor<2x64xf32> {grid.shard = #grid.shard<64 of 100>}, tensor<2xi32>) {
  // CHECK: grid.stage chips [0, 1] weights
  %s = grid.stage chips [0, 1] weights 0 B kv 0 B of 100 B -> tensor<2x32xf32> {
    // CHECK: llm.linear {{.*}} {grid.shard = #grid.shard<32 of 64>}
    %y = llm.linear %x weight("w") format(q8_0)
         {grid.shard = #grid.shard<32 of 64>}
       : tensor<2x64xf32> -> tensor<2x32xf32>
    // CHECK: llm.linear {{.*}} {grid.shard = #grid.shard<32 of 32 replicas 2>}
    %k = llm.linear %x weight("k") format(q8_0)
         {grid.shard = #grid.shard<32 of 32 replicas 2>}
       : tensor<2x64xf32> -> tensor<2x32xf32>
    // CHECK: grid.own %{{.*}} : tensor<2x64xf32> -> tensor<2x32xf32>
    %o = grid.own %x : tensor<2x64xf32> -> tensor<2x32xf32>
    %z = llm.add %o, %y : tensor<2x32xf32>
    grid.yield %z : tensor<2x32xf32>
  }
  // CHECK: grid.stage chips [2, 3] from layer 7 weights
  %l:2 = grid.stage chips [2, 3] from layer 7 weights 0 B kv 0 B of 100 B
      -> tensor<2x64xf32>, tensor<2xi32> {
    // CHECK: grid.all_gather %{{.*}} : tensor<2x32xf32> -> tensor<2x64xf32>
    %y = grid.all_gather %s : tensor<2x32xf32> -> tensor<2x64xf32>
    %z = llm.linear %y weight("o") format(q8_0)
         {grid.shard = #grid.shard<64 of 100>}
       : tensor<2x64xf32> -> tensor<2x64xf32>
    // CHECK: grid.argmax %{{.*}} vocab(100) : tensor<2x64xf32> -> tensor<2xi32>
    %n = grid.argmax %z vocab(100) : tensor<2x64xf32> -> tensor<2xi32>
    grid.yield %z, %n : tensor<2x64xf32>, tensor<2xi32>
  }
  return %l#0, %l#1 : tensor<2x64xf32>, tensor<2xi32>
}

// CHECK-LABEL: func.func @ring
func.func @ring() {
  // CHECK: grid.stage chips [4, 2, 9] ring weights 0 B kv 0 B of 0 B {
  grid.stage chips [4, 2, 9] ring weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}
