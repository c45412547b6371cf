// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s

// CHECK-LABEL: tick.program @step
tick.program @step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.vector_program @p0 group 4 (f32, f32) {
    v2 = mul v0, v1
    out v2 : f32 sum_wide
  }
  tick.vector_program @ones () {
    v0 = immediate 1.0
    out v0 : f32
    out v0 : a8
  }
  // CHECK: tick.lane_map
  tick.lane_map @m0 [160 to 319, 0 to 158, zero 1]
  // CHECK-NEXT: tick.vector at 900 @p0 count 20 from (east 0, west 4) to (west 0 stop 3){{$}}
  tick.vector at 900 @p0 count 20 from (east 0, west 4) to (west 0 stop 3)
  // CHECK-NEXT: tick.vector at 900 @ones count 1 from () to (west 0 stop 3, east 4 stop 95){{$}}
  tick.vector at 900 @ones count 1 from () to (west 0 stop 3, east 4 stop 95)
  // CHECK-NEXT: tick.permute at 900 sxm 0 lane_map @m0 width 4 count 20 from west 0 to east 0 stop 44{{$}}
  tick.permute at 900 sxm 0 lane_map @m0 width 4 count 20 from west 0 to east 0 stop 44
  // CHECK-NEXT: tick.permute at 950 sxm 1 transpose rows 64 width 1 out_width 16 count 4 from east 0 to west 0 stop 50{{$}}
  tick.permute at 950 sxm 1 transpose rows 64 width 1 out_width 16 count 4 from east 0 to west 0 stop 50
  // CHECK-NEXT: tick.permute at 950 sxm 1 transpose rows 64 width 2 count 4
  tick.permute at 950 sxm 1 transpose rows 64 width 2 count 4 from east 0 to west 0 stop 50
}
