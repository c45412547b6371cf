// RUN: orrery-translate --tick-to-program %s -o %t.orrery
// RUN: orrery-translate --program-to-tick %t.orrery | FileCheck %s
// RUN: orrery-translate --program-to-tick %t.orrery | orrery-translate --tick-to-program -o %t.again
// RUN: cmp %t.orrery %t.again
// RUN: not orrery-translate --program-to-tick %s 2>&1 | FileCheck %s --check-prefix=OTHER

// OTHER: error: program `{{.*}}translate.mlir`: expected a program file

// CHECK:      tick.program @step model "stories" hash 7 machine "lpu-v1"
// CHECK-SAME:   tokens 1 bucket 64 context 256 input_vectors 1
// CHECK-SAME:   logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
// CHECK-NEXT:   tick.region "x" temporary slice 20 width 4 bank 1 base 0 length 1 born 300 dies 371
// CHECK:        tick.vector_program @p0 (f32) {
// CHECK-NEXT:     v1 = silu v0
// CHECK-NEXT:     out v1 : f32
// CHECK-NEXT:   }
// CHECK:        tick.receive at 300 stream 0 stop 44 shape <1> loc(#[[embed:.*]])
// CHECK-NEXT:   tick.vector at 700 @p0 count 1 from (east 0) to (east 4 stop 95) loc(#[[silu:.*]])
// CHECK-NEXT:   tick.send at 800 stream 4 shape <1> loc(#[[silu]])
// CHECK-DAG:  #[[embed]] = loc("layer 0 embed")
// CHECK-DAG:  #[[silu]] = loc("layer 0 silu")
tick.program @decode model "stories" hash 7 machine "lpu-v1"
    tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.region "x" temporary slice 20 width 4 bank 1 base 0 length 1 born 300 dies 371
  tick.vector_program @silu (f32) {
    v1 = silu v0
    out v1 : f32
  }
  tick.receive at 300 stream 0 stop 44 shape <1> loc("layer 0 embed")
  tick.vector at 700 @silu count 1 from (east 0) to (east 4 stop 95) loc("layer 0 silu")
  tick.send at 800 stream 4 shape <1> loc("layer 0 silu")
}
