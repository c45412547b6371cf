// One function for each constraint of the ops in FlowHost.td, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @receive_c1(%x: !flow.buffer<4 x f16>) {
  // expected-error @+1 {{(C1) expected f32, found f16}}
  flow.receive rows <96> %x : !flow.buffer<4 x f16>
  return
}

// -----

func.func @receive_c3_theta(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) needs cos or sin, heads, a finite, positive theta}}
  flow.receive rope "cos" theta 0.0 turning 8 rows <32, heads 4 over 4 of 8> %x : !flow.buffer<4 x f32>
  return
}

// -----

func.func @receive_c3_turning(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) needs cos or sin}}
  flow.receive rope "sin" theta 1.0 turning 10 rows <32, heads 4 over 4 of 8> %x : !flow.buffer<4 x f32>
  return
}

// -----

func.func @receive_c3_name(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) needs cos or sin}}
  flow.receive rope "tan" theta 1.0 turning 8 rows <32, heads 4 over 4 of 8> %x : !flow.buffer<4 x f32>
  return
}

// -----

func.func @receive_c3_other(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C3) only rope rows have theta and turning}}
  flow.receive theta 1.0 rows <96> %x : !flow.buffer<4 x f32>
  return
}

// -----

func.func @send_c1(%x: !flow.buffer<4 x a8>) {
  // expected-error @+1 {{(C1) expected f32, found a8}}
  flow.send %x : !flow.buffer<4 x a8>
  return
}

// -----

func.func @logits_c1(%x: !flow.buffer<4 x f16>) {
  // expected-error @+1 {{(C1) expected f32, found f16}}
  flow.logits %x vectors 2 vocab 100 : !flow.buffer<4 x f16>
  return
}

// -----

func.func @logits_c2(%x: !flow.buffer<4 x f32>) {
  // expected-error @+1 {{(C2) 0 logits in 2 vectors a token}}
  flow.logits %x vectors 2 vocab 0 : !flow.buffer<4 x f32>
  return
}
