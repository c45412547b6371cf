// One module for each constraint of a step function, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{is a step and needs an i64 'llm.bucket'}}
func.func private @s1_missing(tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i64, llm.context = 8 : i64, llm.model = "m"}

// -----

// expected-error @+1 {{is a step and needs an i64 'llm.tokens'}}
func.func private @s1_type(tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i32, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"}

// -----

// expected-error @+1 {{is a step and needs a string 'llm.model'}}
func.func private @s1_model(tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64}

// -----

// expected-error @+1 {{has 'llm.tokens', which is for func.func}}
module attributes {llm.tokens = 2 : i64} {}

// -----

// expected-error @+1 {{needs 1 <= tokens <= bucket <= context, found 2, 16, 8}}
func.func private @s2_bucket(tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i64, llm.bucket = 16 : i64, llm.context = 8 : i64, llm.model = "m"}

// -----

// expected-error @+1 {{needs 1 <= tokens <= bucket <= context, found 0, 8, 8}}
func.func private @s2_tokens(tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 0 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"}

// -----

// expected-error @+1 {{takes the step's ids, tensor<2xi32>, found 'tensor<3xi32>'}}
func.func private @s3(tensor<3xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"}

// -----

// expected-error @+1 {{returns logits [2, n] f32 and at most ids [2] i32}}
func.func private @s4_nothing(tensor<2xi32>)
    attributes {llm.tokens = 2 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"}

// -----

// expected-error @+1 {{returns logits [2, n] f32 and at most ids [2] i32}}
func.func private @s4_order(tensor<2xi32>) -> (tensor<2xi32>, tensor<2x8xf32>)
    attributes {llm.tokens = 2 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"}

// -----

// expected-note @+1 {{its step has 8}}
func.func @s5(%ids: tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("t") format(q8_0) vocab(8) : tensor<2xi32> -> tensor<2x8xf32>
  // expected-error @+1 {{has context 16}}
  %a = llm.attention %x, %x, %x layer(0) heads(1) kv_heads(1) head_dim(8) kv_format(q8) context(16) : tensor<2x8xf32>, tensor<2x8xf32>
  return %a : tensor<2x8xf32>
}

// -----

func.func @s6(%ids: tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("t") format(q8_0) vocab(8) : tensor<2xi32> -> tensor<2x8xf32>
  // expected-note @+1 {{first here}}
  %a = llm.attention %x, %x, %x layer(1) heads(1) kv_heads(1) head_dim(8) kv_format(q8) context(8) : tensor<2x8xf32>, tensor<2x8xf32>
  // expected-error @+1 {{appends to layer 1 a second time}}
  %b = llm.attention %a, %x, %x layer(1) heads(1) kv_heads(1) head_dim(8) kv_format(q8) context(8) : tensor<2x8xf32>, tensor<2x8xf32>
  return %b : tensor<2x8xf32>
}

// -----

// An attention without its attributes is reported by its own verifier.
func.func @s5_incomplete(%ids: tensor<2xi32>) -> tensor<2x8xf32>
    attributes {llm.tokens = 2 : i64, llm.bucket = 8 : i64, llm.context = 8 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("t") format(q8_0) vocab(8) : tensor<2xi32> -> tensor<2x8xf32>
  // expected-error @+1 {{requires attribute}}
  %a = "llm.attention"(%x, %x, %x) {heads = 1 : i64} : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  return %a : tensor<2x8xf32>
}
