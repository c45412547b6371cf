// One function for each constraint of the ops in FlowHost.td, named after its
// label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @receive_c1(%x: !flow.buffer<4 x f16>) {
  // expected-error @+1 {{(C1) expected f32, found f16}}
  flow.receive %x : !flow.buffer<4 x f16>
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
