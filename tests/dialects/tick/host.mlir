// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s

// CHECK-LABEL: tick.program @step
tick.program @step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // CHECK-NEXT: tick.receive at 300 stream 0 stop 44 shape <2 every 4>{{$}}
  tick.receive at 300 stream 0 stop 44 shape <2 every 4>
  // CHECK-NEXT: tick.send at 800 stream 0 shape <2 every 4>{{$}}
  tick.send at 800 stream 0 shape <2 every 4>
}
