// The ops of the flow dialect: memory, then one op a unit.
#ifndef ORRERY_FLOW_OPS
#define ORRERY_FLOW_OPS

include "dialects/flow/FlowDialect.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Flow_Op<string mnemonic, list<Trait> traits = []>
    : Op<Flow_Dialect, mnemonic, traits>;

// Results of loads are memory of the planes, so loads are never merged.
def Flow_AccessArray : TypedArrayAttrBase<Flow_Access, "accesses">;
def Flow_StepArray : TypedArrayAttrBase<Flow_Step, "ALU steps">;
def Flow_OutputArray : TypedArrayAttrBase<Flow_Output, "VXM outputs">;

def Flow_ProgramOp : Flow_Op<"program", [NoTerminator, NoRegionArguments,
    SingleBlock, IsolatedFromAbove]> {
  let summary = "one token step of one stage";
  let description = [{
    `tokens` new tokens, attending to `bucket` positions of a KV cache with
    room for `context`; `machine` is a preset, a file or a description's text.
    `text_base` vectors of the room for instructions belong to other programs
    of the set.

    Constraints:
      (C1) tokens, bucket and context are positive.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins StrAttr:$machine, StrAttr:$model, I64Attr:$tokens,
                       I64Attr:$bucket, I64Attr:$context,
                       OptionalAttr<UI64Attr>:$model_hash,
                       OptionalAttr<I64Attr>:$text_base);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Flow_AllocOp : Flow_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a temporary buffer";
  let description = [{
    Undefined until written. `place` is set by `--flow-allocate`; `side`
    says in which hemisphere it must lie (0 west, 1 east), -1 anywhere.

    Constraints: none.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins DefaultValuedAttr<I32Attr, "-1">:$side,
                       OptionalAttr<Flow_Place>:$place);
  let results = (outs Flow_Buffer:$buffer);
  let assemblyFormat = "attr-dict `:` qualified(type($buffer))";
}

def Flow_RegionOp : Flow_Op<"region", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a named part of SRAM: weights, a table, or KV cache";
  let description = [{
    Filled by the host before the first step (weight, table) or living across
    steps (kv, zero at first). The result is a buffer or tiles; `width` slices
    hold it. `side` as in flow.alloc.

    A weight region holds lanes [low, low + tile rows) of the N vectors
    first, first + 1, … of the tensor `name`, whose rows lie as `rows` says and
    whose columns (the reduced axis) as `columns` says; tile n * K + k is
    vector first + n, K vector k. A table holds the tensor `name` (`rows`), or
    the RoPE table "rope.cos" or "rope.sin" of `rope_theta`, `rope_dim` and
    `rope_half` over the slots of `rows`, one vector a position.

    Constraints:
      (C1) a weight region is tiles; a table is a buffer.
      (C2) a weight region has `rows` and `columns`; a table has `rows`.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins StrAttr:$name,
                       EnumAttr<Flow_Dialect, Flow_KindEnum, "kind">:$kind,
                       DefaultValuedAttr<I32Attr, "-1">:$side,
                       OptionalAttr<Flow_Place>:$place,
                       OptionalAttr<Flow_Axis>:$rows,
                       OptionalAttr<Flow_Axis>:$columns,
                       DefaultValuedAttr<I32Attr, "0">:$first,
                       DefaultValuedAttr<I32Attr, "0">:$low,
                       OptionalAttr<F64Attr>:$rope_theta,
                       DefaultValuedAttr<I32Attr, "0">:$rope_dim,
                       UnitAttr:$rope_half);
  let builders = [OpBuilder<(ins "::mlir::Type":$memory,
                                 "const ::llvm::Twine &":$name,
                                 "::orrery::flow::Kind":$kind), [{
    $_state.addTypes(memory);
    auto &properties = $_state.getOrAddProperties<Properties>();
    properties.name = $_builder.getStringAttr(name);
    properties.kind = KindAttr::get($_builder.getContext(), kind);
    properties.side = $_builder.getI32IntegerAttr(-1);
    properties.first = properties.low = properties.rope_dim =
        $_builder.getI32IntegerAttr(0);
  }]>];
  let results = (outs AnyTypeOf<[Flow_Buffer, Flow_Tiles]>:$memory);
  let assemblyFormat =
    "$kind $name attr-dict `:` qualified(type($memory))";
  let hasVerifier = 1;
}

def Flow_VectorOp : Flow_Op<"vector", [AttrSizedOperandSegments]> {
  let summary = "VXM: a burst through an elementwise program";
  let description = [{
    For n < count: takes vector n of each input's access, runs `steps`, and
    writes each output to the buffers whose entry in `routes` names it.

    Numerics: machine/VectorProgram.h.
    Constraints:
      (C1) one access an operand; every access has `count` vectors (outputs
           with a reduction: count / group).
      (C2) `group` divides `count`.
      (C3) steps and outputs name earlier values.
      (C4) `routes` has one entry an output buffer, naming an output of the
           buffer's type.
      (C5) at most 8 inputs and 4 outputs.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Variadic<Flow_Buffer>:$inputs,
                       Variadic<AnyTypeOf<[Flow_Buffer, Flow_Tiles]>>:$outs,
                       I32Attr:$count,
                       DefaultValuedAttr<I32Attr, "1">:$group,
                       Flow_StepArray:$steps,
                       Flow_OutputArray:$outputs,
                       DenseI32ArrayAttr:$routes,
                       Flow_AccessArray:$reads,
                       Flow_AccessArray:$writes);
  let assemblyFormat = [{
    `ins` `(` ($inputs^ `:` qualified(type($inputs)))? `)`
    `outs` `(` $outs `:` qualified(type($outs)) `)` attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::orrery::VectorProgram program();
  }];
}

def Flow_LoadOp : Flow_Op<"load"> {
  let summary = "MXM: activation rows into the planes of one hemisphere";
  let description = [{
    Entry `inner index k * rows + m` of each plane's activation buffer gets
    vector n = k * rows + m of the access.

    Constraints:
      (C1) the buffer is a8 or f16.
      (C2) the access has rows * inner vectors.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Flow_Buffer:$input, Flow_Access:$read,
                       I32Attr:$rows, I32Attr:$inner, I32Attr:$side);
  let results = (outs Flow_Loaded:$loaded);
  let assemblyFormat =
    "$input `:` qualified(type($input)) attr-dict";
  let hasVerifier = 1;
}

def Flow_MatmulOp : Flow_Op<"matmul"> {
  let summary = "MXM: tiles of weights times loaded activations, on one plane";
  let description = [{
    out[m, n] = sum_k tile(n, k) . activation(k, m) in the exact accumulator,
    for `tiles` N tiles and the load's `inner` K tiles: tile number
    first + n * inner + k of the weights is installed for pass (n, k). Lanes
    [low, high) of an output vector hold the tile's rows; vector
    n * rows + m of the burst goes where `write` says.

    Numerics: machine/numerics.h, rules 4 and 5.
    Constraints:
      (C1) high - low is the tiles' row count.
      (C2) the write has tiles * rows vectors.
      (C3) the weights have first + tiles * inner tiles.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Flow_Loaded:$loaded, Flow_Tiles:$weights,
                       Flow_Buffer:$out, I32Attr:$plane, I32Attr:$first,
                       I32Attr:$tiles, I32Attr:$low, I32Attr:$high,
                       Flow_Access:$write);
  let assemblyFormat = [{
    $loaded `,` $weights `:` qualified(type($weights)) `outs` `(` $out `:`
    qualified(type($out)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Flow_PermuteOp : Flow_Op<"permute"> {
  let summary = "SXM: lanes of a burst moved by a map";
  let description = [{
    out lane l = in lane map[l]; -1 gives zero.

    Constraints:
      (C1) in and out have one type, f32 or f16 or i8.
      (C2) every access has the same number of vectors.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Flow_Buffer:$input, Variadic<Flow_Buffer>:$outs,
                       DenseI32ArrayAttr:$map, Flow_Access:$read,
                       Flow_AccessArray:$writes, I32Attr:$side);
  let assemblyFormat = [{
    `ins` `(` $input `:` qualified(type($input)) `)`
    `outs` `(` $outs `:` qualified(type($outs)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Flow_TransposeOp : Flow_Op<"transpose"> {
  let summary = "SXM: token rows to columns of a KV tile (V append)";
  let description = [{
    Lane r of token j's vector becomes lane (POS + j) % lanes of row r, for
    r < rows, written into the tile of POS's chunk.

    Constraints:
      (C1) i8 rows into i8 tiles, f16 into f16.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Flow_Buffer:$input, Flow_Tiles:$out, I32Attr:$tokens,
                       I32Attr:$rows, I32Attr:$side, Flow_Access:$read);
  let assemblyFormat = [{
    $input `:` qualified(type($input)) `outs` `(` $out `:`
    qualified(type($out)) `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Flow_ReceiveOp : Flow_Op<"receive"> {
  let summary = "host link: the step's input vectors, f32, into a buffer";
  let description = [{
    Constraints:
      (C1) the buffer is f32.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Flow_Buffer:$out);
  let assemblyFormat = "$out `:` qualified(type($out)) attr-dict";
  let hasVerifier = 1;
}

def Flow_SendOp : Flow_Op<"send"> {
  let summary = "host link: a buffer's vectors to the host";
  let description = [{
    Constraints:
      (C1) the buffer is f32.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Flow_Buffer:$input);
  let assemblyFormat = "$input `:` qualified(type($input)) attr-dict";
  let hasVerifier = 1;
}

def Flow_LogitsOp : Flow_Op<"logits"> {
  let summary = "marks the buffer that holds the step's logits";
  let description = [{
    Vector (token t, j) is vector t * vectors + j; element j * lanes + lane.

    Constraints:
      (C1) the buffer is f32.
    Example: tests/dialects/flow/ops.mlir
  }];
  let arguments = (ins Flow_Buffer:$buffer, I32Attr:$vectors, I32Attr:$vocab);
  let assemblyFormat = "$buffer `:` qualified(type($buffer)) attr-dict";
  let hasVerifier = 1;
}

#endif // ORRERY_FLOW_OPS
