// Every attribute and type prints what it parses.
// RUN: orrery-opt %s | orrery-opt | FileCheck %s

// CHECK: flow.types = [!flow.buffer<40 x f32>, !flow.buffer<1 x f16>, !flow.buffer<2 x i8>, !flow.buffer<3 x a8>]
module attributes {flow.types = [!flow.buffer<40 x f32>, !flow.buffer<1 x f16>,
    !flow.buffer<2 x i8>, !flow.buffer<3 x a8>]} {}

// CHECK: flow.types = [!flow.tiles<26 x 320 rows, q8, width 16>, !flow.tiles<1 x 32 rows, q4, width 16>, !flow.tiles<8 x 7 rows, i8, width 8>, !flow.tiles<2 x 5 rows, f16, width 1>, !flow.loaded]
module attributes {flow.types = [!flow.tiles<26 x 320 rows, q8, width 16>,
    !flow.tiles<1 x 32 rows, q4, width 16>, !flow.tiles<8 x 7 rows, i8, width 8>,
    !flow.tiles<2 x 5 rows, f16, width 1>, !flow.loaded]} {}

// CHECK: flow.places = [#flow.place<slice 20 bank 1 base 40>, #flow.axis<4096>, #flow.axis<4096, heads 32 over 8 of 128>]
module attributes {flow.places = [#flow.place<slice 20 bank 1 base 40>,
    #flow.axis<4096>, #flow.axis<4096, heads 32 over 8 of 128>]} {}

// CHECK: flow.accesses = [#flow.access<[4] by [1]>,
// CHECK-SAME: #flow.access<[3, 4, 2] by [1, 8, -2], offset 2, position 4, lanes 0 to 64, token_dim 1>,
// CHECK-SAME: #flow.access<[2] by [0], chunk 4, token_lane>,
// CHECK-SAME: #flow.access<[2] by [0], token_span>,
// CHECK-SAME: #flow.access<[2] by [0], stripe 1 step 20>]
module attributes {flow.accesses = [#flow.access<[4] by [1]>,
    #flow.access<[3, 4, 2] by [1, 8, -2], offset 2, position 4, lanes 0 to 64, token_dim 1>,
    #flow.access<[2] by [0], chunk 4, token_lane>,
    #flow.access<[2] by [0], token_span>,
    #flow.access<[2] by [0], stripe 1 step 20>]} {}

// CHECK: flow.steps = [#flow.step<mul v0, v1>, #flow.step<exp v4>,
// CHECK-SAME: #flow.step<immediate -1.250000e-01>,
// CHECK-SAME: #flow.step<keep v3 below 64 else 0.000000e+00 tile div 1 mod 4>,
// CHECK-SAME: #flow.step<keep v3 below 0 + position else 0xFF800000 token div 4 mod 2>,
// CHECK-SAME: #flow.step<window v9 width 64>,
// CHECK-SAME: #flow.step<splat v8 width 32 tile div 2 mod 4>,
// CHECK-SAME: #flow.step<kv_scale v1 width 32>, #flow.step<kv_code v1 width 32>]
module attributes {flow.steps = [#flow.step<mul v0, v1>, #flow.step<exp v4>,
    #flow.step<immediate -0.125>,
    #flow.step<keep v3 below 64 else 0.0 tile div 1 mod 4>,
    #flow.step<keep v3 below 0 + position else 0xFF800000 token div 4 mod 2>,
    #flow.step<window v9 width 64>, #flow.step<splat v8 width 32 tile div 2 mod 4>,
    #flow.step<kv_scale v1 width 32>, #flow.step<kv_code v1 width 32>]} {}

// CHECK: flow.outputs = [#flow.output<v4 : a8>, #flow.output<v2 : f32 sum_wide>, #flow.output<v2 : f32 argmax>]
module attributes {flow.outputs = [#flow.output<v4 : a8>,
    #flow.output<v2 : f32 sum_wide>, #flow.output<v2 : f32 argmax>]} {}
