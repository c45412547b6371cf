// A whole program: two rows times a matrix, placed; addresses are reused once
// a temporary is dead.
// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt %s -mlir-print-op-generic | orrery-opt | FileCheck %s

// CHECK: flow.program machine "lpu-small" model "one matrix" tokens 2 bucket 64 context 128 hash 7 text_base 3 {
flow.program machine "lpu-small" model "one matrix" tokens 2 bucket 64
    context 128 hash 7 text_base 3 {
  %x = flow.alloc place <slice 16 bank 0 base 0> : !flow.buffer<2 x f32>
  flow.receive rows <96> %x : !flow.buffer<2 x f32>
  %q = flow.alloc side 0 place <slice 20 bank 0 base 0> : !flow.buffer<2 x a8>
  flow.vector count 2 ins(%x <[2] by [1]> : !flow.buffer<2 x f32>)
      outs(0 to %q <[2] by [1]> : !flow.buffer<2 x a8>) {
    out v0 : a8
  }
  %l = flow.load side 0 rows 2 inner 1 %q <[2, 1] by [1, 1]> : !flow.buffer<2 x a8>
  %w = flow.region weight "w" rows <64> columns <64> side 0
       place <slice 0 bank 0 base 0> : !flow.tiles<1 x 64 rows, q8, width 16>
  // The place of %x, which is dead.
  %y = flow.alloc place <slice 16 bank 0 base 0> : !flow.buffer<2 x f32>
  flow.matmul plane 0 %l, %w : !flow.tiles<1 x 64 rows, q8, width 16>
      first 0 tiles 1 lanes 0 to 64 outs(%y <[2] by [1]> : !flow.buffer<2 x f32>)
  flow.logits %y vectors 1 vocab 64 : !flow.buffer<2 x f32>
  flow.send %y : !flow.buffer<2 x f32>
}

// CHECK: flow.program machine "lpu-v1" model "" tokens 1 bucket 1 context 1 {
// CHECK-NEXT: }
flow.program machine "lpu-v1" model "" tokens 1 bucket 1 context 1 {
}
