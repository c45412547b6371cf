// The language server knows the dialects: a wrong op is a diagnostic.
// RUN: orrery-lsp-server -lit-test < %s | FileCheck %s
{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"processId":1,"rootPath":"mlir","capabilities":{},"trace":"off"}}
// -----
{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"test:///a.mlir","languageId":"mlir","version":1,"text":"func.func @f(%l: tensor<4x8xf32>) {\n  %i = llm.argmax %l : tensor<4x8xf32> -> tensor<3xi32>\n  return\n}"}}}
// CHECK: "method": "textDocument/publishDiagnostics"
// CHECK: "message": "'llm.argmax' op has 4 rows but 3 ids"
// CHECK: "line": 1
// -----
{"jsonrpc":"2.0","id":1,"method":"shutdown"}
// -----
{"jsonrpc":"2.0","method":"exit"}
