// Over third chips and several cables. A relay takes in what a stage passes on
// and sends it on as it came.
// RUN: orrery-opt %s --flow-lower-stages | FileCheck %s

// The gated rows cross as the next stage's matrix units take them: a8, three
// vectors of two tokens in a piece a cable. The stream is f32.
//
// CHECK-LABEL: flow.program machine "lpu-small" model "relay" tokens 2 bucket 64 context 64 {
// CHECK:      flow.link_send links [1] %[[X:.*]] <[4] by [1]> : !flow.buffer<8 x f32>
// CHECK-NEXT: flow.link_send links [2] %[[X]] <[4] by [1], offset 4> : !flow.buffer<8 x f32>
// CHECK-NEXT: flow.link_send links [1] %[[G:.*]] <[1, 3] by [3, 1]> : !flow.buffer<6 x a8>
// CHECK-NEXT: flow.link_send links [2] %[[G]] <[1, 3] by [3, 1], offset 3> : !flow.buffer<6 x a8>
// CHECK-NEXT: }

// CHECK-LABEL: flow.program machine "lpu-small" model "relay" tokens 2 bucket 64 context 64 {
// CHECK-NEXT: %[[X:.*]] = flow.alloc : !flow.buffer<8 x f32>
// CHECK-NEXT: flow.link_receive link 1 outs (%[[X]] <[4] by [1]>
// CHECK-NEXT: flow.link_receive link 2 outs (%[[X]] <[4] by [1], offset 4>
// CHECK-NEXT: %[[G:.*]] = flow.alloc side 1 : !flow.buffer<6 x a8>
// CHECK-NEXT: flow.link_receive link 1 outs (%[[G]] <[1, 3] by [3, 1]>
// CHECK-NEXT: flow.link_receive link 2 outs (%[[G]] <[1, 3] by [3, 1], offset 3>
// CHECK-NEXT: flow.link_send links [1] %[[X]] <[4] by [1]> : !flow.buffer<8 x f32>
// CHECK-NEXT: flow.link_send links [2] %[[X]] <[4] by [1], offset 4> : !flow.buffer<8 x f32>
// CHECK-NEXT: flow.link_send links [1] %[[G]] <[1, 3] by [3, 1]> : !flow.buffer<6 x a8>
// CHECK-NEXT: flow.link_send links [2] %[[G]] <[1, 3] by [3, 1], offset 3> : !flow.buffer<6 x a8>
// CHECK-NEXT: }

// CHECK-LABEL: flow.program machine "lpu-small" model "relay" tokens 2 bucket 64 context 64 {
// CHECK:      flow.link_receive link 2 outs
// CHECK:      flow.send

// Three kinds of stage, and no more: both relays are one program.
// CHECK-NOT: flow.program
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x100xf32>, tensor<2xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 2 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "relay"} {
  %m:2 = grid.stage chips [0] cables 2 weights 0 B kv 0 B of 58720256 B -> tensor<2x256xf32>, tensor<2x192xf32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(100)
       : tensor<2xi32> -> tensor<2x256xf32>
    %u = llm.linear %x weight("up") format(q8_0) : tensor<2x256xf32> -> tensor<2x192xf32>
    %v = llm.linear %x weight("gate") format(q8_0) : tensor<2x256xf32> -> tensor<2x192xf32>
    %g = llm.gated %v, %u : tensor<2x192xf32>
    grid.yield %x, %g : tensor<2x256xf32>, tensor<2x192xf32>
  }
  %n:2 = grid.stage chips [3] cables 2 weights 0 B kv 0 B of 58720256 B -> tensor<2x256xf32>, tensor<2x192xf32> {
    grid.yield %m#0, %m#1 : tensor<2x256xf32>, tensor<2x192xf32>
  }
  %o:2 = grid.stage chips [2] cables 2 weights 0 B kv 0 B of 58720256 B -> tensor<2x256xf32>, tensor<2x192xf32> {
    grid.yield %n#0, %n#1 : tensor<2x256xf32>, tensor<2x192xf32>
  }
  %r:2 = grid.stage chips [1] cables 2 weights 0 B kv 0 B of 58720256 B -> tensor<2x100xf32>, tensor<2xi32> {
    %d = llm.linear %o#1 weight("down") format(q8_0) : tensor<2x192xf32> -> tensor<2x256xf32>
    %s = llm.add %o#0, %d : tensor<2x256xf32>
    %l = llm.linear %s weight("head") format(q8_0) : tensor<2x256xf32> -> tensor<2x100xf32>
    %a = llm.argmax %l : tensor<2x100xf32> -> tensor<2xi32>
    grid.yield %l, %a : tensor<2x100xf32>, tensor<2xi32>
  }
  return %r#0, %r#1 : tensor<2x100xf32>, tensor<2xi32>
}
