// The whole pipeline, llm to tick, on one layer; the program file comes back as
// the same text.
// RUN: orrery-opt %s --orrery=machine=lpu-small | FileCheck %s
// RUN: orrery-opt %s --orrery=machine=lpu-small | orrery-translate --tick-to-program -o %t.orrery
// RUN: orrery-translate --program-to-tick %t.orrery | FileCheck %s --check-prefix=FILE
// RUN: orrery-opt %s --orrery=machine=lpu-small | orrery-opt | FileCheck %s

// In parts: what one phase leaves the next one takes.
// RUN: orrery-opt %s -canonicalize -cse --grid-place-stages=machine=lpu-small | orrery-opt --flow-lower-stages | orrery-opt --flow-allocate | orrery-opt --tick-schedule | FileCheck %s

// FILE: tick.program @step model "layer" hash 0 machine "lpu-small" tokens 2 bucket 64 context 64 input_vectors 3
// FILE: logits <slice {{.*}} vectors 1 vocab 60> ends {{[0-9]+}}

// CHECK-NOT: func.func
// CHECK:     tick.program @step model "layer"
// CHECK-DAG: tick.region "q[0,0]" weight
// CHECK-DAG: tick.region "n" table
// CHECK-DAG: tick.region "kv.0.k.0" kv
// CHECK-DAG: tick.region "tmp.0" temporary
// CHECK-DAG: tick.region "instructions.{{.*}}" instructions
// CHECK:     tick.lane_map
// CHECK:     tick.receive at 900
// CHECK:     tick.send
func.func @step(%ids: tensor<2xi32>) -> (tensor<2x60xf32>, tensor<2xi32>)
    attributes {llm.tokens = 2 : i64, llm.bucket = 60 : i64,
                llm.context = 64 : i64, llm.model = "layer"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(60)
     : tensor<2xi32> -> tensor<2x64xf32>
  %n = llm.rms_norm %x weight("n") eps(1.0e-05) : tensor<2x64xf32>
  %q = llm.linear %n weight("q") format(q8_0) : tensor<2x64xf32> -> tensor<2x64xf32>
  %k = llm.linear %n weight("k") format(q8_0) : tensor<2x64xf32> -> tensor<2x32xf32>
  %v = llm.linear %n weight("v") format(q4_0) : tensor<2x64xf32> -> tensor<2x32xf32>
  %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(1.0e+04)
        pairing(adjacent) : tensor<2x64xf32>
  %kr = llm.rope %k heads(1) head_dim(32) rope_dim(32) theta(1.0e+04)
        pairing(adjacent) : tensor<2x32xf32>
  %a = llm.attention %qr, %kr, %v layer(0) heads(2) kv_heads(1) head_dim(32)
       kv_format(q8) context(64) : tensor<2x64xf32>, tensor<2x32xf32>
  %o = llm.linear %a weight("o") format(f16) : tensor<2x64xf32> -> tensor<2x64xf32>
  %y = llm.add %x, %o : tensor<2x64xf32>
  %l = llm.linear %y weight("head") format(q8_0) : tensor<2x64xf32> -> tensor<2x60xf32>
  %t = llm.argmax %l : tensor<2x60xf32> -> tensor<2xi32>
  return %l, %t : tensor<2x60xf32>, tensor<2xi32>
}
