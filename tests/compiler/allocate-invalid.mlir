// What finds no room is refused with what takes it.
// RUN: orrery-opt %s --flow-allocate -split-input-file -verify-diagnostics

// A region lies in one bank.
flow.program machine "lpu-small" model "one region" tokens 1 bucket 64 context 64 {
  // expected-error @+1 {{no room on lpu-small for v (4198400 B: 4100 of the 4096 vectors of a bank in each of 16 slices): weights need 4198400 B of 16777216 B in the weight slices, tables and KV cache 0 B and temporaries 0 B in all of 12582912 B in the data slices, at a context of 64 positions and 1 tokens a step; the place that lacks least has 4096 of 4100 vectors free in 16 slices}}
  %v = flow.region weight "v" rows <64> columns <52480> side 0 : !flow.tiles<820 x 64 rows, q8, width 16>
}

// -----

// Weights lie on the side of their plane: two banks of one group.
flow.program machine "lpu-small" model "one side" tokens 1 bucket 64 context 64 {
  %u = flow.region weight "u" rows <64> columns <51200> side 0 : !flow.tiles<800 x 64 rows, q8, width 16>
  %v = flow.region weight "v" rows <64> columns <51200> side 0 : !flow.tiles<800 x 64 rows, q8, width 16>
  // expected-error @+1 {{no room on lpu-small for w (4096000 B: 4000 of the 4096 vectors of a bank in each of 16 slices): weights need 12288000 B}}
  %w = flow.region weight "w" rows <64> columns <51200> side 0 : !flow.tiles<800 x 64 rows, q8, width 16>
}

// -----

flow.program machine "lpu-small" model "cache" tokens 1 bucket 64 context 64 {
  // expected-error @+1 {{no room on lpu-small for kv.0.k_scale (524416 B: 4097 of the 4096 vectors of a bank in each of 2 slices): weights need 0 B of 16777216 B in the weight slices, tables and KV cache 524416 B and temporaries 0 B in all of 12582912 B in the data slices, at a context of 64 positions and 1 tokens a step; the place that lacks least has 4096 of 4097 vectors free in 2 slices}}
  %k = flow.region kv "kv.0.k_scale" : !flow.buffer<4097 x f16>
}

// -----

flow.program machine "lpu-small" model "temporary" tokens 1 bucket 64 context 64 {
  // expected-error @+1 {{no room on lpu-small for temporary (1280000 B: 5000 of the 4096 vectors of a bank in each of 4 slices)}}
  %k = flow.alloc : !flow.buffer<5000 x f32>
  flow.receive rows <96> %k : !flow.buffer<5000 x f32>
}

// -----

// A hemisphere has 12 data slices.
flow.program machine "lpu-small" model "wide" tokens 1 bucket 64 context 64 {
  // expected-error @+1 {{no room on lpu-small for kv.0.k.0 (4160 B: 5 of the 4096 vectors of a bank in each of 13 slices): weights need 0 B of 16777216 B in the weight slices, tables and KV cache 4160 B and temporaries 0 B in all of 12582912 B in the data slices, at a context of 64 positions and 1 tokens a step; each place is too narrow, or on ports in use at the same time}}
  %k = flow.region kv "kv.0.k.0" side 0 : !flow.tiles<1 x 64 rows, i8, width 13>
}

// -----

// Seven f32 operands read at once need 28 slices, there are 24.
flow.program machine "lpu-small" model "ports" tokens 1 bucket 64 context 64 {
  %a = flow.region table "a" rows <64> : !flow.buffer<1 x f32>
  %b = flow.region table "b" rows <64> : !flow.buffer<1 x f32>
  %c = flow.region table "c" rows <64> : !flow.buffer<1 x f32>
  %d = flow.region table "d" rows <64> : !flow.buffer<1 x f32>
  %e = flow.region table "e" rows <64> : !flow.buffer<1 x f32>
  %f = flow.region table "f" rows <64> : !flow.buffer<1 x f32>
  // expected-error @+1 {{no room on lpu-small for g}}
  %g = flow.region table "g" rows <64> : !flow.buffer<1 x f32>
  %y = flow.alloc : !flow.buffer<1 x f32>
  flow.vector count 1 ins(%a <[1] by [1]> : !flow.buffer<1 x f32>, %b <[1] by [1]> : !flow.buffer<1 x f32>,
                          %c <[1] by [1]> : !flow.buffer<1 x f32>, %d <[1] by [1]> : !flow.buffer<1 x f32>,
                          %e <[1] by [1]> : !flow.buffer<1 x f32>, %f <[1] by [1]> : !flow.buffer<1 x f32>,
                          %g <[1] by [1]> : !flow.buffer<1 x f32>)
      outs(0 to %y <[1] by [1]> : !flow.buffer<1 x f32>) {
    out v6 : f32
  }
}

// -----

// expected-error @+1 {{machine `lpu-9`: neither a preset}}
flow.program machine "lpu-9" model "machine" tokens 1 bucket 64 context 64 {
}
