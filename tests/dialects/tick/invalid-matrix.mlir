// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

tick.program @load_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.load' op loads a8 or f16, found i8}}
  tick.load at 0 plane 0 i8 stream 8 base 0 shape <2>
}

// -----

tick.program @load_c2 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.load' op loads entry 65536, expected < 65536}}
  tick.load at 0 plane 0 a8 stream 8 base 65535 shape <2>
}

// -----

tick.program @install_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.install' op has columns 64 to 64, expected low < high}}
  tick.install at 0 plane 0 i8 columns 64 to 64 stream 0 width 16 shape <22>
}

// -----

tick.program @install_c2 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.install' op takes at least 1 stream, found width 0}}
  tick.install at 0 plane 0 i8 columns 0 to 64 stream 0 width 0 shape <22>
}

// -----

tick.program @install_c3_q8 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.install' op has 24 rows in q8, expected a multiple of 16}}
  tick.install at 0 plane 0 q8 columns 0 to 24 stream 0 width 16 shape <22>
}

// -----

tick.program @install_c3_q4 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.install' op has 24 rows in q4, expected a multiple of 16}}
  tick.install at 0 plane 0 q4 columns 8 to 32 stream 0 width 16 shape <22>
}

// -----

tick.program @install_c4 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.install' op has runs of 21 cycles, a tile takes 22}}
  tick.install at 0 plane 0 q8 columns 0 to 320 stream 0 width 16 shape <21, 2 runs every 22>
}

// -----

tick.program @matmul_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.matmul' op has columns 5 to 4, expected low < high}}
  tick.matmul at 0 plane 0 i8 columns 5 to 4 tiles 1 inner 1 rows 1 period 0 base 0 stream 28 stop 45
}

// -----

tick.program @matmul_c2 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.matmul' op has at least 1 of tiles, inner and rows, found 1, 0, 1}}
  tick.matmul at 0 plane 0 i8 columns 0 to 4 tiles 1 inner 0 rows 1 period 0 base 0 stream 28 stop 45
}

// -----

tick.program @matmul_c3 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.matmul' op starts a pass every 2 ticks, one takes at least 3}}
  tick.matmul at 0 plane 0 i8 columns 0 to 4 tiles 1 inner 2 rows 3 period 2 base 0 stream 28 stop 45
}

// -----

tick.program @matmul_c4 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.matmul' op has 8 rows in q8, expected a multiple of 16}}
  tick.matmul at 0 plane 0 q8 columns 0 to 8 tiles 1 inner 1 rows 3 period 0 base 0 stream 28 stop 45
}

// -----

tick.program @matmul_c5 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.matmul' op has stop -1, expected >= 0}}
  tick.matmul at 0 plane 0 i8 columns 0 to 8 tiles 1 inner 1 rows 3 period 0 base 0 stream 28 stop -1
}
