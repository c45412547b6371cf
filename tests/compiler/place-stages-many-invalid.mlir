// What cannot be split over a system is refused before anything is placed.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics "--grid-place-stages=machine=lpu-small-node tp=2"
// RUN: not orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node tp=9" 2>&1 | FileCheck %s --check-prefix=CHIPS
// RUN: not orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node pp=8" 2>&1 | FileCheck %s --check-prefix=LAYERS
// RUN: not orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small tp=2" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-ring tp=3" 2>&1 | FileCheck %s --check-prefix=CABLES
// RUN: not orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node tp=-2" 2>&1 | FileCheck %s --check-prefix=SIGN

// CHIPS: error: tp=9: expected at most the 8 chips of lpu-small-node
// LAYERS: error: pp=8: expected at most 7 stages, three a layer (attention, gate and up, down) and the head; m has 2 layers
// ONE: error: tp=2: expected at most the 1 chips of lpu-small
// CABLES: error: lpu-small-ring: no 3 chips are linked each to each or in a ring; the smallest preset that would do is lpu-small-node; tp=1, pp=1 would fit
// SIGN: error: tp=-2: expected at least 1, or 0 to choose

// expected-error @+1 {{m: no layers: only a decoder as the importer writes it can be split}}
func.func @no_layers(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %y = llm.linear %x weight("o") format(q8_0)
     : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = llm.argmax %y : tensor<1x64xf32> -> tensor<1xi32>
  return %y, %t : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// expected-error @+1 {{m: layer 0 is not q, k, v, attention, output, gate, up and down, or not as large as those before it}}
func.func @no_ffn(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0)
     : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = llm.linear %x weight("k") format(q8_0)
     : tensor<1x64xf32> -> tensor<1x64xf32>
  %a = llm.attention %q, %k, %k layer(0) heads(2) kv_heads(2) head_dim(32)
       kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
  %y = llm.linear %a weight("o") format(q8_0)
     : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = llm.argmax %y : tensor<1x64xf32> -> tensor<1xi32>
  return %y, %t : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// The ids are still looked at behind the embedding: nothing to cut at.
func.func @two_streams(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  // expected-error @+1 {{cannot be split off: no place before it at which one value is live, the residual stream}}
  %a = llm.attention %x, %x, %x layer(0) heads(2) kv_heads(2) head_dim(32)
       kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
  %y = llm.embed %ids table("f") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %z = llm.add %a, %y : tensor<1x64xf32>
  %t = llm.argmax %z : tensor<1x64xf32> -> tensor<1xi32>
  return %z, %t : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// Nothing but the gated product goes on: there is no residual stream.
func.func @no_stream(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %g = llm.linear %x weight("g") format(q8_0)
     : tensor<1x64xf32> -> tensor<1x64xf32>
  %u = llm.linear %x weight("u") format(q8_0)
     : tensor<1x64xf32> -> tensor<1x64xf32>
  // expected-error @+1 {{cannot be followed by a stage: expected two live values, it and the residual stream}}
  %h = llm.gated %g, %u : tensor<1x64xf32>
  %y = llm.linear %h weight("o") format(q8_0)
     : tensor<1x64xf32> -> tensor<1x64xf32>
  %t = llm.argmax %y : tensor<1x64xf32> -> tensor<1xi32>
  return %y, %t : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// Two values are live from the first op to the last.
// expected-error @+1 {{no place before the head at which one value is live, the residual stream}}
func.func @no_place(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %t = llm.argmax %x : tensor<1x64xf32> -> tensor<1xi32>
  %y = llm.embed %ids table("f") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %z = llm.add %x, %y : tensor<1x64xf32>
  return %z, %t : tensor<1x64xf32>, tensor<1xi32>
}
