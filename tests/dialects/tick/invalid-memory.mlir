// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

tick.program @read_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.read' op takes at least 1 slice, found width 0}}
  tick.read at 0 slice 28 width 0 bank 0 address <0> to east 0 stop 95 shape <1>
}

// -----

tick.program @read_c2 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.read' op has 6 addresses for 8 vectors}}
  tick.read at 0 slice 28 width 1 bank 0 address <0, 3 by 1, 2 by 8> to east 0 stop 95 shape <2, 4 runs every 9>
}

// -----

tick.program @write_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.write' op takes at least 1 slice, found width 0}}
  tick.write at 0 slice 28 width 0 bank 0 address <0> from east 0 shape <1>
}

// -----

tick.program @write_c2 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.write' op has 1 addresses for 2 vectors}}
  tick.write at 0 slice 28 width 1 bank 0 address <0> from east 0 shape <2>
}

// -----

tick.program @write_c3_an_empty_range model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.write' op has mask range with lanes 5 to 5}}
  tick.write at 0 slice 28 width 1 bank 0 address <0> from east 0 shape <1> mask range lanes 5 to 5
}

// -----

tick.program @write_c3_lanes_without_a_range model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.write' op has mask token_lane with lanes 0 to 5}}
  tick.write at 0 slice 28 width 1 bank 0 address <0> from east 0 shape <1> mask token_lane lanes 0 to 5
}

// -----

tick.program @write_c4 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.write' op has token_dimension 3, expected 0 to 2}}
  tick.write at 0 slice 28 width 1 bank 0 address <0> from east 0 shape <1> mask token_lane token_dimension 3
}

// -----

tick.program @write_c5 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.write' op has a stripe_step but no stripe}}
  tick.write at 0 slice 28 width 1 bank 0 address <0> from east 0 shape <1> stripe_step 4
}

// -----

tick.program @write_c6 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.write' op has stripes and mask token_span, expected all or range}}
  tick.write at 0 slice 28 width 1 bank 0 address <0> from east 0 shape <1> mask token_span stripe 2
}

// -----

// expected-error @below {{'tick.read' op expects parent op 'tick.program'}}
tick.read at 0 slice 28 width 1 bank 0 address <0> to east 0 stop 95 shape <1>
