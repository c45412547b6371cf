// What ranks and stages send each other. Everything is relative to the own
// rank: place 0 of a gathered value is the own shard.
// RUN: orrery-opt %s --flow-lower-stages -split-input-file | FileCheck %s

// Two stages of two chips. 96 elements in shards of 64 lie in one whole vector
// a shard; 192 in shards of 96 in two whole vectors and one that the tails of
// both share. The gathered value goes to matrix units only: it crosses as a8.
//
// CHECK-LABEL: flow.program machine "lpu-small" model "two stages" tokens 2 bucket 64 context 64 group_links 1 {
// CHECK:      flow.region table "norm" rows <64, shard of 2 in 96> : !flow.buffer<2 x f32>
// CHECK:      flow.region weight "up" rows <96> columns <64, shard of 2 in 96> shard_of 192 side 0
// CHECK:      %[[OWN:.*]] = flow.alloc side 1 : !flow.buffer<4 x a8>
// CHECK-NEXT: %[[F:.*]] = flow.alloc : !flow.buffer<4 x f32>
// CHECK:      out v3 : a8
// CHECK-NEXT: out v3 : f32
// CHECK:      %[[W:.*]] = flow.alloc side 0 : !flow.buffer<6 x a8>
// CHECK-NEXT: %[[E:.*]] = flow.alloc side 1 : !flow.buffer<6 x a8>
// CHECK-NEXT: flow.vector count 2 ins (%[[F]] <[2, 1] by [2, 1]> {{.*}}) outs (0 to %[[W]] <[2, 1] by [3, 2]> {{.*}}, 1 to %[[E]] <[2, 1] by [3, 2]>
// CHECK:      flow.link_send links [1] %[[OWN]] <[2, 1] by [2, 1]>
// CHECK-NEXT: flow.link_receive link 1 outs (%[[W]] <[2, 1] by [3, 2], offset 1> {{.*}}, %[[E]] <[2, 1] by [3, 2], offset 1>
// CHECK-NEXT: flow.vector count 2 ins (%[[F]] <[2, 1] by [2, 1], offset 1> {{.*}}) outs (0 to %[[W]] <[2, 1] by [3, 1], offset 2, lanes 0 to 32>
// CHECK:      flow.link_send links [1] %[[OWN]] <[2, 1] by [2, 1], offset 1>
// CHECK-NEXT: flow.link_receive link 1 to 32 lanes 32 outs (%[[W]] <[2, 1] by [3, 1], offset 2, lanes 32 to 64>
// CHECK:      flow.region weight "down" rows <64> columns <96, shard of 2 in 192> shard_of 96 side 0
// The own shard of the residual is place 0; the sum leaves for the next stage.
// CHECK:      flow.vector count 2 ins (%{{.*}} <[2, 1] by [2, 2]>
// CHECK:      v2 = add v0, v1
// CHECK:      flow.link_send links [2] %{{.*}} <[2] by [1]> : !flow.buffer<2 x f32>
// CHECK-NEXT: }
//
// CHECK-LABEL: flow.program machine "lpu-small" model "two stages" tokens 2 bucket 64 context 64 group_links 1 {
// CHECK-NEXT: %[[IN:.*]] = flow.alloc : !flow.buffer<2 x f32>
// CHECK-NEXT: flow.link_receive link 2 outs (%[[IN]] <[2] by [1]>
// CHECK:      flow.link_send links [1] %[[IN]] <[2, 1] by [1, 1]> : !flow.buffer<2 x f32>
// CHECK:      flow.region table "argmax.mask" rows <64> shard_of 100
// CHECK-NEXT: flow.region table "argmax.base" rows <64> shard_of 100
// CHECK:      out v2 : f32 argmax
// CHECK:      v2 = add_bits v0, v1
// CHECK:      flow.link_send links [1]
// CHECK-NEXT: flow.link_receive link 1
// CHECK:      flow.vector count 4 group 2
// CHECK-NEXT: out v0 : f32 argbest
// CHECK:      flow.logits %{{.*}} vectors 1 vocab 64
// CHECK-NEXT: flow.send
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x64xf32> {grid.shard = #grid.shard<64 of 100>}, tensor<2xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 2 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "two stages"} {
  %m = grid.stage chips [0, 1] weights 4352 B kv 0 B of 58720256 B -> tensor<2x64xf32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(100)
       : tensor<2xi32> -> tensor<2x96xf32>
    %y = llm.rms_norm %x weight("norm") eps(1.0e-05) : tensor<2x96xf32>
    %l = llm.linear %y weight("up") format(q8_0) {grid.shard = #grid.shard<96 of 192>} : tensor<2x96xf32> -> tensor<2x96xf32>
    %u = llm.linear %y weight("gate") format(q8_0) {grid.shard = #grid.shard<96 of 192>} : tensor<2x96xf32> -> tensor<2x96xf32>
    %g = llm.gated %l, %u : tensor<2x96xf32>
    %a = grid.all_gather %g : tensor<2x96xf32> -> tensor<2x192xf32>
    %d = llm.linear %a weight("down") format(q8_0) {grid.shard = #grid.shard<64 of 96>} : tensor<2x192xf32> -> tensor<2x64xf32>
    %o = grid.own %x : tensor<2x96xf32> -> tensor<2x64xf32>
    %r = llm.add %o, %d : tensor<2x64xf32>
    grid.yield %r : tensor<2x64xf32>
  }
  %l, %n = grid.stage chips [2, 3] weights 4352 B kv 0 B of 58720256 B -> tensor<2x64xf32>, tensor<2xi32> {
    %x = grid.all_gather %m : tensor<2x64xf32> -> tensor<2x96xf32>
    %y = llm.rms_norm %x weight("norm2") eps(1.0e-05) : tensor<2x96xf32>
    %l = llm.linear %y weight("head") format(q8_0) {grid.shard = #grid.shard<64 of 100>} : tensor<2x96xf32> -> tensor<2x64xf32>
    %n = grid.argmax %l vocab(100) : tensor<2x64xf32> -> tensor<2xi32>
    grid.yield %l, %n : tensor<2x64xf32>, tensor<2xi32>
  }
  return %l, %n : tensor<2x64xf32>, tensor<2xi32>
}

// -----

// In a ring of three only the next rank is linked: place s - 1 is passed on and
// becomes place s there; it waits in a buffer of its own.
// CHECK-LABEL: flow.program machine "lpu-small" model "ring"
// CHECK:      %[[OWN:.*]] = flow.alloc side 1 : !flow.buffer<2 x a8>
// CHECK:      flow.link_send links [1] %[[OWN]] <[2, 1] by [1, 1]>
// CHECK-NEXT: %[[P:.*]] = flow.alloc side 1 : !flow.buffer<2 x a8>
// CHECK-NEXT: flow.link_receive link 1 to 32 lanes 32 outs (%{{.*}} <[2, 1] by [2, 2], lanes 32 to 64> {{.*}}, %{{.*}} <[2, 1] by [2, 2], lanes 32 to 64> {{.*}}, %[[P]] <[2] by [1]>
// CHECK-NEXT: flow.link_send links [1] %[[P]] <[2] by [1]>
// CHECK-NEXT: flow.link_receive link 1 from 32 lanes 32 outs (%{{.*}} <[2, 1] by [2, 2], offset 1, lanes 0 to 64>
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x32xf32> {grid.shard = #grid.shard<32 of 96>}, tensor<2xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 2 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "ring"} {
  %l, %n = grid.stage chips [0, 1, 2] ring weights 4352 B kv 0 B of 58720256 B -> tensor<2x32xf32>, tensor<2xi32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(96)
       : tensor<2xi32> -> tensor<2x96xf32>
    %u = llm.linear %x weight("up") format(q8_0) {grid.shard = #grid.shard<32 of 96>} : tensor<2x96xf32> -> tensor<2x32xf32>
    %a = grid.all_gather %u : tensor<2x32xf32> -> tensor<2x96xf32>
    %d = llm.linear %a weight("down") format(q8_0) {grid.shard = #grid.shard<32 of 96>} : tensor<2x96xf32> -> tensor<2x32xf32>
    %n = grid.argmax %d vocab(96) : tensor<2x32xf32> -> tensor<2xi32>
    grid.yield %d, %n : tensor<2x32xf32>, tensor<2xi32>
  }
  return %l, %n : tensor<2x32xf32>, tensor<2xi32>
}

// -----

// Between gate and down: the gated product crosses as a8, and goes on arrival
// to its place in both hemispheres and to where it is sent on to the other rank
// from. Two whole vectors and a tail, run by run, on both sides.
// CHECK-LABEL: flow.program machine "lpu-small" model "cut" tokens 2
// CHECK:      flow.vector count 4 ins (%{{[0-9]+}} <[4] by [1]> : !flow.buffer<4 x f32>, %{{[0-9]+}} <[4] by [1]> : !flow.buffer<4 x f32>) outs (0 to %[[OUT:[0-9]+]] <[4] by [1]> : !flow.buffer<4 x a8>) {
// CHECK-NEXT: silu
// CHECK-NEXT: mul
// CHECK-NEXT: out v3 : a8
// CHECK-NEXT: }
// CHECK:      flow.link_send links [2] %{{.*}} <[2] by [1]> : !flow.buffer<2 x f32>
// CHECK-NEXT: flow.link_send links [2] %[[OUT]] <[2, 1] by [2, 1]> : !flow.buffer<4 x a8>
// CHECK-NEXT: flow.link_send links [2] %[[OUT]] <[2, 1] by [2, 1], offset 1> : !flow.buffer<4 x a8>
// CHECK-NEXT: }
// CHECK:      flow.link_receive link 2 outs (%[[X:.*]] <[2] by [1]> : !flow.buffer<2 x f32>)
// CHECK:      flow.link_receive link 2 outs (%[[OWN:.*]] <[2, 1] by [2, 1]> : !flow.buffer<4 x a8>, %[[W:.*]] <[2, 1] by [3, 2]> : !flow.buffer<6 x a8>, %[[E:.*]] <[2, 1] by [3, 2]> : !flow.buffer<6 x a8>)
// CHECK-NEXT: flow.link_receive link 2 outs (%[[OWN]] <[2, 1] by [2, 1], offset 1> : !flow.buffer<4 x a8>, %[[W]] <[2, 1] by [3, 1], offset 2, lanes 0 to 32> : !flow.buffer<6 x a8>, %[[E]] <[2, 1] by [3, 1], offset 2, lanes 0 to 32>
// CHECK-NEXT: flow.link_send links [1] %[[OWN]] <[2, 1] by [2, 1]>
// CHECK-NEXT: flow.link_receive link 1 outs (%[[W]] <[2, 1] by [3, 2], offset 1>
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x64xf32> {grid.shard = #grid.shard<64 of 100>}, tensor<2xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 2 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "cut"} {
  %m:2 = grid.stage chips [0, 1] weights 4352 B kv 0 B of 58720256 B -> tensor<2x64xf32>, tensor<2x96xf32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(100)
       : tensor<2xi32> -> tensor<2x96xf32>
    %y = llm.rms_norm %x weight("norm") eps(1.0e-05) : tensor<2x96xf32>
    %l = llm.linear %y weight("up") format(q8_0) {grid.shard = #grid.shard<96 of 192>} : tensor<2x96xf32> -> tensor<2x96xf32>
    %u = llm.linear %y weight("gate") format(q8_0) {grid.shard = #grid.shard<96 of 192>} : tensor<2x96xf32> -> tensor<2x96xf32>
    %g = llm.gated %l, %u : tensor<2x96xf32>
    %o = grid.own %x : tensor<2x96xf32> -> tensor<2x64xf32>
    grid.yield %o, %g : tensor<2x64xf32>, tensor<2x96xf32>
  }
  %l, %n = grid.stage chips [2, 3] weights 4352 B kv 0 B of 58720256 B -> tensor<2x64xf32>, tensor<2xi32> {
    %a = grid.all_gather %m#1 : tensor<2x96xf32> -> tensor<2x192xf32>
    %d = llm.linear %a weight("down") format(q8_0) {grid.shard = #grid.shard<64 of 96>} : tensor<2x192xf32> -> tensor<2x64xf32>
    %r = llm.add %m#0, %d : tensor<2x64xf32>
    %x = grid.all_gather %r : tensor<2x64xf32> -> tensor<2x96xf32>
    %y = llm.rms_norm %x weight("norm2") eps(1.0e-05) : tensor<2x96xf32>
    %l = llm.linear %y weight("head") format(q8_0) {grid.shard = #grid.shard<64 of 100>} : tensor<2x96xf32> -> tensor<2x64xf32>
    %n = grid.argmax %l vocab(100) : tensor<2x64xf32> -> tensor<2xi32>
    grid.yield %l, %n : tensor<2x64xf32>, tensor<2xi32>
  }
  return %l, %n : tensor<2x64xf32>, tensor<2xi32>
}
