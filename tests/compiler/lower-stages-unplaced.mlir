// A step that was not placed, or for a machine that is not there.
// RUN: orrery-opt %s --flow-lower-stages -split-input-file -verify-diagnostics

// expected-error @+1 {{expected grid.stages and grid.machine, as --grid-place-stages leaves them}}
func.func @unplaced(%ids: tensor<1xi32>) -> tensor<1x64xf32>
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  return %x : tensor<1x64xf32>
}

// -----

// expected-error @+1 {{machine `lpu-9`: neither a preset}}
func.func @machine(%ids: tensor<1xi32>) -> tensor<1x64xf32>
    attributes {grid.machine = "lpu-9", llm.tokens = 1 : i64,
                llm.bucket = 64 : i64, llm.context = 64 : i64,
                llm.model = "m"} {
  %r = grid.stage chips [0] weights 0 B kv 0 B of 0 B -> tensor<1x64xf32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(64)
       : tensor<1xi32> -> tensor<1x64xf32>
    grid.yield %x : tensor<1x64xf32>
  }
  return %r : tensor<1x64xf32>
}
