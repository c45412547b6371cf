// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

tick.program @region_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.region' op has at least 1 of width and length, found 0, 1}}
  tick.region "x" weight slice 0 width 0 bank 0 base 40 length 1
}

// -----

tick.program @region_c2_a_temporary_that_never_dies model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.region' op lives in ticks [0, 0), expected 0 <= born < dies}}
  tick.region "x" temporary slice 0 width 1 bank 0 base 40 length 1
}

// -----

tick.program @region_c2_a_temporary_born_before_time model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.region' op lives in ticks [-1, 5), expected 0 <= born < dies}}
  tick.region "x" temporary slice 0 width 1 bank 0 base 40 length 1 born -1 dies 5
}

// -----

tick.program @region_c2_a_weight_that_dies model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.region' op lives in ticks [0, 5), expected no lifetime}}
  tick.region "x" weight slice 0 width 1 bank 0 base 40 length 1 born 0 dies 5
}

// -----

tick.program @vector_program_c1_outputs model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector_program' op has 1 inputs, 0 outputs and 1 values, expected at most 8, 1 to 4, at most 256}}
  tick.vector_program @p0 (f32) {
  }
}

// -----

tick.program @vector_program_c1_inputs model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector_program' op has 9 inputs, 1 outputs and 9 values}}
  tick.vector_program @p0 (i8, i8, i8, i8, i8, i8, i8, i8, i8) {
    out v0 : f32
  }
}

// -----

tick.program @vector_program_c2 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector_program' op has an a8 input, expected f32, f16, i8 or sum}}
  tick.vector_program @p0 (a8) {
    out v0 : f32
  }
}

// -----

tick.program @vector_program_c3_a_step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector_program' op takes v1 to make v1, expected an earlier one}}
  tick.vector_program @p0 (f32) {
    v1 = add v0, v1
    out v1 : f32
  }
}

// -----

tick.program @vector_program_c3_an_output model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector_program' op puts out v1, the last is v0}}
  tick.vector_program @p0 (f32) {
    out v1 : f32
  }
}

// -----

tick.program @vector_program_c4 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector_program' op has groups of at least 1 vector, found 0}}
  tick.vector_program @p0 group 0 (f32) {
    out v0 : f32
  }
}

// -----

tick.program @vector_program_values_are_numbered_in_order model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.vector_program @p0 (f32) {
    // expected-error @below {{expected v1 here}}
    v2 = exp v0
    out v2 : f32
  }
}

// -----

tick.program @vector_program_a_value_is_v_and_a_number model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.vector_program @p0 (f32) {
    // expected-error @below {{expected a value, v0 to v255}}
    v1 = exp x0
    out v1 : f32
  }
}

// -----

tick.program @vector_program_steps_come_first model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.vector_program @p0 (f32) {
    out v0 : f32
    // expected-error @below {{expected 'out' or the end: steps come first}}
    v1 = exp v0
  }
}

// -----

tick.program @vector_program_a_step_checks_its_fields model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.vector_program @p0 (f32) {
    // expected-error @below {{the width is at least 1, found 0}}
    v1 = splat v0 width 0
    out v1 : f32
  }
}

// -----

tick.program @lane_map_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.lane_map' op has at least 1 lane, found none}}
  tick.lane_map @m0 []
}

// -----

tick.program @lane_map_lanes_rise model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{expected rising lanes below 65535}}
  tick.lane_map @m0 [5 to 4]
}

// -----

tick.program @lane_map_65535_is_no_lane model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{expected rising lanes below 65535}}
  tick.lane_map @m0 [65535]
}

// -----

tick.program @vector_program_c5 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector_program' op uses accumulators otherwise than for add_sums}}
  tick.vector_program @p0 (sum, f32) {
    v2 = add v0, v1
    out v2 : f32
  }
}
