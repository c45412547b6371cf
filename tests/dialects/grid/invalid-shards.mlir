// One function for each constraint of shards and of where they may stand.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @shard_c1(%x: tensor<2x64xf32>) {
  // expected-error @+2 {{(C1) a shard needs elements, rows and replicas of at least 1, found 32 of 0 replicas 1}}
  %y = llm.linear %x weight("w") format(q8_0)
       {grid.shard = #grid.shard<32 of 0>}
     : tensor<2x64xf32> -> tensor<2x32xf32>
  return
}

// -----

func.func @shard_c1_replicas(%x: tensor<2x64xf32>) {
  // expected-error @+2 {{(C1) a shard needs}}
  %y = llm.linear %x weight("w") format(q8_0)
       {grid.shard = #grid.shard<32 of 64 replicas 0>}
     : tensor<2x64xf32> -> tensor<2x32xf32>
  return
}

// -----

func.func @a1_op(%x: tensor<2x64xf32>) {
  // expected-error @+1 {{(A1) 'grid.shard' is a #grid.shard on an llm.linear, found #grid.shard<64 of 64>}}
  %y = llm.add %x, %x {grid.shard = #grid.shard<64 of 64>} : tensor<2x64xf32>
  return
}

// -----

func.func @a1_kind(%x: tensor<2x64xf32>) {
  // expected-error @+1 {{(A1) 'grid.shard' is a #grid.shard on an llm.linear, found 32 : i64}}
  %y = llm.linear %x weight("w") format(q8_0) {grid.shard = 32 : i64}
     : tensor<2x64xf32> -> tensor<2x32xf32>
  return
}

// -----

func.func @a1_width(%x: tensor<2x64xf32>) {
  // expected-error @+1 {{(A1) has a shard of 64 rows, expected a result of that width, found 'tensor<2x32xf32>'}}
  %y = llm.linear %x weight("w") format(q8_0)
       {grid.shard = #grid.shard<64 of 128>}
     : tensor<2x64xf32> -> tensor<2x32xf32>
  return
}

// -----

// expected-error @+1 {{(A2) 'grid.shard' of result 0 is a #grid.shard without replicas, as wide as the rows, found #grid.shard<64 of 128>}}
func.func private @a2_width()
    -> (tensor<2x32xf32> {grid.shard = #grid.shard<64 of 128>})

// -----

// expected-error @+1 {{(A2) 'grid.shard' of result 1 is a #grid.shard without replicas, as wide as the rows, found #grid.shard<32 of 64 replicas 2>}}
func.func private @a2_replicas()
    -> (i32, tensor<2x32xf32> {grid.shard = #grid.shard<32 of 64 replicas 2>})
