// One function for each constraint of the ops in FlowSwitch.td, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @permute_c1(%x: !flow.buffer<4 x f16>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) moves f16 into a buffer of f32}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [1]> : !flow.buffer<4 x f16>)
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c1_a8(%x: !flow.buffer<4 x a8>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) lanes of a8 cannot be moved apart from scales}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [1]> : !flow.buffer<4 x a8>)
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c2(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C2) reads 4 vectors, writes 3}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(%y <[3] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c2_none(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C2) one write a buffer, at least one}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs()
  return
}

// -----

func.func @permute_c3(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) lane 1 comes from lane 2 of 2}}
  flow.permute side 0 map [0, 2] ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c3_negative(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) lane 1 comes from lane -2 of 2}}
  "flow.permute"(%x, %y) {map = array<i32: 0, -2>, read = #flow.access<[4] by [1]>, side = 0 : i32,
      writes = [#flow.access<[4] by [1]>]} : (!flow.buffer<4 x f32>, !flow.buffer<4 x f32>) -> ()
  return
}

// -----

func.func @permute_c4_read(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) touches vectors 0 to 6 of 4}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [2]> : !flow.buffer<4 x f32>)
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c4_write(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) touches vectors 3 to 6 of 4}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(%y <[4] by [1], offset 3> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c4_stripe(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) a write is striped}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(%y <[4] by [1], stripe 4 step 1> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c4_plain(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) a read names no lanes, tokens or stripes}}
  flow.permute side 0 map [1, 0] ins(%x <[4] by [1], lanes 0 to 1> : !flow.buffer<4 x f32>)
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @permute_c5(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C5) side is 0 or 1, found 2}}
  flow.permute side 2 map [1, 0] ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @transpose_c1(%v: !flow.buffer<2 x f16>, %k: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // expected-error @+1 {{(C1) f16 rows into i8 tiles}}
  flow.transpose side 0 tokens 2 rows 64 ins(%v <[2] by [1]> : !flow.buffer<2 x f16>)
      outs(%k : !flow.tiles<8 x 64 rows, i8, width 8>)
  return
}

// -----

func.func @transpose_c2(%v: !flow.buffer<2 x i8>, %k: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // expected-error @+1 {{(C2) a read of 1 vectors for 2 tokens}}
  flow.transpose side 0 tokens 2 rows 64 ins(%v <[1] by [1]> : !flow.buffer<2 x i8>)
      outs(%k : !flow.tiles<8 x 64 rows, i8, width 8>)
  return
}

// -----

func.func @transpose_c3(%v: !flow.buffer<2 x i8>, %k: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // expected-error @+1 {{(C3) 32 rows into tiles of 64}}
  flow.transpose side 0 tokens 2 rows 32 ins(%v <[2] by [1]> : !flow.buffer<2 x i8>)
      outs(%k : !flow.tiles<8 x 64 rows, i8, width 8>)
  return
}

// -----

func.func @transpose_c4(%v: !flow.buffer<2 x i8>, %k: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // expected-error @+1 {{(C4) touches vectors 1 to 2 of 2}}
  flow.transpose side 0 tokens 2 rows 64 ins(%v <[2] by [1], offset 1> : !flow.buffer<2 x i8>)
      outs(%k : !flow.tiles<8 x 64 rows, i8, width 8>)
  return
}

// -----

func.func @transpose_c5(%v: !flow.buffer<2 x i8>, %k: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // expected-error @+1 {{(C5) side is 0 or 1, found 7}}
  flow.transpose side 7 tokens 2 rows 64 ins(%v <[2] by [1]> : !flow.buffer<2 x i8>)
      outs(%k : !flow.tiles<8 x 64 rows, i8, width 8>)
  return
}
