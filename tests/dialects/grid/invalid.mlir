// One function for each constraint of the ops, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @stage_c1_none() {
  // expected-error @+1 {{(C1) needs at least one chip}}
  grid.stage chips [] weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c1_twice() {
  // expected-error @+1 {{(C1) chip 2 is negative or named twice}}
  grid.stage chips [2, 1, 2] weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c1_negative() {
  // expected-error @+1 {{(C1) chip -1 is negative or named twice}}
  grid.stage chips [-1] weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c2() {
  // expected-error @+1 {{(C2) weights of 70 B and KV of 40 B do not fit the capacity of 100 B}}
  grid.stage chips [0] weights 70 B kv 40 B of 100 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c2_overflow() {
  // expected-error @+1 {{(C2)}}
  grid.stage chips [0] weights 9223372036854775807 B kv 9223372036854775807 B of 9223372036854775807 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c2_negative() {
  // expected-error @+1 {{(C2) weights of -1 B}}
  grid.stage chips [0] weights -1 B kv 0 B of 100 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{(C3) results differ from the yielded values}}
  %r = grid.stage chips [0] weights 0 B kv 0 B of 0 B -> tensor<8xf32> {
    grid.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @stage_c4() {
  // expected-error @+1 {{(C4) a stage inside a stage}}
  grid.stage chips [0] weights 0 B kv 0 B of 0 B {
    grid.stage chips [1] weights 0 B kv 0 B of 0 B {
      grid.yield
    }
    grid.yield
  }
  return
}

// -----

func.func @stage_c5() {
  // expected-error @+1 {{(C5) first layer -1 is negative}}
  grid.stage chips [0] from layer -1 weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c6() {
  // expected-error @+1 {{(C6) a ring has at least 3 chips, found 2}}
  grid.stage chips [0, 1] ring weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c7(%x: tensor<1x32xf32>) {
  // expected-note @+1 {{the value}}
  %a = grid.stage chips [0] weights 0 B kv 0 B of 0 B -> tensor<1x32xf32> {
    grid.yield %x : tensor<1x32xf32>
  }
  %b = grid.stage chips [1] weights 0 B kv 0 B of 0 B -> tensor<1x32xf32> {
    grid.yield %a : tensor<1x32xf32>
  }
  // expected-error @+1 {{(C7) takes a value of a stage that is not the one before it}}
  grid.stage chips [2] weights 0 B kv 0 B of 0 B {
    %n = llm.rms_norm %a weight("w") eps(1.0e-05) : tensor<1x32xf32>
    grid.yield
  }
  return
}

// -----

func.func @stage_c8() {
  // expected-error @+1 {{(C8) needs at least one cable, and as many as the stage before; found 0}}
  grid.stage chips [0] cables 0 weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c8_before() {
  grid.stage chips [0] cables 2 weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  // expected-error @+1 {{(C8) needs at least one cable, and as many as the stage before; found 1}}
  grid.stage chips [1] weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @stage_c8_far(%x: tensor<1x32xf32>) {
  grid.stage chips [0] cables 2 weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  %y = llm.add %x, %x : tensor<1x32xf32>
  // expected-error @+1 {{(C8) needs at least one cable, and as many as the stage before; found 1}}
  grid.stage chips [1] weights 0 B kv 0 B of 0 B {
    grid.yield
  }
  return
}

// -----

func.func @yield_c1() {
  // expected-error @+1 {{expects parent op 'grid.stage'}}
  grid.yield
}
