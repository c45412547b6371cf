// One function for each constraint of the ops in FlowVector.td, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @vector_c1(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) one access an operand, one route an output buffer}}
  "flow.vector"(%x, %y) {count = 4 : i32, group = 1 : i32, steps = [], outputs = [#flow.output<v0 : f32>],
      routes = array<i32: 0>, reads = [], writes = [#flow.access<[4] by [1]>],
      operandSegmentSizes = array<i32: 1, 1>} : (!flow.buffer<4 x f32>, !flow.buffer<4 x f32>) -> ()
  return
}

// -----

func.func @vector_c2(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C2) group 3 does not divide count 4}}
  flow.vector count 4 group 3 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c2_count(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C2) group 1 does not divide count 0}}
  flow.vector count 0 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c3_step(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) v1 takes v1, expected an earlier value}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    v1 = add v0, v1
    out v1 : f32
  }
  return
}

// -----

func.func @vector_c3_output(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) puts out v1 of 1 values}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v1 : f32
  }
  return
}

// -----

func.func @vector_c4_route(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) route 1 of 1 outputs}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(1 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c4_type(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) a buffer of f32 gets f16}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f16
  }
  return
}

// -----

func.func @vector_c4_nowhere(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) an output goes nowhere}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c5_inputs(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C5) at most 8 inputs, 1 to 4 outputs and 256 values, found 9, 1 and 9}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>,
          %x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c5_outputs(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{found 1, 5 and 1}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
    out v0 : f32
    out v0 : f32
    out v0 : f32
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c6_read(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C6) a read of 3 vectors, expected 4}}
  flow.vector count 4 ins(%x <[3] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c6_write(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C6) a write of 4 vectors, expected 2}}
  flow.vector count 4 group 2 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32 max
  }
  return
}

// -----

func.func @vector_c7_read(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C7) touches vectors 1 to 4 of 4}}
  flow.vector count 4 ins(%x <[4] by [1], offset 1> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c7_negative(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C7) touches vectors -1 to 2 of 4}}
  flow.vector count 4 ins(%x <[4] by [-1], offset 2> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c7_write(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C7) touches vectors 0 to 6 of 4}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [2]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c8_read(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C8) a read names no lanes, tokens or stripes}}
  flow.vector count 4 ins(%x <[4] by [1], lanes 0 to 8> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c8_stripe(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C8) a stripe of 4 bytes into}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[4] by [1], stripe 4 step 1> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c8_tiles(%x: !flow.buffer<4 x f32>, %k: !flow.tiles<8 x 64 rows, i8, width 8>) {
  // expected-error @+1 {{(C8) a stripe of 0 bytes into}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %k <[4] by [1]> : !flow.tiles<8 x 64 rows, i8, width 8>) {
    out v0 : i8
  }
  return
}

// -----

func.func @vector_c9(%x: !flow.buffer<4 x a8>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C9) inputs are f32, f16, i8 or sum, found a8}}
  flow.vector count 4 ins(%x <[4] by [1]> : !flow.buffer<4 x a8>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    out v0 : f32
  }
  return
}

// -----

func.func @vector_c10_step(%p: !flow.buffer<4 x sum>, %y: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C10) uses accumulators otherwise than for add_sums}}
  flow.vector count 4 ins(%p <[4] by [1]> : !flow.buffer<4 x sum>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x f32>) {
    v1 = sqrt v0
    out v1 : f32
  }
  return
}

// -----

func.func @vector_c10_copy(%p: !flow.buffer<4 x sum>, %y: !flow.buffer<4 x sum>) {
  // expected-error @+1 {{(C10) uses accumulators otherwise than for add_sums}}
  flow.vector count 4 ins(%p <[4] by [1]> : !flow.buffer<4 x sum>)
      outs(0 to %y <[4] by [1]> : !flow.buffer<4 x sum>) {
    out v0 : sum
  }
  return
}

// -----

func.func @vector_c10_f32(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<2 x f32>) {
  // expected-error @+1 {{(C10) uses accumulators otherwise than for add_sums}}
  flow.vector count 4 group 2 ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
      outs(0 to %y <[2] by [1]> : !flow.buffer<2 x f32>) {
    out v0 : f32 add_sums
  }
  return
}
