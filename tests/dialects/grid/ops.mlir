// Every op prints what it parses, in custom and in generic form.
// RUN: orrery-opt %s | orrery-opt | FileCheck %s
// RUN: orrery-opt %s -mlir-print-op-generic | orrery-opt | FileCheck %s

// CHECK-LABEL: func.func @stage
func.func @stage(%x: tensor<2x64xf32>) -> (tensor<2x64xf32>, tensor<2x64xf32>)
    attributes {grid.machine = "lpu-small"} {
  // CHECK: %[[R:.*]]:2 = grid.stage chips [0, 3] weights 4352 B kv 0 B of 58720256 B -> tensor<2x64xf32>, tensor<2x64xf32> {
  // CHECK-NEXT: %[[Y:.*]] = llm.linear
  // CHECK-NEXT: grid.yield %[[Y]], %[[Y]] : tensor<2x64xf32>, tensor<2x64xf32>
  // CHECK-NEXT: }
  %r:2 = grid.stage chips [0, 3] weights 4352 B kv 0 B of 58720256 B
      -> tensor<2x64xf32>, tensor<2x64xf32> {
    %y = llm.linear %x weight("w") format(q8_0)
       : tensor<2x64xf32> -> tensor<2x64xf32>
    grid.yield %y, %y : tensor<2x64xf32>, tensor<2x64xf32>
  }
  // CHECK: grid.stage chips [1] weights 0 B kv 0 B of 0 B {
  // CHECK-NEXT: grid.yield
  grid.stage chips [1] weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return %r#0, %r#1 : tensor<2x64xf32>, tensor<2x64xf32>
}

// A relay behind a stage, two cables from it.
// CHECK-LABEL: func.func @relay
func.func @relay(%x: tensor<1x32xf32>) -> tensor<1x32xf32> {
  // CHECK: %[[A:.*]] = grid.stage chips [0] cables 2 weights 0 B
  %a = grid.stage chips [0] cables 2 weights 0 B kv 0 B of 0 B -> tensor<1x32xf32> {
    grid.yield %x : tensor<1x32xf32>
  }
  // CHECK: grid.stage chips [2] cables 2 from layer 1 weights 0 B
  // CHECK-NEXT: grid.yield %[[A]]
  %b = grid.stage chips [2] cables 2 from layer 1 weights 0 B kv 0 B of 0 B -> tensor<1x32xf32> {
    grid.yield %a : tensor<1x32xf32>
  }
  return %b : tensor<1x32xf32>
}
