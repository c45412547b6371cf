// A chip whose slices leave no weight group is refused.
// RUN: sed 's/"slices_per_hemisphere": 28/"slices_per_hemisphere": 27/' %S/../../machine/presets/lpu-small.json > %t.json
// RUN: not orrery-opt %s --grid-place-stages=machine=%t.json --flow-lower-stages 2>&1 | FileCheck %s

// CHECK: error: machine lpu-small: 27 slices a hemisphere leave no room for a weight group of 16 beside 12 data slices
func.func @step(%ids: tensor<1xi32>) -> tensor<1x64xf32>
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  return %x : tensor<1x64xf32>
}
