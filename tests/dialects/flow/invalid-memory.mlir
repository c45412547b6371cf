// One function for each constraint of the ops in FlowMemory.td, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @alloc_c1() {
  // expected-error @+1 {{(C1) side is -1, 0 or 1, found 2}}
  %a = flow.alloc side 2 : !flow.buffer<4 x f32>
  return
}

// -----

func.func @region_c1_weight() {
  // expected-error @+1 {{(C1) a weight region is tiles}}
  %w = flow.region weight "w" rows <64> columns <64> side 0 : !flow.buffer<1 x f32>
  return
}

// -----

func.func @region_c1_table() {
  // expected-error @+1 {{a table an f32 buffer}}
  %w = flow.region table "t" rows <64> : !flow.buffer<1 x f16>
  return
}

// -----

func.func @region_c2_weight() {
  // expected-error @+1 {{(C2) a weight region has rows and columns}}
  %w = flow.region weight "w" rows <64> side 0 : !flow.tiles<1 x 16 rows, q8, width 16>
  return
}

// -----

func.func @region_c2_kv() {
  // expected-error @+1 {{a KV region neither}}
  %w = flow.region kv "kv.0" rows <64> : !flow.buffer<1 x f16>
  return
}

// -----

func.func @region_c3() {
  // expected-error @+1 {{(C3) side -1 for}}
  %w = flow.region weight "w" rows <64> columns <64> : !flow.tiles<1 x 16 rows, q8, width 16>
  return
}

// -----

func.func @region_c4_negative() {
  // expected-error @+1 {{(C4) first 0 and low -16 of a weight region}}
  %w = flow.region weight "w" rows <64> columns <64> low -16 side 0 : !flow.tiles<1 x 16 rows, q8, width 16>
  return
}

// -----

func.func @region_c4_table() {
  // expected-error @+1 {{(C4) first 1 and low 0 of a table region}}
  %w = flow.region table "t" rows <64> first 1 : !flow.buffer<1 x f32>
  return
}

// -----

func.func @region_c5() {
  // expected-error @+1 {{(C5) needs a name}}
  %w = flow.region kv "" : !flow.buffer<1 x f16>
  return
}

// -----

func.func @region_c6_replicas() {
  // expected-error @+1 {{(C6) shard_of 0 replicas 2}}
  %w = flow.region weight "w" rows <32> columns <64> replicas 2 side 0 : !flow.tiles<1 x 32 rows, q8, width 16>
  return
}

// -----

func.func @region_c6_table() {
  // expected-error @+1 {{(C6) shard_of 64 replicas 1}}
  %w = flow.region table "norm" rows <32> shard_of 64 : !flow.buffer<1 x f32>
  return
}

// -----

func.func @region_c7_columns() {
  // expected-error @+1 {{(C7) columns_of 64 behind 0 of_ranks 1}}
  %w = flow.region table "norm" rows <32> columns_of 64 : !flow.buffer<1 x f32>
  return
}

// -----

func.func @region_c7_behind() {
  // expected-error @+1 {{(C7) columns_of 64 behind 2 of_ranks 2}}
  %w = flow.region weight "w" rows <32> columns <32> shard_of 64 behind 2 of_ranks 2 columns_of 64 side 0 : !flow.tiles<1 x 32 rows, q8, width 16>
  return
}

// -----

func.func @region_c7_replicas() {
  // expected-error @+1 {{(C7) columns_of 0 behind 1 of_ranks 2}}
  %w = flow.region weight "w" rows <32> columns <32> shard_of 64 replicas 2 behind 1 of_ranks 2 side 0 : !flow.tiles<1 x 32 rows, q8, width 16>
  return
}
