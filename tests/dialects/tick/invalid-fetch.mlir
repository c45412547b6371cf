// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

tick.program @fetch_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.fetch' op has queue vector 1, expected number 0}}
  tick.fetch at 0 queue vector 1 from slice 3 bank 1 address 40
}

// -----

tick.program @queue_kind model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{invalid instruction queue specification: vxm}}
  tick.fetch at 0 queue vxm 0 from slice 3 bank 1 address 40
}
