// One function for each constraint of the collectives, named after its label.
// RUN: orrery-opt %s -split-input-file -verify-diagnostics

func.func @all_gather_c1(%x: tensor<2x32xf64>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{operand #0 must be f32 rows}}
    %y = grid.all_gather %x : tensor<2x32xf64> -> tensor<2x64xf32>
    grid.yield
  }
  return
}

// -----

func.func @all_gather_c2(%x: tensor<3x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C2) takes 3 rows but gives 2}}
    %y = grid.all_gather %x : tensor<3x32xf32> -> tensor<2x64xf32>
    grid.yield
  }
  return
}

// -----

func.func @all_gather_c3(%x: tensor<2x40xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C3) has a shard of 40, expected a multiple of 32}}
    %y = grid.all_gather %x : tensor<2x40xf32> -> tensor<2x80xf32>
    grid.yield
  }
  return
}

// -----

func.func @all_gather_c4(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C4) has 2 shards of 32 for 65 elements}}
    %y = grid.all_gather %x : tensor<2x32xf32> -> tensor<2x65xf32>
    grid.yield
  }
  return
}

// -----

func.func @all_gather_outside(%x: tensor<2x32xf32>) {
  // expected-error @+1 {{expects parent op 'grid.stage'}}
  %y = grid.all_gather %x : tensor<2x32xf32> -> tensor<2x32xf32>
  return
}

// -----

func.func @own_c1(%x: tensor<2x64xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{result #0 must be f32 rows}}
    %y = grid.own %x : tensor<2x64xf32> -> tensor<64xf32>
    grid.yield
  }
  return
}

// -----

func.func @own_c2(%x: tensor<2x64xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C2) takes 2 rows but gives 1}}
    %y = grid.own %x : tensor<2x64xf32> -> tensor<1x32xf32>
    grid.yield
  }
  return
}

// -----

func.func @own_c3(%x: tensor<2x64xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C3) has a shard of 33, expected a multiple of 32}}
    %y = grid.own %x : tensor<2x64xf32> -> tensor<2x33xf32>
    grid.yield
  }
  return
}

// -----

func.func @own_c4(%x: tensor<2x96xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C4) has 2 shards of 32 for 96 elements}}
    %y = grid.own %x : tensor<2x96xf32> -> tensor<2x32xf32>
    grid.yield
  }
  return
}

// -----

func.func @argmax_c1(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{result #0 must be i32 ids}}
    %y = grid.argmax %x vocab(64) : tensor<2x32xf32> -> tensor<2xi64>
    grid.yield
  }
  return
}

// -----

func.func @argmax_c2(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C2) takes 2 rows but gives 3}}
    %y = grid.argmax %x vocab(64) : tensor<2x32xf32> -> tensor<3xi32>
    grid.yield
  }
  return
}

// -----

func.func @argmax_c3(%x: tensor<2x31xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C3) has a shard of 31, expected a multiple of 32}}
    %y = grid.argmax %x vocab(62) : tensor<2x31xf32> -> tensor<2xi32>
    grid.yield
  }
  return
}

// -----

func.func @argmax_c4(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{(C4) has 2 shards of 32 for 65 elements}}
    %y = grid.argmax %x vocab(65) : tensor<2x32xf32> -> tensor<2xi32>
    grid.yield
  }
  return
}

// -----

func.func @argmax_c5(%x: tensor<2x32xf32>) {
  grid.stage chips [0, 1] weights 0 B kv 0 B of 0 B {
    // expected-error @+1 {{attribute 'vocab' failed to satisfy constraint}}
    %y = grid.argmax %x vocab(0) : tensor<2x32xf32> -> tensor<2xi32>
    grid.yield
  }
  return
}
