// One module for each constraint of types and attributes, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a buffer has at least 1 vector, found 0}}
module @buffer_c1 attributes {t = !flow.buffer<0 x f32>} {}

// -----

// expected-error @+1 {{tiles, rows and width are at least 1, found 1, 16, 0}}
module @tiles_c1 attributes {t = !flow.tiles<1 x 16 rows, q8, width 0>} {}

// -----

// expected-error @+1 {{q4 tiles have a multiple of 16 rows, found 24}}
module @tiles_c2 attributes {t = !flow.tiles<1 x 24 rows, q4, width 16>} {}

// -----

// expected-error @+1 {{an axis has at least 1 element, found 0}}
module @axis_c1 attributes {t = #flow.axis<0>} {}

// -----

// expected-error @+1 {{an axis of 64 elements is not 8 heads of 4 over 4 KV heads}}
module @axis_c2_product attributes {t = #flow.axis<64, heads 8 over 4 of 4>} {}

// -----

// expected-error @+1 {{an axis of 48 elements is not 6 heads of 8 over 4 KV heads}}
module @axis_c2_groups attributes {t = #flow.axis<48, heads 6 over 4 of 8>} {}

// -----

// expected-error @+1 {{access needs one to three extents and as many steps, found 2 and 1}}
module @access_c1 attributes {t = #flow.access<[2, 2] by [1]>} {}

// -----

// expected-error @+1 {{access extents are 1 to 1048576, and steps at most that either way, found 0 by 1}}
module @access_c1_empty attributes {t = #flow.access<[0] by [1]>} {}

// -----

// expected-error @+1 {{found 2 by -1048577}}
module @access_c1_step attributes {t = #flow.access<[2] by [-1048577]>} {}

// -----

// expected-error @+1 {{access lanes 8 to 8 are empty}}
module @access_c2 attributes {t = #flow.access<[1] by [1], lanes 8 to 8>} {}

// -----

// expected-error @+1 {{access token_dim 1 of 1 extents}}
module @access_c3 attributes {t = #flow.access<[1] by [1], token_dim 1>} {}

// -----

// expected-error @+1 {{access is striped and names range lanes}}
module @access_c4 attributes {t = #flow.access<[1] by [1], lanes 0 to 8, stripe 1 step 4>} {}

// -----

// expected-error @+1 {{unknown access field 'nothing'}}
module @access_field attributes {t = #flow.access<[1] by [1], nothing 1>} {}

// -----

// expected-error @+1 {{step has a field that keep does not use}}
module @step_c1 attributes {t = #flow.step<keep v0 below 4 else 0.0 token div 2 mod 2>} {}


// -----

// expected-error @+1 {{step width is at least 1, found 0}}
module @step_c2 attributes {t = #flow.step<splat v0 width 0>} {}

// -----

// expected-error @+1 {{step div and mod are at least 1, found 0, 1}}
module @step_c3 attributes {t = #flow.step<splat v0 width 8 tile div 0 mod 1>} {}

// -----

// expected-error @+1 {{output sum_wide is f32, found a8}}
module @output_c1 attributes {t = #flow.output<v0 : a8 sum_wide>} {}
