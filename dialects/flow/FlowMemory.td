// The program and what lies in SRAM.
#ifndef ORRERY_DIALECTS_FLOW_FLOWMEMORY_TD
#define ORRERY_DIALECTS_FLOW_FLOWMEMORY_TD

include "dialects/flow/FlowAttributes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Flow_ProgramOp : Flow_Op<"program", [NoTerminator, NoRegionArguments,
    SingleBlock, IsolatedFromAbove]> {
  let summary = "one token step of one stage";
  let description = [{
    `tokens` new tokens, attending to at most `bucket` positions of a KV cache
    with room for `context`, both in whole position tiles. `machine` is a
    preset or a file. `text_base` vectors of the room for
    instructions belong to other programs of the set; `hash` names model and
    formats. All chips of a tensor-parallel group run it, each on its own
    shards: what one receives on a link up to `group_links`, another of the
    group has sent on the link of that number. The next link leads to other
    stages.

    Constraints:
      - (C1) tokens and group_links are at least 1; tokens <= bucket <= context.
      - (C2) the body holds flow ops only, and no program.
      - (C3) every lane of a temporary is written once, and no vector of one is
        read that no earlier op wrote.
      - (C4) no two buffers or regions that have places share an address of a
        slice's bank, unless both are temporaries of which one is last named
        before the other is first named.

    Example: tests/dialects/flow/program.mlir
    ```mlir
    flow.program machine "lpu-small" model "one layer" tokens 2 bucket 128
        context 512 {
      ...
    }
    ```
  }];
  let arguments = (ins StrAttr:$machine, StrAttr:$model, Flow_Long:$tokens,
                       Flow_Long:$bucket, Flow_Long:$context,
                       OptionalAttr<UI64Attr>:$model_hash,
                       OptionalAttr<Flow_Long>:$text_base,
                       OptionalAttr<Flow_Long>:$group_links);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `machine` $machine `model` $model `tokens` $tokens `bucket` $bucket
    `context` $context (`group_links` $group_links^)? (`hash` $model_hash^)? (`text_base` $text_base^)?
    attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Flow_AllocOp : Flow_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a temporary buffer";
  let description = [{
    Undefined until written. `side` says in which hemisphere it had best lie (0
    west, 1 east; -1, the default, either): near the unit that reads it. `held`:
    ops all over the step read it beside caches, so it is placed before these.
    `place` is what `--flow-allocate` chose.

    Constraints:
      - (C1) `side` is -1, 0 or 1.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    %x = flow.alloc side 1 : !flow.buffer<4 x a8>
    ```
  }];
  let arguments = (ins DefaultValuedAttr<Flow_Int, "-1">:$side, UnitAttr:$held,
                       OptionalAttr<Flow_Place>:$place);
  let results = (outs Flow_Buffer:$buffer);
  let assemblyFormat = [{
    (`held` $held^)? (`side` $side^)? (`place` $place^)? attr-dict `:` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def Flow_RegionOp : Flow_Op<"region", [MemoryEffects<[MemAlloc]>]> {
  let summary = "a named part of SRAM: weights, a table, or KV cache";
  let description = [{
    Filled by the host before the first step (weight, table) or living across
    steps (kv, zero at first). `side` is where it must lie,
    `place` where it does.

    A weight region is made of the matrix `name`, whose rows lie as `rows` says
    and whose columns (the reduced axis) as `columns` says. With K vectors of
    columns:
    ```
    tile n * K + k, row r, lane l = matrix[rows(first + n, low + r), columns(k, l)]
    ```
    where axis(j, l) is the element in lane l of vector j; padding is zero. With
    `shard_of` N a rank's rows are a shard: its row i is the matrix's row
    (rank / replicas) * rows.elements + i, zero from N on.

    A table holds the vector `name` as `rows` says; or, of a shard of a
    vocabulary, under "argmax.base" one vector with the index of the rank's
    first row in lane 1, as a uint32, and under "argmax.mask" 0 for each of the
    rank's rows below N, the lowest f32 elsewhere.

    With `columns_of` K a rank's columns are a shard: its column i is the matrix's
    column rank * columns.elements + i, zero from K on. With `behind` s `of_ranks`
    p the rows are those of the rank s before the own, of p: row i is the matrix's
    row ((rank - s) mod p) * rows.elements + i.

    Numerics:
      weights are packed as machine/Instruction.h, InstallOp; tables are f32.

    Constraints:
      - (C1) a weight region is tiles; a table is an f32 buffer.
      - (C2) a weight region has `rows` and `columns`, a table `rows` only, a
        KV region neither.
      - (C3) `side` is 0 or 1 for tiles; -1, 0 or 1 for buffers.
      - (C4) `first` and `low` are at least 0, and 0 unless it is a weight.
      - (C5) `name` is not empty.
      - (C6) `replicas` is at least 1, and 1 without `shard_of`; `shard_of` is
        at least 0 and goes with a weight, argmax.base or argmax.mask.
      - (C7) `columns_of` is at least 0, `of_ranks` at least 1, both for weights
        only; 0 <= behind < of_ranks, and without replicas.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    %w = flow.region weight "blk.0.attn_q.weight" rows <64> columns <64>
         first 0 low 16 side 0 : !flow.tiles<1 x 16 rows, q8, width 16>
    ```
  }];
  let arguments = (ins StrAttr:$name,
                       EnumAttr<Flow_Dialect, Flow_KindEnum, "kind">:$kind,
                       DefaultValuedAttr<Flow_Int, "-1">:$side,
                       OptionalAttr<Flow_Place>:$place,
                       OptionalAttr<Flow_Axis>:$rows,
                       OptionalAttr<Flow_Axis>:$columns,
                       DefaultValuedAttr<Flow_Int, "0">:$first,
                       DefaultValuedAttr<Flow_Int, "0">:$low,
                       DefaultValuedAttr<Flow_Int, "0">:$shard_of,
                       DefaultValuedAttr<Flow_Int, "1">:$replicas,
                       DefaultValuedAttr<Flow_Int, "0">:$columns_of,
                       DefaultValuedAttr<Flow_Int, "0">:$behind,
                       DefaultValuedAttr<Flow_Int, "1">:$of_ranks);
  let builders = [OpBuilder<(ins "::mlir::Type":$memory,
                                 "const ::llvm::Twine &":$name,
                                 "::orrery::flow::Kind":$kind), [{
    $_state.addTypes(memory);
    auto &properties = $_state.getOrAddProperties<Properties>();
    properties.name = $_builder.getStringAttr(name);
    properties.kind = KindAttr::get($_builder.getContext(), kind);
    properties.side = $_builder.getI32IntegerAttr(-1);
    properties.first = properties.low = properties.shard_of =
        properties.columns_of = properties.behind = $_builder.getI32IntegerAttr(0);
    properties.replicas = properties.of_ranks = $_builder.getI32IntegerAttr(1);
  }]>];
  let results = (outs AnyTypeOf<[Flow_Buffer, Flow_Tiles]>:$memory);
  let assemblyFormat = [{
    custom<Word>($kind) $name (`rows` $rows^)? (`columns` $columns^)?
    (`first` $first^)? (`low` $low^)?
    (`shard_of` $shard_of^)? (`replicas` $replicas^)?
    (`behind` $behind^)? (`of_ranks` $of_ranks^)? (`columns_of` $columns_of^)?
    (`side` $side^)? (`place` $place^)?
    attr-dict `:` qualified(type($memory))
  }];
  let hasVerifier = 1;
}

#endif
