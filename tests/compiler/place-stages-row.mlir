// Products of what ranks have shards of, row-parallel: each rank multiplies with
// its own columns, and partials are added. The step is that of
// place-stages-many.mlir.
// RUN: orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node tp=2 pp=2 products=scatter" | FileCheck %s
// RUN: orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node tp=2 pp=2 products=reduce" | FileCheck %s --check-prefix=REDUCE
// RUN: orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node tp=2 pp=2 products=column" | FileCheck %s --check-prefix=COLUMN
// RUN: orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node tp=2 pp=2" | FileCheck %s --check-prefix=CHOSEN
// RUN: orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-ring tp=4 products=row" | FileCheck %s --check-prefix=RING
// RUN: not orrery-opt %S/place-stages-many.mlir "--grid-place-stages=machine=lpu-small-node tp=2 products=wide" 2>&1 | FileCheck %s --check-prefix=WIDE

// The heads that a rank attends to are its columns of the output matrix. What
// the last product of a stage gives is the shard that is passed on.
// CHECK:      %[[A:.*]] = llm.attention
// CHECK-NEXT: %[[P:.*]] = llm.linear %[[A]] weight("blk.0.attn_output.weight") format(q8_0) {grid.columns = #grid.shard<64 of 128>} : tensor<1x64xf32> -> tensor<1x96xf32>
// CHECK-NEXT: %[[S:.*]] = grid.reduce_scatter %[[P]] : tensor<1x96xf32> -> tensor<1x64xf32>
// CHECK-NEXT: %[[G:.*]] = grid.all_gather %[[S]] : tensor<1x64xf32> -> tensor<1x96xf32>
// CHECK-NEXT: llm.add %{{.*}}, %[[G]]
// CHECK:      %[[H:.*]] = llm.gated
// CHECK-NEXT: %[[D:.*]] = llm.linear %[[H]] weight("blk.0.ffn_down.weight") format(q8_0) {grid.columns = #grid.shard<64 of 100>} : tensor<1x64xf32> -> tensor<1x96xf32>
// CHECK-NEXT: %[[R:.*]] = grid.reduce_scatter %[[D]] : tensor<1x96xf32> -> tensor<1x64xf32>
// CHECK-NEXT: %[[O:.*]] = grid.own
// CHECK-NEXT: %[[X:.*]] = llm.add %[[O]], %[[R]] : tensor<1x64xf32>
// CHECK-NEXT: grid.yield %[[X]]

// REDUCE:      %[[P:.*]] = llm.linear %{{.*}} weight("blk.0.attn_output.weight") format(q8_0) {grid.columns = #grid.shard<64 of 128>}
// REDUCE-NEXT: %[[S:.*]] = grid.all_reduce %[[P]] : tensor<1x96xf32>
// REDUCE-NEXT: llm.add %{{.*}}, %[[S]]
// REDUCE:      grid.all_reduce
// REDUCE:      grid.yield

// COLUMN-NOT: grid.columns
// COLUMN:     weight("blk.0.attn_output.weight") format(q8_0) {grid.shard = #grid.shard<64 of 96>}
// COLUMN-NOT: grid.columns

// One crossing of the links less, and little to cross: two vectors.
// CHOSEN:      weight("blk.0.attn_output.weight") format(q8_0) {grid.columns
// CHOSEN-NEXT: grid.all_reduce

// RING: grid.stage chips [0, 1, 2, 3] ring
// RING:      weight("blk.0.attn_output.weight") format(q8_0) {grid.columns = #grid.shard<32 of 128>}
// RING-NEXT: grid.reduce_scatter {{.*}} : tensor<1x96xf32> -> tensor<1x32xf32>

// WIDE: products: expected chosen, column, row, scatter or reduce, found wide
