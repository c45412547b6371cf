// What cannot be scheduled is refused by name.
// RUN: orrery-opt %s --tick-schedule -split-input-file -verify-diagnostics

flow.program machine "lpu-small" model "unplaced" tokens 1 bucket 64 context 64 {
  // expected-error @+1 {{has no place: run --flow-allocate first}}
  %x = flow.alloc : !flow.buffer<1 x f32>
  flow.receive rows <96> %x : !flow.buffer<1 x f32>
}

// -----

// Plane 2 is the first of the east.
flow.program machine "lpu-small" model "wrong side" tokens 1 bucket 64 context 64 {
  %x = flow.alloc place <slice 36 bank 0 base 0> : !flow.buffer<1 x f16>
  %t = flow.region table "t" rows <64> place <slice 28 bank 0 base 0> : !flow.buffer<1 x f32>
  flow.vector count 1 ins(%t <[1] by [1]> : !flow.buffer<1 x f32>)
      outs(0 to %x <[1] by [1]> : !flow.buffer<1 x f16>) {
    out v0 : f16
  }
  // expected-note @+1 {{the load}}
  %l = flow.load side 0 rows 1 inner 1 %x <[1] by [1]> : !flow.buffer<1 x f16>
  %w = flow.region weight "w" rows <64> columns <64> side 0
       place <slice 0 bank 0 base 0> : !flow.tiles<1 x 64 rows, f16, width 16>
  %y = flow.alloc place <slice 16 bank 1 base 8> : !flow.buffer<1 x f32>
  // expected-error @+1 {{plane 2 of 4 is not on the side that the rows were loaded on}}
  flow.matmul plane 2 %l, %w : !flow.tiles<1 x 64 rows, f16, width 16>
      first 0 tiles 1 lanes 0 to 64 outs(%y <[1] by [1]> : !flow.buffer<1 x f32>)
}

// -----

// Two operands in one slice need its one read port in the same cycle.
// expected-error @+1 {{schedule does not verify: mem28.read: read of gang 0 (tick 3) meets read of gang 0 (tick 3) at 3}}
flow.program machine "lpu-small" model "one port" tokens 1 bucket 64 context 64 {
  %s = flow.region table "s" rows <64> place <slice 28 bank 0 base 0> : !flow.buffer<1 x f32>
  %t = flow.region table "t" rows <64> place <slice 28 bank 0 base 1> : !flow.buffer<1 x f32>
  %y = flow.alloc place <slice 16 bank 1 base 8> : !flow.buffer<1 x f32>
  flow.vector count 1 ins(%s <[1] by [1]> : !flow.buffer<1 x f32>, %t <[1] by [1]> : !flow.buffer<1 x f32>)
      outs(0 to %y <[1] by [1]> : !flow.buffer<1 x f32>) {
    v2 = add v0, v1
    out v2 : f32
  }
  flow.send %y : !flow.buffer<1 x f32>
}

// -----

// expected-error @+1 {{machine `lpu-9`: neither a preset}}
flow.program machine "lpu-9" model "machine" tokens 1 bucket 64 context 64 {
}
