// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-debuginfo %s | orrery-opt --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// CHECK:      tick.program @step model "stories" hash 18446744073709551615 machine "lpu-v1"
// CHECK-SAME:   tokens 1 bucket 64 context 256 input_vectors 1
// CHECK-SAME:   logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
// CHECK-NEXT:   tick.region "x"
// CHECK-NEXT:   tick.vector_program @p0
// CHECK:        tick.lane_map @m0
// CHECK-NEXT:   tick.receive at 300
// CHECK-NEXT:   tick.send at 800
// CHECK-NEXT: }

// LOC: tick.receive at 300 stream 0 stop 44 shape <1> loc(#[[embed:.*]])
// LOC: tick.send at 800 stream 0 shape <1> loc(#[[logits:.*]])
// LOC-DAG: #[[embed]] = loc("layer 0 embed")
// LOC-DAG: #[[logits]] = loc("logits")
tick.program @step model "stories" hash 18446744073709551615 machine "lpu-v1"
    tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  tick.region "x" temporary slice 20 width 4 bank 1 base 0 length 1 born 300 dies 371
  tick.vector_program @p0 (f32) {
    v1 = silu v0
    out v1 : f32
  }
  tick.lane_map @m0 [160 to 319, 0 to 159]
  tick.receive at 300 stream 0 stop 44 shape <1> loc("layer 0 embed")
  tick.send at 800 stream 0 shape <1> loc("logits")
}

// CHECK: tick.program @other
// CHECK-SAME: attributes {note = "unused by the encoder"} {
tick.program @other model "" hash 0 machine "{}" tokens 4 bucket 4 context 4 input_vectors 0
    logits <slice 0 bank 1 base 0 vectors 1 vocab 1> ends 0 attributes {note = "unused by the encoder"} {
}
