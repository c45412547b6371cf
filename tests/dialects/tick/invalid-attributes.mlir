// One piece for each constraint, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{length, stride and runs are at least 1, found 2, 0, 1}}
module attributes {test.shape_c1 = #tick.shape<2 every 0>} {}

// -----

// expected-error @below {{a run takes 5 ticks, the next begins after 4}}
module attributes {test.shape_c2 = #tick.shape<3 every 2, 2 runs every 4>} {}

// -----

// expected-error @below {{extents are at least 1, found 0}}
module attributes {test.address_c1 = #tick.address<0, 0 by 4>} {}

// -----

// expected-error @below {{no step register, but a dynamic step of 3}}
module attributes {test.address_c2 = #tick.address<0, none by 3>} {}

// -----

// expected-error @below {{the lowest address is negative}}
module attributes {test.address_c3 = #tick.address<3, 2 by -1, 2 by -3>} {}

// -----

// expected-error @below {{expected at most three dimensions}}
module attributes {test.address_dimensions = #tick.address<3, 1 by 1, 1 by 1, 1 by 1, 1 by 1>} {}

// -----

// expected-error @below {{the stop is not negative, found -1}}
module attributes {test.out_c1 = #tick.out<east 0 stop -1>} {}

// -----

// expected-error @below {{vectors and vocab are at least 1, found 0, 5}}
module attributes {test.logits_c1 = #tick.logits<slice 4 bank 0 base 12 vectors 0 vocab 5>} {}

// -----

// expected-error @below {{has a field that keep does not use}}
module attributes {test.step_c1 = #tick.step<keep v0 below 4 else 0.0 token div 2 mod 2>} {}

// -----

// expected-error @below {{the width is at least 1, found 0}}
module attributes {test.step_c2 = #tick.step<window v0 width 0>} {}

// -----

// expected-error @below {{div and mod are at least 1, found 0, 2}}
module attributes {test.step_c3 = #tick.step<window v0 width 4 tile div 0 mod 2>} {}

// -----

// expected-error @below {{a reduction gives f32, add_sums also sum}}
module attributes {test.output_c1 = #tick.output<v0 : a8 max>} {}

// -----

// expected-error @below {{invalid stream direction specification: north}}
module attributes {test.stream = #tick.stream<north 0>} {}

// -----

// expected-error @below {{integer value too large}}
module attributes {test.stream_one_byte = #tick.stream<east 256>} {}
