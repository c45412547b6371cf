// What stages together cannot do.
// RUN: orrery-opt %s --flow-lower-stages -split-input-file -verify-diagnostics

// The rows of a position serve all stages: another's turn as the first's do.
func.func @step(%ids: tensor<1xi32>) -> (tensor<1x64xf32>, tensor<1xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "ropes"} {
  %m = grid.stage chips [0] weights 0 B kv 0 B of 58720256 B -> tensor<1x64xf32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(64) : tensor<1xi32> -> tensor<1x64xf32>
    %q = llm.linear %x weight("q") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
    %k = llm.linear %x weight("k") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
    // expected-note @+1 {{the earlier one}}
    %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(half) : tensor<1x64xf32>
    %kr = llm.rope %k heads(2) head_dim(32) rope_dim(32) theta(1.0e+04) pairing(half) : tensor<1x64xf32>
    %a = llm.attention %qr, %kr, %k layer(0) heads(2) kv_heads(2) head_dim(32) kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
    %o = llm.linear %a weight("o") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
    grid.yield %o : tensor<1x64xf32>
  }
  %l, %n = grid.stage chips [1] weights 0 B kv 0 B of 58720256 B -> tensor<1x64xf32>, tensor<1xi32> {
    %q = llm.linear %m weight("q1") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
    %k = llm.linear %m weight("k1") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
    // expected-error @+1 {{turns unlike an earlier llm.rope: the host sends one row a position}}
    %qr = llm.rope %q heads(2) head_dim(32) rope_dim(32) theta(5.0e+05) pairing(half) : tensor<1x64xf32>
    %kr = llm.rope %k heads(2) head_dim(32) rope_dim(32) theta(5.0e+05) pairing(half) : tensor<1x64xf32>
    %a = llm.attention %qr, %kr, %k layer(1) heads(2) kv_heads(2) head_dim(32) kv_format(q8) context(64) : tensor<1x64xf32>, tensor<1x64xf32>
    %o = llm.linear %a weight("o1") format(q8_0) : tensor<1x64xf32> -> tensor<1x64xf32>
    %n = llm.argmax %o : tensor<1x64xf32> -> tensor<1xi32>
    grid.yield %o, %n : tensor<1x64xf32>, tensor<1xi32>
  }
  return %l, %n : tensor<1x64xf32>, tensor<1xi32>
}

// -----

// All that is passed on has to find room in a link's buffer, and cosines and
// sines beside it: 2 + 8 + 8 vectors of 4 streams a token. Each alone would.
func.func @step(%ids: tensor<4xi32>) -> (tensor<4x64xf32>, tensor<4xi32>)
    attributes {grid.machine = "lpu-small", llm.tokens = 4 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "room"} {
  %m:2 = grid.stage chips [0] weights 0 B kv 0 B of 58720256 B -> tensor<4x512xf32>, tensor<4x512xf32> {
    %x = llm.embed %ids table("e") format(q8_0) vocab(64) : tensor<4xi32> -> tensor<4x512xf32>
    %y = llm.rms_norm %x weight("n") eps(1.0e-05) : tensor<4x512xf32>
    // expected-error @+1 {{what a stage passes on needs 288 vectors at once, the buffer of a link of lpu-small has 256}}
    grid.yield %x, %y : tensor<4x512xf32>, tensor<4x512xf32>
  }
  %l, %n = grid.stage chips [1] weights 0 B kv 0 B of 58720256 B -> tensor<4x64xf32>, tensor<4xi32> {
    %s = llm.add %m#0, %m#1 : tensor<4x512xf32>
    %l = llm.linear %s weight("h") format(q8_0) : tensor<4x512xf32> -> tensor<4x64xf32>
    %n = llm.argmax %l : tensor<4x64xf32> -> tensor<4xi32>
    grid.yield %l, %n : tensor<4x64xf32>, tensor<4xi32>
  }
  return %l, %n : tensor<4x64xf32>, tensor<4xi32>
}
