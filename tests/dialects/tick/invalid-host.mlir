// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

tick.program @receive_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.receive' op has stop -1, expected >= 0}}
  tick.receive at 0 stream 0 stop -1 shape <1>
}
