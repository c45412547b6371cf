// Partials of row-parallel products: accumulators over the links, added by the
// VXM. Places are made one by one; that of the rank s before says `behind s`.
// RUN: orrery-opt %s --flow-lower-stages -split-input-file | FileCheck %s
// RUN: orrery-opt %s --flow-lower-stages --flow-allocate --tick-schedule -split-input-file | FileCheck %s --check-prefix=TICK

// Two chips, linked: the place of the other leaves, its part of the own place
// comes beside the own part of it.
//
// CHECK-LABEL: flow.program machine "lpu-small" model "scatter" tokens 2
// CHECK:      %[[IN:.*]] = flow.alloc side 1 : !flow.buffer<4 x sum>
// CHECK-NEXT: %[[OUT:.*]] = flow.alloc side 1 : !flow.buffer<2 x sum>
// CHECK-NEXT: flow.region weight "down" rows <64> columns <32> shard_of 96 behind 1 of_ranks 2 columns_of 50 side 0 : !flow.tiles<1 x 16 rows, q8, width 16>
// CHECK-NEXT: flow.matmul plane 1 {{.*}} first 0 tiles 1 lanes 0 to 16 outs(%[[OUT]] <[2, 1] by [1, 1], lanes 0 to 16> : !flow.buffer<2 x sum>)
// CHECK:      flow.region weight "down" rows <64> columns <32> shard_of 96 of_ranks 2 columns_of 50 side 0
// CHECK-NEXT: flow.matmul plane 0 {{.*}} outs(%[[IN]] <[2, 1] by [2, 2], lanes 0 to 16> : !flow.buffer<4 x sum>)
// CHECK:      flow.link_send links [1] %[[OUT]] <[2, 1] by [1, 1]> : !flow.buffer<2 x sum>
// CHECK-NEXT: flow.link_receive link 1 outs (%[[IN]] <[2, 1] by [2, 2], offset 1> : !flow.buffer<4 x sum>)
// CHECK-NEXT: %[[Y:.*]] = flow.alloc : !flow.buffer<2 x f32>
// CHECK-NEXT: flow.vector count 4 group 2 ins (%[[IN]] <[4] by [1]> : !flow.buffer<4 x sum>) outs (0 to %[[Y]] <[2] by [1]> : !flow.buffer<2 x f32>) {
// CHECK-NEXT:   out v0 : f32 add_sums
//
// TICK-LABEL: tick.program @{{.*}} model "scatter"
// TICK:      tick.vector_program @{{.*}} group 2 (sum) {
// TICK-NEXT:   out v0 : f32 add_sums
// TICK:      tick.matmul at {{.*}} sums
// TICK:      tick.send at {{.*}} width 8
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x64xf32> {grid.shard = #grid.shard<64 of 96>}, tensor<2xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 2 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "scatter"} {
  %l, %n = grid.stage chips [0, 1] weights 4352 B kv 0 B of 58720256 B -> tensor<2x64xf32>, tensor<2xi32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(96)
       : tensor<2xi32> -> tensor<2x96xf32>
    %u = llm.linear %x weight("up") format(q8_0) {grid.shard = #grid.shard<32 of 50>} : tensor<2x96xf32> -> tensor<2x32xf32>
    %p = llm.linear %u weight("down") format(q8_0) {grid.columns = #grid.shard<32 of 50>} : tensor<2x32xf32> -> tensor<2x96xf32>
    %d = grid.reduce_scatter %p : tensor<2x96xf32> -> tensor<2x64xf32>
    %n = grid.argmax %d vocab(96) : tensor<2x64xf32> -> tensor<2xi32>
    grid.yield %d, %n : tensor<2x64xf32>, tensor<2xi32>
  }
  return %l, %n : tensor<2x64xf32>, tensor<2xi32>
}

// -----

// All to all: both chips send both places, and the other's places are counted
// from the other. Two shards of 32 share a vector of 64 lanes: the SXM packs
// them.
//
// CHECK-LABEL: flow.program machine "lpu-small" model "reduce" tokens 1
// CHECK:      %[[ALL:.*]] = flow.alloc side 1 : !flow.buffer<4 x sum>
// CHECK:      flow.matmul {{.*}} outs(%[[ALL]] <[1, 1] by [2, 2], lanes 0 to 16>
// CHECK:      flow.matmul {{.*}} outs(%[[ALL]] <[1, 1] by [2, 2], offset 2, lanes 0 to 16>
// CHECK:      flow.link_send links [1] %[[ALL]] <[1, 1] by [2, 2]>
// CHECK-NEXT: flow.link_receive link 1 outs (%[[ALL]] <[1, 1] by [2, 2], offset 3>
// CHECK-NEXT: flow.link_send links [1] %[[ALL]] <[1, 1] by [2, 2], offset 2>
// CHECK-NEXT: flow.link_receive link 1 outs (%[[ALL]] <[1, 1] by [2, 2], offset 1>
// CHECK-NEXT: %[[Y:.*]] = flow.alloc : !flow.buffer<1 x f32>
// CHECK-NEXT: %[[T:.*]] = flow.alloc side 1 : !flow.buffer<2 x f32>
// CHECK-NEXT: flow.vector count 4 group 2 ins (%[[ALL]] <[2, 1, 2] by [1, 2, 2]> {{.*}}) outs (0 to %[[T]] <[2] by [1]>
// CHECK-NEXT:   out v0 : f32 add_sums
// CHECK:      flow.permute side 1 map [0 to 31, zero 32] ins(%[[T]] <[1, 1] by [1, 1]> {{.*}}) outs (%[[Y]] <[1, 1] by [1, 1], lanes 0 to 32>
// CHECK-NEXT: flow.permute side 1 map [zero 32, 0 to 31] ins(%[[T]] <[1, 1] by [1, 1], offset 1> {{.*}}) outs (%[[Y]] <[1, 1] by [1, 1], lanes 32 to 64>
// TICK-LABEL: tick.program @{{.*}} model "reduce"
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "reduce"} {
  %l, %n = grid.stage chips [0, 1] weights 4352 B kv 0 B of 58720256 B -> tensor<1x64xf32>, tensor<1xi32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(64)
       : tensor<1xi32> -> tensor<1x64xf32>
    %u = llm.linear %x weight("up") format(q8_0) {grid.shard = #grid.shard<32 of 64>} : tensor<1x64xf32> -> tensor<1x32xf32>
    %p = llm.linear %u weight("down") format(q8_0) {grid.columns = #grid.shard<32 of 64>} : tensor<1x32xf32> -> tensor<1x64xf32>
    %d = grid.all_reduce %p : tensor<1x64xf32>
    %n = llm.argmax %d : tensor<1x64xf32> -> tensor<1xi32>
    grid.yield %d, %n : tensor<1x64xf32>, tensor<1xi32>
  }
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// In a ring of three the part of the rank before goes two hops, and the rank
// between adds its own.
//
// CHECK-LABEL: flow.program machine "lpu-small" model "ring"
// CHECK:      %[[FIRST:.*]] = flow.alloc side 1 : !flow.buffer<1 x sum>
// CHECK-NEXT: flow.region weight "down" rows <32> columns <32> shard_of 96 behind 1 of_ranks 3 columns_of 96
// CHECK-NEXT: flow.matmul {{.*}} outs(%[[FIRST]] <
// CHECK:      %[[PAIR:.*]] = flow.alloc side 1 : !flow.buffer<2 x sum>
// CHECK-NEXT: flow.region weight "down" rows <32> columns <32> shard_of 96 behind 2 of_ranks 3 columns_of 96
// CHECK:      %[[LAST:.*]] = flow.alloc side 1 : !flow.buffer<2 x sum>
// CHECK-NEXT: flow.region weight "down" rows <32> columns <32> shard_of 96 of_ranks 3 columns_of 96
// CHECK:      %[[Y:.*]] = flow.alloc : !flow.buffer<1 x f32>
// CHECK-NEXT: flow.link_send links [1] %[[FIRST]]
// CHECK-NEXT: flow.link_receive link 1 outs (%[[PAIR]] <[1, 1] by [2, 2], offset 1>
// CHECK-NEXT: %[[SUM:.*]] = flow.alloc side 1 : !flow.buffer<1 x sum>
// CHECK-NEXT: flow.vector count 2 group 2 ins (%[[PAIR]] <[2] by [1]> {{.*}}) outs (0 to %[[SUM]] <[1] by [1]> : !flow.buffer<1 x sum>) {
// CHECK-NEXT:   out v0 : sum add_sums
// CHECK-NEXT: }
// CHECK-NEXT: flow.link_send links [1] %[[SUM]]
// CHECK-NEXT: flow.link_receive link 1 outs (%[[LAST]] <[1, 1] by [2, 2], offset 1>
// CHECK-NEXT: flow.vector count 2 group 2 ins (%[[LAST]] <[2] by [1]> {{.*}}) outs (0 to %[[Y]] <[1] by [1]> : !flow.buffer<1 x f32>) {
// CHECK-NEXT:   out v0 : f32 add_sums
// TICK-LABEL: tick.program @{{.*}} model "ring"
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x32xf32> {grid.shard = #grid.shard<32 of 96>}, tensor<1xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "ring"} {
  %l, %n = grid.stage chips [0, 1, 2] ring weights 4352 B kv 0 B of 58720256 B -> tensor<1x32xf32>, tensor<1xi32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(96)
       : tensor<1xi32> -> tensor<1x96xf32>
    %u = llm.linear %x weight("up") format(q8_0) {grid.shard = #grid.shard<32 of 96>} : tensor<1x96xf32> -> tensor<1x32xf32>
    %p = llm.linear %u weight("down") format(q8_0) {grid.columns = #grid.shard<32 of 96>} : tensor<1x32xf32> -> tensor<1x96xf32>
    %d = grid.reduce_scatter %p : tensor<1x96xf32> -> tensor<1x32xf32>
    %n = grid.argmax %d vocab(96) : tensor<1x32xf32> -> tensor<1xi32>
    grid.yield %d, %n : tensor<1x32xf32>, tensor<1xi32>
  }
  return %l, %n : tensor<1x32xf32>, tensor<1xi32>
}
