// The grid dialect and the base classes of its ops and attributes.
#ifndef ORRERY_DIALECTS_GRID_GRIDDIALECT_TD
#define ORRERY_DIALECTS_GRID_GRIDDIALECT_TD

include "dialects/llm/LlmDialect.td"
include "mlir/IR/AttrTypeBase.td"

def Grid_Dialect : Dialect {
  let name = "grid";
  let cppNamespace = "::orrery::grid";
  let summary = "where: which chips hold which part of a model";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let description = [{
    `grid` says **where**: a step function is divided into stages, each on a
    group of chips. What is still unknown is how a chip computes its part
    (units, buffers) and when. The system is named by the function's attribute
    `grid.machine` (a preset or a file).

    The values are those of the llm dialect: grid changes no number.

    A group of N > 1 chips computes a stage together (tensor parallel). Its
    chips are *ranks* 0 .. N-1, and the body of the stage is what one rank does:
    all do the same, each on its own shard of the weights and caches. A value
    in the body is then one of

    | value | holds on rank r |
    |---|---|
    | replicated | the same rows on all ranks: ids, an embedding, a gathered value |
    | a shard, E wide of N | elements [r * E, r * E + E) of N; zeros past N |
    | a partial | a part of each sum of a product, as an exact accumulator |

    `llm.linear` with the attribute `grid.shard` makes a shard, the llm ops on
    elements and heads keep it one, and `grid.all_gather` makes it whole.
    `llm.linear` with the attribute `grid.columns` takes a shard and makes a
    partial: rank r has columns [r * E, r * E + E) of the matrix, all of its rows,
    and what is not read out yet of their products; what all ranks have adds up to
    the product. `grid.reduce_scatter` and `grid.all_reduce` add it.
    Shards are multiples of 32 elements, so that a block of 32 has one owner.
    What a stage yields to the next is a shard that stays on its rank: rank r of
    the next stage gets that of rank r.

    Constraints on attributes of other ops and of functions:
      - (A1) `grid.shard` of an op is a `#grid.shard`, on an `llm.linear` whose
        result has the shard's width.
      - (A2) `grid.shard` of a function's result is a `#grid.shard` without
        replicas, on f32 rows of the shard's width: rank r of the last stage
        returns elements [r * E, r * E + E) of N.
      - (A3) `grid.columns` of an op is a `#grid.shard` of a multiple of 32
        elements, without replicas, on an `llm.linear` without `grid.shard`, whose
        operand has its width and whose result has one use, a
        `grid.reduce_scatter` or `grid.all_reduce`.

    Example: tests/dialects/grid/ops.mlir
  }];
}

class Grid_Op<string mnemonic, list<Trait> traits = []>
    : Op<Grid_Dialect, mnemonic, traits>;

class Grid_Attr<string name, string attrMnemonic>
    : AttrDef<Grid_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Grid_Shard : Grid_Attr<"Shard", "shard"> {
  let summary = "which rows of a weight matrix a rank holds";
  let description = [{
    Rank r holds rows [(r / R) * E, (r / R) * E + E) of the N rows that the
    matrix has in the model file, where E is `elements`, N is `of` and R is
    `replicas`. Rows past N are zeros. R > 1 where several ranks share a KV
    head: each holds it. As `grid.columns` the same of columns.

    Constraints:
      - (C1) elements, of and replicas are at least 1.

    Example: tests/dialects/grid/ops.mlir
    ```mlir
    #grid.shard<1024 of 8192>
    #grid.shard<128 of 1024 replicas 2>
    ```
  }];
  let parameters = (ins "int64_t":$elements, "int64_t":$of,
                        DefaultValuedParameter<"int64_t", "1">:$replicas);
  let assemblyFormat = [{
    `<` $elements `of` $of (`replicas` $replicas^)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif
