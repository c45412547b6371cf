// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s

// CHECK-LABEL: tick.program @step
tick.program @step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // CHECK-NEXT: tick.load at 500 plane 0 a8 stream 8 base 0 shape <2>{{$}}
  tick.load at 500 plane 0 a8 stream 8 base 0 shape <2>
  // CHECK-NEXT: tick.load at 500 plane 0 f16 stream 8 base 6 shape <2 every 4>{{$}}
  tick.load at 500 plane 0 f16 stream 8 base 6 shape <2 every 4>
  // CHECK-NEXT: tick.install at 640 plane 2 q8 columns 0 to 320 stream 0 width 16 shape <22, 2 runs every 22>{{$}}
  tick.install at 640 plane 2 q8 columns 0 to 320 stream 0 width 16 shape <22, 2 runs every 22>
  // CHECK-NEXT: tick.install at 640 plane 3 q4 columns 32 to 64 stream 0 width 16 shape <2>{{$}}
  tick.install at 640 plane 3 q4 columns 32 to 64 stream 0 width 16 shape <2>
  // CHECK-NEXT: tick.matmul at 700 plane 2 q8 columns 0 to 320 tiles 4 inner 2 rows 1 period 22 base 0 stream 28 stop 45{{$}}
  tick.matmul at 700 plane 2 q8 columns 0 to 320 tiles 4 inner 2 rows 1 period 22 base 0 stream 28 stop 45
  // CHECK-NEXT: tick.matmul at 701 plane 0 f16 columns 0 to 5 tiles 1 inner 1 rows 3 period 0 base 6 stream 28 stop 45{{$}}
  tick.matmul at 701 plane 0 f16 columns 0 to 5 tiles 1 inner 1 rows 3 period 0 base 6 stream 28 stop 45
  // CHECK-NEXT: tick.matmul at 702 plane 2 q8 columns 0 to 32 tiles 1 inner 1 rows 1 period 0 base 0 stream 24 stop 45 sums{{$}}
  tick.matmul at 702 plane 2 q8 columns 0 to 32 tiles 1 inner 1 rows 1 period 0 base 0 stream 24 stop 45 sums
}
