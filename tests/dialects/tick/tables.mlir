// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s

// CHECK-LABEL: tick.program @step
tick.program @step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // CHECK-NEXT: tick.region "blk.0.attn_q.weight" weight slice 0 width 16 bank 0 base 40 length 352{{$}}
  tick.region "blk.0.attn_q.weight" weight slice 0 width 16 bank 0 base 40 length 352
  // CHECK-NEXT: tick.region "rope" table slice 0 width 4 bank 1 base 0 length 9{{$}}
  tick.region "rope" table slice 0 width 4 bank 1 base 0 length 9
  // CHECK-NEXT: tick.region "k 0" kv slice 0 width 16 bank 1 base 9 length 20{{$}}
  tick.region "k 0" kv slice 0 width 16 bank 1 base 9 length 20
  // CHECK-NEXT: tick.region "x" temporary slice 20 width 4 bank 1 base 0 length 1 born 0 dies 371{{$}}
  tick.region "x" temporary slice 20 width 4 bank 1 base 0 length 1 born 0 dies 371
  // CHECK-NEXT: tick.region "text" instructions slice 87 width 1 bank 1 base 0 length 4096{{$}}
  tick.region "text" instructions slice 87 width 1 bank 1 base 0 length 4096

  // CHECK-NEXT:  tick.vector_program @p0 group 4 (f32, f32) {
  // CHECK-NEXT:    v2 = mul v0, v1
  // CHECK-NEXT:    out v2 : f32 sum_wide
  // CHECK-NEXT:  }
  tick.vector_program @p0 group 4 (f32, f32) {
    v2 = mul v0, v1
    out v2 : f32 sum_wide
  }
  // CHECK-NEXT:  tick.vector_program @copy (i8) {
  // CHECK-NEXT:    out v0 : f32
  // CHECK-NEXT:  }
  tick.vector_program @copy (i8) {
    out v0 : f32
  }
  // CHECK-NEXT:  tick.vector_program @sums group 2 (sum) {
  // CHECK-NEXT:    out v0 : sum add_sums
  // CHECK-NEXT:    out v0 : f32 add_sums
  // CHECK-NEXT:  }
  tick.vector_program @sums group 2 (sum) {
    out v0 : sum add_sums
    out v0 : f32 add_sums
  }
  // CHECK-NEXT:  tick.vector_program @all (f16) {
  // CHECK-NEXT:    v1 = add v0, v0
  // CHECK-NEXT:    v2 = sub v1, v0
  // CHECK-NEXT:    v3 = div v2, v0
  // CHECK-NEXT:    v4 = max v3, v0
  // CHECK-NEXT:    v5 = exp v4
  // CHECK-NEXT:    v6 = sqrt v5
  // CHECK-NEXT:    v7 = silu v6
  // CHECK-NEXT:    v8 = keep v7 below 64 else 0.000000e+00
  // CHECK-NEXT:    v9 = keep v8 below 0 + position else 0xFF800000 token div 4 mod 2 tile div 1 mod 4
  // CHECK-NEXT:    v10 = window v9 width 64 tile div 1 mod 5
  // CHECK-NEXT:    v11 = splat v10 width 32
  // CHECK-NEXT:    v12 = kv_scale v11 width 32
  // CHECK-NEXT:    v13 = kv_code v12 width 32
  // CHECK-NEXT:    v14 = immediate -1.250000e-01
  // CHECK-NEXT:    v15 = immediate 0.0883883461
  // CHECK-NEXT:    out v13 : i8
  // CHECK-NEXT:    out v14 : a8
  // CHECK-NEXT:    out v15 : f32 argmax
  // CHECK-NEXT:    out v15 : f32 max
  // CHECK-NEXT:  }
  tick.vector_program @all (f16) {
    v1 = add v0, v0
    v2 = sub v1, v0
    v3 = div v2, v0
    v4 = max v3, v0
    v5 = exp v4
    v6 = sqrt v5
    v7 = silu v6
    v8 = keep v7 below 64 else 0.0
    v9 = keep v8 below 0 + position else 0xFF800000 token div 4 mod 2 tile div 1 mod 4
    v10 = window v9 width 64 tile div 1 mod 5
    v11 = splat v10 width 32
    v12 = kv_scale v11 width 32
    v13 = kv_code v12 width 32
    v14 = immediate -0.125
    v15 = immediate 0.0883883461
    out v13 : i8
    out v14 : a8
    out v15 : f32 argmax
    out v15 : f32 max
  }

  // CHECK-NEXT: tick.lane_map @m0 [160 to 319, 0 to 158, zero 1]{{$}}
  tick.lane_map @m0 [160 to 319, 0 to 158, zero 1]
  // CHECK-NEXT: tick.lane_map @spread [0, 40000, 3 to 5, zero 314, 65534]{{$}}
  tick.lane_map @spread [0, 40000, 3, 4, 5, zero 314, 65534]
}
