// One function for each constraint of the ops in FlowLinks.td, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @link_send_c1(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) link 2 is not 1 to 255 or is named twice}}
  flow.link_send links [2, 2] %x <[4] by [1]> : !flow.buffer<4 x f32>
  return
}

// -----

func.func @link_send_c1_host(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) link 0 is not 1 to 255 or is named twice}}
  flow.link_send links [0] %x <[4] by [1]> : !flow.buffer<4 x f32>
  return
}

// -----

func.func @link_send_c1_none(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) needs at least one link}}
  flow.link_send links [] %x <[4] by [1]> : !flow.buffer<4 x f32>
  return
}

// -----

func.func @link_send_c2(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C2) touches vectors 0 to 4 of 4}}
  flow.link_send links [1] %x <[5] by [1]> : !flow.buffer<4 x f32>
  return
}

// -----

func.func @link_send_c2_lanes(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C2) a read names no lanes, tokens or stripes}}
  flow.link_send links [1] %x <[4] by [1], lanes 0 to 32> : !flow.buffer<4 x f32>
  return
}

// -----

func.func @link_receive_c1(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C1) link 256 is not 1 to 255}}
  flow.link_receive link 256 outs(%x <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @link_receive_c2(%x: !flow.buffer<4 x f32>, %y: !flow.buffer<4 x f16>) {
  // expected-error @+1 {{(C2) writes of 4 and 4 vectors, or of different types}}
  flow.link_receive link 1 outs(%x <[4] by [1]> : !flow.buffer<4 x f32>,
                                %y <[4] by [1]> : !flow.buffer<4 x f16>)
  return
}

// -----

func.func @link_receive_c3(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) touches vectors 1 to 4 of 4}}
  flow.link_receive link 1 outs(%x <[4] by [1], offset 1> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @link_receive_c4(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C4) lane 16 is no multiple of 32}}
  flow.link_receive link 1 to 16 lanes 32 outs(%x <[4] by [1]> : !flow.buffer<4 x f32>)
  return
}

// -----

func.func @link_receive_c4_a8(%x: !flow.buffer<4 x a8>) {
  // expected-error @+1 {{(C4) lanes 0 to 16 of a8}}
  flow.link_receive link 1 outs(%x <[4] by [1], lanes 0 to 16> : !flow.buffer<4 x a8>)
  return
}
