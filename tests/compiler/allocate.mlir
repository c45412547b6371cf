// Every buffer and region gets a place. The program's own verifier says that no
// two live ones share an address; here: which slices they may take.
// RUN: orrery-opt %s --flow-allocate | FileCheck %s

// On lpu-small a hemisphere has 28 slices: 12 data slices next to the VXM (16
// to 27 west, 28 to 39 east) and one weight group of 16 beyond (0 and 40).
//
// CHECK-LABEL: model "places"
flow.program machine "lpu-small" model "places" tokens 2 bucket 64 context 64 {
  // An f32 buffer takes four data slices of one hemisphere, aligned; temporaries
  // from the first bank up.
  // CHECK: %[[X:.*]] = flow.alloc place <slice {{16|20|24|28|32|36}} bank 0 base 0> : !flow.buffer<2 x f32>
  %x = flow.alloc : !flow.buffer<2 x f32>
  flow.receive rows <96> %x : !flow.buffer<2 x f32>
  // What lasts comes from the last bank down.
  // CHECK: flow.region table "norm" rows <64> place <slice {{16|20|24|28|32|36}} bank 1 base 0>
  %t = flow.region table "norm" rows <64> : !flow.buffer<1 x f32>
  // CHECK: flow.alloc side 0 place <slice {{16|18|20|22|24|26}} bank 0
  // CHECK: flow.alloc side 1 place <slice {{28|30|32|34|36|38}} bank 0
  %q = flow.alloc side 0 : !flow.buffer<2 x a8>
  %r = flow.alloc side 1 : !flow.buffer<2 x a8>
  flow.vector count 2 ins(%x <[2] by [1]> : !flow.buffer<2 x f32>,
                          %t <[2] by [0]> : !flow.buffer<1 x f32>)
      outs(0 to %q <[2] by [1]> : !flow.buffer<2 x a8>,
           1 to %r <[2] by [1]> : !flow.buffer<2 x a8>) {
    v2 = mul v0, v1
    out v2 : a8
    out v2 : a8
  }
  %l = flow.load side 0 rows 2 inner 1 %q <[2] by [1]> : !flow.buffer<2 x a8>
  %m = flow.load side 1 rows 2 inner 1 %r <[2] by [1]> : !flow.buffer<2 x a8>
  // Weights: the group of their side, one after another (5 addresses a tile).
  // CHECK: flow.region weight "v" {{.*}} side 0 place <slice 0 bank 0 base 0>
  // CHECK: flow.region weight "v" {{.*}} first 1 side 1 place <slice 40 bank 0 base 0>
  // CHECK: flow.region weight "w" {{.*}} side 0 place <slice 0 bank 0 base 5>
  %v0 = flow.region weight "v" rows <128> columns <64> side 0 : !flow.tiles<1 x 64 rows, q8, width 16>
  %v1 = flow.region weight "v" rows <128> columns <64> first 1 side 1 : !flow.tiles<1 x 64 rows, q8, width 16>
  %w0 = flow.region weight "w" rows <64> columns <64> side 0 : !flow.tiles<1 x 64 rows, q8, width 16>
  %y = flow.alloc : !flow.buffer<4 x f32>
  flow.matmul plane 0 %l, %v0 : !flow.tiles<1 x 64 rows, q8, width 16>
      first 0 tiles 1 lanes 0 to 64 outs(%y <[2] by [2]> : !flow.buffer<4 x f32>)
  flow.matmul plane 2 %m, %v1 : !flow.tiles<1 x 64 rows, q8, width 16>
      first 0 tiles 1 lanes 0 to 64 outs(%y <[2] by [2], offset 1> : !flow.buffer<4 x f32>)
  flow.logits %y vectors 2 vocab 128 : !flow.buffer<4 x f32>
  flow.send %y : !flow.buffer<4 x f32>
}

// Six f32 buffers take 24 data slices, all there are: what one op reads and
// writes never shares a slice's port, so five reads and a write use them all,
// or the write another bank.
//
// CHECK-LABEL: model "ports"
// CHECK-COUNT-6: flow.alloc place <slice
flow.program machine "lpu-small" model "ports" tokens 1 bucket 64 context 64 {
  %a = flow.alloc : !flow.buffer<1 x f32>
  flow.receive rows <96> %a : !flow.buffer<1 x f32>
  %b = flow.alloc : !flow.buffer<1 x f32>
  %c = flow.alloc : !flow.buffer<1 x f32>
  %d = flow.alloc : !flow.buffer<1 x f32>
  flow.vector count 1 ins(%a <[1] by [1]> : !flow.buffer<1 x f32>)
      outs(0 to %b <[1] by [1]> : !flow.buffer<1 x f32>,
           1 to %c <[1] by [1]> : !flow.buffer<1 x f32>,
           2 to %d <[1] by [1]> : !flow.buffer<1 x f32>) {
    out v0 : f32
    out v0 : f32
    out v0 : f32
  }
  %e = flow.alloc : !flow.buffer<1 x f32>
  %f = flow.alloc : !flow.buffer<1 x f32>
  flow.vector count 1 ins(%a <[1] by [1]> : !flow.buffer<1 x f32>,
                          %b <[1] by [1]> : !flow.buffer<1 x f32>,
                          %c <[1] by [1]> : !flow.buffer<1 x f32>,
                          %d <[1] by [1]> : !flow.buffer<1 x f32>)
      outs(0 to %e <[1] by [1]> : !flow.buffer<1 x f32>,
           1 to %f <[1] by [1]> : !flow.buffer<1 x f32>) {
    v4 = add v0, v1
    v5 = add v2, v3
    out v4 : f32
    out v5 : f32
  }
  flow.send %e : !flow.buffer<1 x f32>
}
