// A placed program becomes instructions at their ticks. The numbers follow from
// lpu-small: 2 planes, a SXM, 28 slices, the VXM at position 31, and so on
// eastward to the host port at 63.
// RUN: orrery-opt %s --tick-schedule | FileCheck %s
// RUN: orrery-opt %s --tick-schedule | orrery-translate --tick-to-program | orrery-translate --program-to-tick | FileCheck %s --check-prefix=FILE

// FILE: tick.program @step model "one matrix" hash 7 machine "lpu-small" tokens 2 bucket 64 context 64 input_vectors 1

// CHECK:      tick.program @step model "one matrix" hash 7
// CHECK-SAME: tokens 2 bucket 64 context 64 input_vectors 1
// CHECK-SAME: logits <slice 16 bank 1 base 8 vectors 1 vocab 64> ends [[END:[0-9]+]]
// CHECK-SAME: schedule.busiest = {{[0-9]+}} : i64
// CHECK-SAME: schedule.busiest_resource = "{{.*}}"
// CHECK-SAME: schedule.critical_path = {{[0-9]+}} : i64
// Lifetimes: from the first write to the tick after the last read, over all
// slices of the buffer.
// CHECK:      tick.region "tmp.0" temporary slice 36 width 4 bank 0 base 0 length 2 born 920 dies 966
// CHECK:      tick.region "w[0,0]" weight slice 0 width 16 bank 0 base 0 length 5
// CHECK:      tick.region "instructions.{{.*}}" instructions
// The host's first vector is there at tick 900 and moves west from position 63
// to slice 39 at 43 and slice 36 at 40; an f32 vector is four of the link.
// CHECK:      tick.receive at 900 stream [[H:[0-9]+]] stop 40 shape <2 every 40>
// CHECK-NEXT: tick.write at 923 slice 36 width 4 bank 0 address <0, 2 by 1> from west [[H]] shape <2 every 40>
// The second of the two is written at 963 and may be read 2 ticks later; the
// read sees it after 5 more, 9 positions from the VXM.
// CHECK-NEXT: tick.read at 964 slice 36
// CHECK-NEXT: tick.vector at 978 @p0 count 2
// CHECK:      tick.install at {{[0-9]+}} plane 0 q8 columns 0 to 64
// CHECK:      tick.matmul at {{[0-9]+}} plane 0 q8 columns 0 to 64 tiles 1 inner 1 rows 2
// CHECK:      tick.send at {{[0-9]+}} stream {{[0-9]+}} shape <2 every 40>
flow.program machine "lpu-small" model "one matrix" tokens 2 bucket 64
    context 64 hash 7 {
  %x = flow.alloc place <slice 36 bank 0 base 0> : !flow.buffer<2 x f32>
  flow.receive rows <96> %x : !flow.buffer<2 x f32>
  %q = flow.alloc side 0 place <slice 20 bank 0 base 0> : !flow.buffer<2 x a8>
  flow.vector count 2 ins(%x <[2] by [1]> : !flow.buffer<2 x f32>)
      outs(0 to %q <[2] by [1]> : !flow.buffer<2 x a8>) {
    out v0 : a8
  }
  %l = flow.load side 0 rows 2 inner 1 %q <[2, 1] by [1, 1]> : !flow.buffer<2 x a8>
  %w = flow.region weight "w" rows <64> columns <64> side 0
       place <slice 0 bank 0 base 0> : !flow.tiles<1 x 64 rows, q8, width 16>
  %y = flow.alloc place <slice 16 bank 1 base 8> : !flow.buffer<2 x f32>
  flow.matmul plane 0 %l, %w : !flow.tiles<1 x 64 rows, q8, width 16>
      first 0 tiles 1 lanes 0 to 64 outs(%y <[2] by [1]> : !flow.buffer<2 x f32>)
  flow.logits %y vectors 1 vocab 64 : !flow.buffer<2 x f32>
  flow.send %y : !flow.buffer<2 x f32>
}
