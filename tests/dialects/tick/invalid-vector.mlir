// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

tick.program @vector_c1_driven model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector' op takes 0 and drives 0 stream groups, expected at most 8 and 1 to 4}}
  tick.vector at 0 @p0 count 1 from () to ()
}

// -----

tick.program @vector_c1_taken model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector' op takes 9 and drives 1 stream groups, expected at most 8 and 1 to 4}}
  tick.vector at 0 @p0 count 1 from (east 0, east 0, east 0, east 0, east 0, east 0, east 0, east 0, east 0) to (east 0 stop 95)
}

// -----

tick.program @vector_c2 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // expected-error @below {{'tick.vector' op takes at least 1 vector, found count 0}}
  tick.vector at 0 @p0 count 0 from () to (east 0 stop 95)
}

// -----

tick.program @permute_c1 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op has at least 1 of width, out_width and count, found 1, 1, 0}}
  tick.permute at 0 sxm 0 lane_map @m0 width 1 count 0 from east 0 to west 0 stop 50
}

// -----

tick.program @permute_c2_no_map model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op by lane_map names no lane map}}
  tick.permute at 0 sxm 0 lane_map width 1 count 1 from east 0 to west 0 stop 50
}

// -----

tick.program @permute_c2_a_map model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op by transpose names a lane map}}
  tick.permute at 0 sxm 0 transpose @m0 rows 4 width 1 count 1 from east 0 to west 0 stop 50
}

// -----

tick.program @permute_c3_rows_of_a_lane_map model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op has 2 rows and out_width 1, expected 0 and 1 or width}}
  tick.permute at 0 sxm 0 lane_map @m0 rows 2 width 1 count 1 from east 0 to west 0 stop 50
}

// -----

tick.program @permute_c3_out_width_of_a_lane_map model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op has 0 rows and out_width 2, expected 0 and 1 or width}}
  tick.permute at 0 sxm 0 lane_map @m0 width 4 out_width 2 count 1 from east 0 to west 0 stop 50
}

// -----

tick.program @permute_c3_no_rows model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op has 0 rows and out_width 4, expected rows >= 1}}
  tick.permute at 0 sxm 0 transpose width 1 out_width 4 count 1 from east 0 to west 0 stop 50
}

// -----

tick.program @permute_c4 model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.lane_map @m0 [0 to 31]
  // expected-error @below {{'tick.permute' op is on sxm 2, expected 0 or 1}}
  tick.permute at 0 sxm 2 lane_map @m0 width 1 count 1 from east 0 to west 0 stop 50
}
