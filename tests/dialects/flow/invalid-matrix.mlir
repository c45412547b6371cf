// One function for each constraint of the ops in FlowMatrix.td, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @load_c1(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) activations are a8 or f16, found f32}}
  %l = flow.load side 0 rows 4 inner 1 %x <[4] by [1]> : !flow.buffer<4 x f32>
  return
}

// -----

func.func @load_c2(%x: !flow.buffer<6 x a8>) {
  // expected-error @+1 {{(C2) a read of 6 vectors for 2 times 2 rows}}
  %l = flow.load side 0 rows 2 inner 2 %x <[6] by [1]> : !flow.buffer<6 x a8>
  return
}

// -----

func.func @load_c2_none(%x: !flow.buffer<6 x a8>) {
  // expected-error @+1 {{(C2) a read of 1 vectors for 1 times 0 rows}}
  %l = flow.load side 0 rows 0 inner 1 %x <[1] by [1]> : !flow.buffer<6 x a8>
  return
}

// -----

func.func @load_c3(%x: !flow.buffer<6 x a8>) {
  // expected-error @+1 {{(C3) touches vectors 0 to 10 of 6}}
  %l = flow.load side 0 rows 6 inner 1 %x <[6] by [2]> : !flow.buffer<6 x a8>
  return
}

// -----

func.func @load_c3_plain(%x: !flow.buffer<6 x a8>) {
  // expected-error @+1 {{(C3) a read names no lanes, tokens or stripes}}
  %l = flow.load side 0 rows 6 inner 1 %x <[6] by [1], token_lane> : !flow.buffer<6 x a8>
  return
}

// -----

func.func @load_c4(%x: !flow.buffer<6 x a8>) {
  // expected-error @+1 {{(C4) side is 0 or 1, found -1}}
  %l = flow.load side -1 rows 6 inner 1 %x <[6] by [1]> : !flow.buffer<6 x a8>
  return
}

// -----

func.func @matmul_c1(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C1) lanes 0 to 32 for tiles of 64 rows}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 32
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c1_negative(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C1) lanes -64 to 0 for tiles of 64 rows}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes -64 to 0
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c2(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C2) a write of 3 vectors for 2 tiles of 2 rows}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[3] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c3(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C3) passes use tiles 1 to 6 of 6}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 1 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c3_negative(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C3) passes use tiles -1 to 4 of 6}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first -1 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c4(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, f16, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C4) a8 rows times f16 tiles}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, f16, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c4_half(%x: !flow.buffer<6 x f16>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x f16>
  // expected-error @+1 {{(C4) f16 rows times q8 tiles}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c5_inside(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C5) touches vectors 1 to 4 of 4}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1], offset 1> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c5_type(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f16>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C5) expected f32, found f16}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f16>)
  return
}

// -----

func.func @matmul_c5_stripe(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C5) the write is striped}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1], stripe 1 step 1> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c6(%x: !flow.buffer<6 x a8>, %y: !flow.buffer<4 x f32>) {
  // expected-note @+1 {{the load}}
  %l = flow.load side 1 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-note @+1 {{the weights}}
  %w = flow.region weight "w" rows <128> columns <192> side 0 : !flow.tiles<6 x 64 rows, q8, width 16>
  // expected-error @+1 {{(C6) weights lie on side 0, rows were loaded on side 1}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c7(%x: !flow.buffer<6 x a8>, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  %l = flow.load side 0 rows 2 inner 3 %x <[6] by [1]> : !flow.buffer<6 x a8>
  // expected-error @+1 {{(C7) plane -1 is negative}}
  flow.matmul plane -1 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @matmul_c8(%l: !flow.loaded, %w: !flow.tiles<6 x 64 rows, q8, width 16>,
    %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C8) rows come from a flow.load}}
  flow.matmul plane 0 %l, %w : !flow.tiles<6 x 64 rows, q8, width 16> first 0 tiles 2 lanes 0 to 64
      outs(%y <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}
