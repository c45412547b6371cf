// One function for each constraint of partials, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @reduce_scatter_c1(%x: tensor<2x64xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C1) takes a partial, the result of an llm.linear with 'grid.columns'}}
    %y = grid.reduce_scatter %x : tensor<2x64xf32> -> tensor<2x32xf32>
    grid.yield
  }
  return
}

// -----

func.func @reduce_scatter_c2(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    %p = llm.linear %x weight("w") format(q8_0)
         {grid.columns = #grid.shard<32 of 64>}
       : tensor<2x32xf32> -> tensor<2x64xf32>
    // expected-error @+1 {{(C2) takes 2 rows but gives 1}}
    %y = grid.reduce_scatter %p : tensor<2x64xf32> -> tensor<1x32xf32>
    grid.yield
  }
  return
}

// -----

func.func @reduce_scatter_c3(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    %p = llm.linear %x weight("w") format(q8_0)
         {grid.columns = #grid.shard<32 of 64>}
       : tensor<2x32xf32> -> tensor<2x64xf32>
    // expected-error @+1 {{(C3) has a shard of 40, expected a multiple of 32}}
    %y = grid.reduce_scatter %p : tensor<2x64xf32> -> tensor<2x40xf32>
    grid.yield
  }
  return
}

// -----

func.func @reduce_scatter_c4(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    %p = llm.linear %x weight("w") format(q8_0)
         {grid.columns = #grid.shard<32 of 64>}
       : tensor<2x32xf32> -> tensor<2x96xf32>
    // expected-error @+1 {{(C4) has 2 shards of 32 for 96 elements}}
    %y = grid.reduce_scatter %p : tensor<2x96xf32> -> tensor<2x32xf32>
    grid.yield
  }
  return
}

// -----

func.func @all_reduce_c1(%x: tensor<2x64xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C1) takes a partial}}
    %y = grid.all_reduce %x : tensor<2x64xf32>
    grid.yield
  }
  return
}

// -----

func.func @a3_op(%x: tensor<2x64xf32>) {
  // expected-error @+1 {{(A3) 'grid.columns' is a #grid.shard of blocks of 32 without replicas, on an llm.linear without 'grid.shard', found #grid.shard<64 of 64>}}
  %y = llm.add %x, %x {grid.columns = #grid.shard<64 of 64>} : tensor<2x64xf32>
  return
}

// -----

func.func @a3_blocks(%x: tensor<2x40xf32>) {
  // expected-error @+1 {{(A3) 'grid.columns' is a #grid.shard of blocks of 32}}
  %y = llm.linear %x weight("w") format(q8_0)
       {grid.columns = #grid.shard<40 of 80>}
     : tensor<2x40xf32> -> tensor<2x64xf32>
  return
}

// -----

func.func @a3_replicas(%x: tensor<2x32xf32>) {
  // expected-error @+1 {{(A3) 'grid.columns' is a #grid.shard of blocks of 32 without replicas}}
  %y = llm.linear %x weight("w") format(q8_0)
       {grid.columns = #grid.shard<32 of 64 replicas 2>}
     : tensor<2x32xf32> -> tensor<2x64xf32>
  return
}

// -----

func.func @a3_width(%x: tensor<2x64xf32>) {
  // expected-error @+1 {{(A3) takes columns in shards of 32, expected rows of that width, found 'tensor<2x64xf32>'}}
  %y = llm.linear %x weight("w") format(q8_0)
       {grid.columns = #grid.shard<32 of 64>}
     : tensor<2x64xf32> -> tensor<2x64xf32>
  return
}

// -----

func.func @a3_use(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(A3) gives a partial, expected one grid.reduce_scatter or grid.all_reduce to add it}}
    %p = llm.linear %x weight("w") format(q8_0)
         {grid.columns = #grid.shard<32 of 64>}
       : tensor<2x32xf32> -> tensor<2x64xf32>
    %y = llm.add %p, %p : tensor<2x64xf32>
    grid.yield
  }
  return
}
