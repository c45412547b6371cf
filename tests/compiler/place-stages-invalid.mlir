// What does not fit the chip is refused with what is needed, what is there and
// what would fit.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics --grid-place-stages=machine=lpu-small
// RUN: not orrery-opt %s -split-input-file --grid-place-stages=machine=lpu-9 2>&1 | FileCheck %s

// CHECK: machine `lpu-9`: neither a preset (

// 8192 rows of 128 blocks of 34 B are 35651584 B.
// expected-error @+1 {{does not fit lpu-small: weights 35651584 B + KV cache 0 B at 64 positions = 35651584 B, the chip has 29360128 B, 6291456 B too many; would need 2 such chips}}
func.func @weights(%ids: tensor<1xi32>) -> tensor<1x8192xf32>
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(10)
     : tensor<1xi32> -> tensor<1x4096xf32>
  %y = llm.linear %x weight("w") format(q8_0)
     : tensor<1x4096xf32> -> tensor<1x8192xf32>
  return %y : tensor<1x8192xf32>
}

// -----

// 2 * 2^20 * 1 * 34 B are 71303168 B of KV cache.
// expected-error @+1 {{does not fit lpu-small: weights 0 B + KV cache 71303168 B at 1048576 positions = 71303168 B, the chip has 29360128 B, 41943040 B too many; no context above 431766 positions fits}}
func.func @context(%ids: tensor<1xi32>) -> tensor<1x32xf32>
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 1048576 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(10)
     : tensor<1xi32> -> tensor<1x32xf32>
  %a = llm.attention %x, %x, %x layer(0) heads(1) kv_heads(1) head_dim(32)
       kv_format(q8) context(1048576) : tensor<1x32xf32>, tensor<1x32xf32>
  return %a : tensor<1x32xf32>
}

// -----

// expected-error @+1 {{KV format q4: chips hold KV caches in f16 or q8}}
func.func @format(%ids: tensor<1xi32>) -> tensor<1x32xf32>
    attributes {llm.tokens = 1 : i64, llm.bucket = 64 : i64,
                llm.context = 64 : i64, llm.model = "m"} {
  %x = llm.embed %ids table("e") format(q8_0) vocab(10)
     : tensor<1xi32> -> tensor<1x32xf32>
  %a = llm.attention %x, %x, %x layer(0) heads(1) kv_heads(1) head_dim(32)
       kv_format(q4) context(64) : tensor<1x32xf32>, tensor<1x32xf32>
  return %a : tensor<1x32xf32>
}
