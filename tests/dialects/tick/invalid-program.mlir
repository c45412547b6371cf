// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{'tick.program' op needs 1 <= tokens <= bucket <= context, found 0, 64, 256}}
tick.program @c1_no_token model "m" hash 7 machine "lpu-v1" tokens 0 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
}

// -----

// expected-error @below {{'tick.program' op needs 1 <= tokens <= bucket <= context, found 65, 64, 256}}
tick.program @c1_more_tokens_than_positions model "m" hash 7 machine "lpu-v1" tokens 65 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
}

// -----

// expected-error @below {{'tick.program' op needs 1 <= tokens <= bucket <= context, found 1, 64, 63}}
tick.program @c1_more_positions_than_room model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 63 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
}

// -----

tick.program @c2_a_table_behind_an_instruction model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{this is before it}}
  tick.send at 5 stream 0 shape <1>
  // expected-error @below {{'tick.lane_map' op belongs before the instructions}}
  tick.lane_map @m0 [0]
}

// -----

tick.program @c2_a_region_behind_a_vector_program model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{this is before it}}
  tick.vector_program @p0 group 4 (f32, f32) {
    out v0 : f32 max
  }
  // expected-error @below {{'tick.region' op belongs before the vector programs}}
  tick.region "x" kv slice 0 width 1 bank 0 base 40 length 1
}

// -----

tick.program @c2_another_op model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'builtin.module' op has no place in a tick.program}}
  builtin.module {
  }
}

// -----

tick.program @c3 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{first here}}
  tick.region "x" weight slice 0 width 1 bank 0 base 40 length 1
  // expected-error @below {{'tick.region' op is a second region "x"}}
  tick.region "x" kv slice 0 width 1 bank 0 base 40 length 1
}

// -----

tick.program @c4 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{this one has 3}}
  tick.lane_map @m0 [0 to 2]
  // expected-error @below {{'tick.lane_map' op has 2 lanes}}
  tick.lane_map @m1 [0, 1]
}

// -----

// expected-error @below {{'tick.program' op ends at tick -1, expected >= 0}}
tick.program @c5_the_end model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends -1 {
}

// -----

tick.program @c5_before_the_start model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.send' op is at tick -1, expected >= 0}}
  tick.send at -1 stream 0 shape <1>
}

// -----

tick.program @c5_order model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{at tick 5}}
  tick.send at 5 stream 0 shape <1>
  // expected-error @below {{'tick.send' op is at tick 4, behind a later one}}
  tick.send at 4 stream 0 shape <1>
}

// -----

tick.program @c6_no_program model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.vector_program @p0 group 4 (f32, f32) {
    out v0 : f32 max
  }
  // expected-error @below {{'tick.vector' op names vector program @p1, which is not in its program}}
  tick.vector at 0 @p1 count 4 from (east 0, east 4) to (east 0 stop 95)
}

// -----

tick.program @c6_not_a_program model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.vector' op names vector program @m0, which is not in its program}}
  tick.vector at 0 @m0 count 4 from (east 0, east 4) to (east 0 stop 95)
}

// -----

tick.program @c6_inputs model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{its program has 2}}
  tick.vector_program @p0 group 4 (f32, f32) {
    out v0 : f32 max
  }
  // expected-error @below {{'tick.vector' op has 1 inputs}}
  tick.vector at 0 @p0 count 4 from (east 0) to (east 0 stop 95)
}

// -----

tick.program @c6_outputs model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{its program has 1}}
  tick.vector_program @p0 group 4 (f32, f32) {
    out v0 : f32 max
  }
  // expected-error @below {{'tick.vector' op has 2 outputs}}
  tick.vector at 0 @p0 count 4 from (east 0, east 4) to (east 0 stop 95, west 0 stop 3)
}

// -----

tick.program @c6_groups model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-note @below {{of 4}}
  tick.vector_program @p0 group 4 (f32, f32) {
    out v0 : f32 max
  }
  // expected-error @below {{'tick.vector' op has count 5, expected whole groups}}
  tick.vector at 0 @p0 count 5 from (east 0, east 4) to (east 0 stop 95)
}

// -----

tick.program @c7 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op names lane map @m1, which is not in its program}}
  tick.permute at 0 sxm 0 lane_map @m1 width 1 count 1 from east 0 to west 0 stop 50
}
