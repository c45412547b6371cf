// What has no lowering is refused by name, with the numbers.
// RUN: orrery-opt %s --grid-place-stages=machine=lpu-small --flow-lower-stages -split-input-file -verify-diagnostics

// A head that is wider than the lanes cannot stand in one vector.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "head_dim"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  // expected-error @+1 {{feeds attention: head_dim 96 needs 96 lanes, the chip has 64}}
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x96xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x96xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x96xf32>
  %qr = llm.rope %q heads(1) head_dim(96) rope_dim(96) theta(1.0e+04) pairing(adjacent)
     : tensor<1x96xf32>
  %kr = llm.rope %k heads(1) head_dim(96) rope_dim(96) theta(1.0e+04) pairing(adjacent)
     : tensor<1x96xf32>
  %a = llm.attention %qr, %kr, %v layer(0) heads(1) kv_heads(1) head_dim(96)
       kv_format(q8) context(64) : tensor<1x96xf32>, tensor<1x96xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<1x96xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// Attention reads q and k while it turns them.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "no_rope"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  // expected-error @+1 {{expects q and k straight from llm.rope}}
  %a = llm.attention %q, %k, %v layer(0) heads(2) kv_heads(2) head_dim(32)
       kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// A rope has no rows of its own.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "rope_elsewhere"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  // expected-error @+1 {{may only feed attention's q and k}}
  %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  %l = llm.add %qr, %x : tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// V is never turned.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "rope_of_v"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  %kr = llm.rope %k heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  // expected-error @+1 {{may only feed attention's q and k}}
  %vr = llm.rope %v heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  %a = llm.attention %qr, %kr, %vr layer(0) heads(2) kv_heads(2) head_dim(32)
       kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// One table serves a whole step.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "rope_unlike"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  // expected-note @+1 {{the earlier one}}
  %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  // expected-error @+1 {{turns unlike an earlier llm.rope: the host sends one row a position}}
  %kr = llm.rope %k heads(2) head_dim(32) rope_dim(32) theta(5.0e+05) pairing(adjacent)
     : tensor<1x64xf32>
  %a = llm.attention %qr, %kr, %v layer(0) heads(2) kv_heads(2) head_dim(32)
       kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// A norm puts its rows in dense lanes, attention wants heads.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "norm_of_v"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x32xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x32xf32>
  %v = llm.rms_norm %x weight("n") eps(1.0e-05) : tensor<1x64xf32>
  %w = llm.linear %v weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x32xf32>
  %z = llm.rms_norm %w weight("n") eps(1.0e-05) : tensor<1x32xf32>
  %qr = llm.rope %q heads(2) head_dim(16) rope_dim(16) theta(1.0e+04) pairing(adjacent)
     : tensor<1x32xf32>
  %kr = llm.rope %k heads(2) head_dim(16) rope_dim(16) theta(1.0e+04) pairing(adjacent)
     : tensor<1x32xf32>
  // expected-error @+1 {{needs q, k and v straight from an llm.linear}}
  %a = llm.attention %qr, %kr, %z layer(0) heads(2) kv_heads(2) head_dim(16)
       kv_format(q8) context(64) : tensor<1x32xf32>, tensor<1x32xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<1x32xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// A sum of heads and dense rows would add unlike lanes.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "mixed_sum"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x128xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x32xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x32xf32>
  %qr = llm.rope %q heads(4) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x128xf32>
  %kr = llm.rope %k heads(1) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x32xf32>
  %a = llm.attention %qr, %kr, %v layer(0) heads(4) kv_heads(1) head_dim(32)
       kv_format(q8) context(64) : tensor<1x128xf32>, tensor<1x32xf32>
  %o = llm.linear %a weight("o") format(q8_0) : tensor<1x128xf32> -> tensor<1x128xf32>
  // expected-error @+1 {{has one operand in attention heads and one that is not}}
  %y = llm.add %a, %o : tensor<1x128xf32>
  %l = llm.linear %y weight("p") format(q8_0) : tensor<1x128xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// A matrix over V itself, in slots of 24 of 32 lanes.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "straddle"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x48xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x48xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x48xf32>
  %qr = llm.rope %q heads(2) head_dim(24) rope_dim(24) theta(1.0e+04) pairing(adjacent)
     : tensor<1x48xf32>
  %kr = llm.rope %k heads(2) head_dim(24) rope_dim(24) theta(1.0e+04) pairing(adjacent)
     : tensor<1x48xf32>
  %a = llm.attention %qr, %kr, %v layer(0) heads(2) kv_heads(2) head_dim(24)
       kv_format(q8) context(64) : tensor<1x48xf32>, tensor<1x48xf32>
  // expected-error @+1 {{quantizes rows in attention heads of 24: blocks of 32 would straddle heads}}
  %l = llm.linear %v weight("o") format(q8_0) : tensor<1x48xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// The host sends one input.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "two_inputs"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  // expected-error @+1 {{is the step's second: the host sends one input}}
  %y = llm.embed %ids table("f") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %l = llm.linear %y weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// The host gets one result.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "two_argmax"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %l = llm.linear %x weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %m = llm.argmax %x : tensor<1x64xf32> -> tensor<1xi32>
  // expected-error @+1 {{is the step's second: the host gets one}}
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// Rows of a matrix wait in the planes: 1024 vectors of 64 at most.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "activations"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %y = llm.linear %x weight("y") format(q8_0) : tensor<1x64xf32> -> tensor<1x65600xf32>
  // expected-error @+1 {{needs 1025 activation vectors, a plane holds 1024}}
  %l = llm.linear %y weight("o") format(q8_0) : tensor<1x65600xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// A step returns ids.
func.func @step(%ids: tensor<1xi32>) -> tensor<1x64xf32>
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "no_argmax"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %l = llm.linear %x weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  // expected-error @+1 {{a step must return an llm.argmax}}
  return %l : tensor<1x64xf32>
}

// -----

// The tiles of one output vector lie in one bank: 4096 addresses.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "bank"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %y = llm.linear %x weight("y") format(q8_0) : tensor<1x64xf32> -> tensor<1x65536xf32>
  // expected-error @+1 {{needs 5120 vectors a slice for the weights of one output vector, a bank has 4096}}
  %z = llm.linear %y weight("z") format(q8_0) : tensor<1x65536xf32> -> tensor<1x256xf32>
  %l = llm.linear %z weight("o") format(q8_0) : tensor<1x256xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// The probabilities of all positions wait in the planes.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 32832 : i64,
                llm.context = 32832 : i64, llm.model = "scores"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  %kr = llm.rope %k heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  // expected-error @+1 {{needs 1026 activation vectors, a plane holds 1024}}
  %a = llm.attention %qr, %kr, %v layer(0) heads(2) kv_heads(2) head_dim(32)
       kv_format(q8) context(32832) : tensor<1x64xf32>, tensor<1x64xf32>
  %l = llm.linear %a weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %n = llm.argmax %l : tensor<1x64xf32> -> tensor<1xi32>
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// In slots a lane's number is not its element's: the id would be wrong.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "argmax"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(64)
     : tensor<1xi32> -> tensor<1x64xf32>
  %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %v = llm.linear %x weight("v") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
  %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  %kr = llm.rope %k heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(adjacent)
     : tensor<1x64xf32>
  %a = llm.attention %qr, %kr, %v layer(0) heads(2) kv_heads(2) head_dim(32)
       kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
  // expected-error @+1 {{is over attention heads, not logits}}
  %n = llm.argmax %a : tensor<1x64xf32> -> tensor<1xi32>
  return %a, %n : tensor<1x64xf32>, tensor<1xi32>
}
