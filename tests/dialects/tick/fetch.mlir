// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt --mlir-print-op-generic %s | orrery-opt | FileCheck %s

// CHECK-LABEL: tick.program @step
tick.program @step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
  // CHECK-NEXT: tick.fetch at 120 queue read 28 from slice 3 bank 1 address 40{{$}}
  tick.fetch at 120 queue read 28 from slice 3 bank 1 address 40
  // CHECK-NEXT: tick.fetch at 122 queue vector 0 from slice 87 bank 0 address 4094{{$}}
  tick.fetch at 122 queue vector 0 from slice 87 bank 0 address 4094
  // CHECK-NEXT: tick.fetch at 124 queue fetch 0 from slice 0 bank 0 address 0{{$}}
  tick.fetch at 124 queue fetch 0 from slice 0 bank 0 address 0
}
