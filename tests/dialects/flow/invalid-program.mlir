// One program for each constraint that takes a program to break; its model is
// named after the label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{(C1) needs 1 <= tokens <= bucket <= context, found 0, 64, 128}}
flow.program machine "lpu-small" model "program_c1" tokens 0 bucket 64 context 128 {
}

// -----

// expected-error @+1 {{found 65, 64, 128}}
flow.program machine "lpu-small" model "program_c1_bucket" tokens 65 bucket 64 context 128 {
}

// -----

// expected-error @+1 {{found 1, 64, 32}}
flow.program machine "lpu-small" model "program_c1_context" tokens 1 bucket 64 context 32 {
}

// -----

flow.program machine "lpu-small" model "program_c2" tokens 2 bucket 64 context 128 {
  // expected-error @+1 {{(C2) is no op of a flow.program's body}}
  grid.stage chips [0] weights 0 B kv 0 B of 0 B {
    grid.yield
  }
}

// -----

flow.program machine "lpu-small" model "program_c3_twice" tokens 2 bucket 64 context 128 {
  %x = flow.alloc : !flow.buffer<2 x f32>
  flow.receive rows <96> %x : !flow.buffer<2 x f32>
  %y = flow.alloc : !flow.buffer<2 x f32>
  flow.vector count 2 ins(%x <[2] by [1]> : !flow.buffer<2 x f32>)
      outs(0 to %y <[2] by [1], lanes 0 to 32> : !flow.buffer<2 x f32>) {
    out v0 : f32
  }
  flow.vector count 1 ins(%x <[1] by [1]> : !flow.buffer<2 x f32>)
      outs(0 to %y <[1] by [1], lanes 32 to 64> : !flow.buffer<2 x f32>) {
    out v0 : f32
  }
  // expected-error @+1 {{(C3) writes lanes of vector 1 of a temporary a second time}}
  flow.vector count 1 ins(%x <[1] by [1]> : !flow.buffer<2 x f32>)
      outs(0 to %y <[1] by [1], offset 1, lanes 31 to 64> : !flow.buffer<2 x f32>) {
    out v0 : f32
  }
}

// -----

flow.program machine "lpu-small" model "program_c3_unwritten" tokens 2 bucket 64 context 128 {
  %x = flow.alloc : !flow.buffer<2 x f32>
  flow.receive rows <96> %x : !flow.buffer<2 x f32>
  // expected-note @+1 {{the temporary}}
  %y = flow.alloc : !flow.buffer<2 x f32>
  flow.vector count 1 ins(%x <[1] by [1]> : !flow.buffer<2 x f32>)
      outs(0 to %y <[1] by [1]> : !flow.buffer<2 x f32>) {
    out v0 : f32
  }
  // expected-error @+1 {{(C3) reads vector 1 of a temporary that no earlier op wrote}}
  flow.send %y : !flow.buffer<2 x f32>
}

// -----

flow.program machine "lpu-small" model "program_c4_lasting" tokens 2 bucket 64 context 128 {
  // expected-note @+1 {{the other}}
  %v = flow.region weight "v" rows <64> columns <64> side 0 place <slice 0 bank 0 base 0>
     : !flow.tiles<1 x 64 rows, q4, width 16>
  // expected-error @+1 {{(C4) shares address 2 of slice 7 bank 0 with another that is live}}
  %k = flow.region kv "kv" side 0 place <slice 7 bank 0 base 2>
     : !flow.tiles<1 x 8 rows, i8, width 8>
}

// -----

flow.program machine "lpu-small" model "program_c4_temporaries" tokens 2 bucket 64 context 128 {
  // expected-note @+1 {{the other}}
  %x = flow.alloc place <slice 17 bank 0 base 0> : !flow.buffer<2 x f32>
  flow.receive rows <96> %x : !flow.buffer<2 x f32>
  // expected-error @+1 {{(C4) shares address 1 of slice 17 bank 0 with another that is live}}
  %y = flow.alloc place <slice 16 bank 0 base 1> : !flow.buffer<2 x f16>
  flow.vector count 2 ins(%x <[2] by [1]> : !flow.buffer<2 x f32>)
      outs(0 to %y <[2] by [1]> : !flow.buffer<2 x f16>) {
    out v0 : f16
  }
}

// -----

flow.program machine "lpu-small" model "vector_c7_position" tokens 2 bucket 64 context 128 {
  %t = flow.region table "norm" rows <64> : !flow.buffer<64 x f32>
  %y = flow.alloc : !flow.buffer<2 x f32>
  // expected-error @+1 {{(C7) touches vectors 0 to 64 of 64}}
  flow.vector count 2 ins(%t <[2] by [1], position 1> : !flow.buffer<64 x f32>)
      outs(0 to %y <[2] by [1]> : !flow.buffer<2 x f32>) {
    out v0 : f32
  }
}

// -----

flow.program machine "lpu-small" model "receive_c2" tokens 2 bucket 64 context 128 {
  %x = flow.alloc : !flow.buffer<3 x f32>
  // expected-error @+1 {{(C2) 3 vectors for 2 tokens}}
  flow.receive rows <96> %x : !flow.buffer<3 x f32>
}

// -----

flow.program machine "lpu-small" model "logits_c2_tokens" tokens 2 bucket 64 context 128 {
  %x = flow.region table "t" rows <192> : !flow.buffer<3 x f32>
  // expected-error @+1 {{(C2) 100 logits in 2 vectors a token do not match a buffer of 3}}
  flow.logits %x vectors 2 vocab 100 : !flow.buffer<3 x f32>
}
