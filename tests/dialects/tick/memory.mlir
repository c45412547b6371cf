// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s

// CHECK-LABEL: tick.program @step
tick.program @step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // CHECK-NEXT: tick.read at 120 slice 28 width 16 bank 0 address <40, 352 by 1> to east 0 stop 95 shape <352>{{$}}
  tick.read at 120 slice 28 width 16 bank 0 address <40, 352 by 1> to east 0 stop 95 shape <352>
  // CHECK-NEXT: tick.write at 482 slice 3 width 4 bank 1 address <40, 2 by 1> from west 8 shape <2>{{$}}
  tick.write at 482 slice 3 width 4 bank 1 address <40, 2 by 1> from west 8 shape <2>
  // CHECK-NEXT: shape <2> mask range lanes 0 to 64{{$}}
  tick.write at 483 slice 3 width 4 bank 1 address <40, 2 by 1> from west 8 shape <2> mask range lanes 0 to 64
  // CHECK-NEXT: address <40, 2 by 1, 2 by -8, chunk by 3> from east 8 shape <4> mask token_lane token_dimension 1{{$}}
  tick.write at 484 slice 3 width 4 bank 1 address <40, 2 by 1, 2 by -8, chunk by 3> from east 8 shape <4> mask token_lane token_dimension 1
  // CHECK-NEXT: shape <2> mask token_span{{$}}
  tick.write at 485 slice 3 width 4 bank 1 address <40, 2 by 1> from west 8 shape <2> mask token_span
  // CHECK-NEXT: tick.write at 486 slice 3 width 16 bank 1 address <40, 2 by 1> from west 8 shape <2> stripe 2 stripe_step 20{{$}}
  tick.write at 486 slice 3 width 16 bank 1 address <40, 2 by 1> from west 8 shape <2> stripe 2 stripe_step 20
}
