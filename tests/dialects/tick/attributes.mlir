// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s

// CHECK: test.shapes = [#tick.shape<22>, #tick.shape<22 every 2>, #tick.shape<22 every 2, 4 runs every 60>, #tick.shape<1 every 5, 1 runs every 3>]
module attributes {test.shapes = [#tick.shape<22>, #tick.shape<22 every 2>, #tick.shape<22 every 2, 4 runs every 60>, #tick.shape<1 every 5, 1 runs every 3>]} {}

// CHECK: test.addresses = [#tick.address<4294967295>, #tick.address<40, 352 by 1>, #tick.address<40, 3 by -2, 1 by 0, 2 by 7>, #tick.address<0, position by 4>, #tick.address<0, 5 by 1, chunk by 0>]
module attributes {test.addresses = [#tick.address<4294967295>, #tick.address<40, 352 by 1>, #tick.address<40, 3 by -2, 1 by 0, 2 by 7>, #tick.address<0, position by 4>, #tick.address<0, 5 by 1, chunk by 0>]} {}

// CHECK: test.streams = [#tick.stream<east 4>, #tick.stream<west 255>, #tick.out<east 4 stop 95>]
module attributes {test.streams = [#tick.stream<east 4>, #tick.stream<west 255>, #tick.out<east 4 stop 95>]} {}

// CHECK: test.logits = #tick.logits<slice 4 bank 0 base 12 vectors 2 vocab 512>
module attributes {test.logits = #tick.logits<slice 4 bank 0 base 12 vectors 2 vocab 512>} {}

// CHECK: test.steps = [#tick.step<max v0, v1>, #tick.step<keep v3 below 7 + position else -0.000000e+00 token div 1 mod 2>, #tick.step<immediate 0x7FC00001>]
module attributes {test.steps = [#tick.step<max v0, v1>, #tick.step<keep v3 below 7 + position else -0.0 token div 1 mod 2>, #tick.step<immediate 0x7FC00001>]} {}

// CHECK: test.outputs = [#tick.output<v255 : f16>, #tick.output<v3 : f32 sum_exact>]
module attributes {test.outputs = [#tick.output<v255 : f16>, #tick.output<v3 : f32 sum_exact>]} {}
