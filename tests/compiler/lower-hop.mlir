// What a stage passes on is spread over its cables: whole tokens if there are as
// many, else parts of each token's row; never two pieces on one.
// RUN: sed 's/TOKENS/3/g; s/CABLES/2/' %s | orrery-opt --flow-lower-stages | FileCheck %s --check-prefix=T3
// RUN: sed 's/TOKENS/2/g; s/CABLES/3/' %s | orrery-opt --flow-lower-stages | FileCheck %s --check-prefix=T2
// RUN: sed 's/TOKENS/1/g; s/CABLES/4/' %s | orrery-opt --flow-lower-stages | FileCheck %s --check-prefix=T1
// RUN: sed 's/TOKENS/1/g; s/CABLES/30000/' %s | not orrery-opt --flow-lower-stages 2>&1 | FileCheck %s --check-prefix=MANY

// T3:      flow.link_send links [1] %[[G:.*]] <[1, 3] by [3, 1]> : !flow.buffer<9 x a8>
// T3-NEXT: flow.link_send links [2] %[[G]] <[2, 3] by [3, 1], offset 3> : !flow.buffer<9 x a8>
// T3-NEXT: }
// T2:      flow.link_send links [1] %[[G:.*]] <[1, 3] by [3, 1]> : !flow.buffer<6 x a8>
// T2-NEXT: flow.link_send links [2] %[[G]] <[1, 3] by [3, 1], offset 3> : !flow.buffer<6 x a8>
// T2-NEXT: }
// T1:      flow.link_send links [1] %[[G:.*]] <[1, 1] by [3, 1]> : !flow.buffer<3 x a8>
// T1-NEXT: flow.link_send links [2] %[[G]] <[1, 1] by [3, 1], offset 1> : !flow.buffer<3 x a8>
// T1-NEXT: flow.link_send links [3] %[[G]] <[1, 1] by [3, 1], offset 2> : !flow.buffer<3 x a8>
// T1-NEXT: }
// MANY: 'grid.stage' op needs 30000 links, a chip of lpu-small has {{[0-9]+}} ports
func.func @step(%ids: tensor<TOKENSxi32>) -> (tensor<TOKENSx100xf32>, tensor<TOKENSxi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = TOKENS : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "hop"} {
  %m = grid.stage chips [0] cables CABLES weights 0 B kv 0 B of 58720256 B -> tensor<TOKENSx192xf32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(100)
       : tensor<TOKENSxi32> -> tensor<TOKENSx256xf32>
    %u = llm.linear %x weight("up") format(q8_0) : tensor<TOKENSx256xf32> -> tensor<TOKENSx192xf32>
    %v = llm.linear %x weight("gate") format(q8_0) : tensor<TOKENSx256xf32> -> tensor<TOKENSx192xf32>
    %g = llm.gated %v, %u : tensor<TOKENSx192xf32>
    grid.yield %g : tensor<TOKENSx192xf32>
  }
  %r:2 = grid.stage chips [1] cables CABLES weights 0 B kv 0 B of 58720256 B -> tensor<TOKENSx100xf32>, tensor<TOKENSxi32> {
    %l = llm.linear %m weight("head") format(q8_0) : tensor<TOKENSx192xf32> -> tensor<TOKENSx100xf32>
    %a = llm.argmax %l : tensor<TOKENSx100xf32> -> tensor<TOKENSxi32>
    grid.yield %l, %a : tensor<TOKENSx100xf32>, tensor<TOKENSxi32>
  }
  return %r#0, %r#1 : tensor<TOKENSx100xf32>, tensor<TOKENSxi32>
}
