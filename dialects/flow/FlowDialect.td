// The flow dialect, its types and the base class of its ops.
#ifndef ORRERY_DIALECTS_FLOW_FLOWDIALECT_TD
#define ORRERY_DIALECTS_FLOW_FLOWDIALECT_TD

include "dialects/flow/FlowEnums.td"
include "mlir/IR/AttrTypeBase.td"

def Flow_Dialect : Dialect {
  let name = "flow";
  let cppNamespace = "::orrery::flow";
  let summary = "how a shard is computed: unit operations joined by buffers";
  let description = [{
    `flow` says **how**: each op is one unit of the chip (VXM, MXM, SXM, host
    link) fed from SRAM over streams and writing SRAM. What is still unknown
    is when (cycles), on which streams and, until `--flow-allocate` has run, at
    which addresses.

    Ops are in destination-passing style: buffers are memory, and program order
    is the meaning. An *access* (`<[3, 4] by [1, 8]>`) says which vectors of a
    buffer an op touches, in which order; vector n of every access of an op is
    one moment of its burst.

    A buffer made by `flow.alloc` is a temporary: each lane of it is written
    once, and before it is read. Schedulers rely on it: between two ops on a
    temporary only read-after-write counts.

    `POS` is the position of the step's first token, `NTOK` the number of its
    valid tokens; both are known when the program runs, not before.

    Example: tests/dialects/flow/ops.mlir
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

class Flow_Type<string name, string typeMnemonic>
    : TypeDef<Flow_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Flow_Buffer : Flow_Type<"Buffer", "buffer"> {
  let summary = "vectors in SRAM";
  let description = [{
    `vectors` vectors of `lanes` elements. An f32 buffer takes four slices (byte
    plane k in slice k), f16 and a8 two, i8 one; all at the same addresses.

    Constraints:
      - (C1) `vectors` is at least 1.

    Example: tests/dialects/flow/attributes.mlir
    ```mlir
    !flow.buffer<40 x f32>
    ```
  }];
  let parameters = (ins "uint32_t":$vectors,
                        Flow_EnumParameter<Flow_StreamTypeEnum>:$type);
  let assemblyFormat = "`<` $vectors `x` $type `>`";
  let genVerifyDecl = 1;
}

def Flow_Tiles : Flow_Type<"Tiles", "tiles"> {
  let summary = "weight tiles in SRAM, ready to install";
  let description = [{
    `tiles` tiles of `rows` rows striped over `width` slices, each
    tileCycles(format, rows, width) addresses long, one after another; the
    bytes of a tile are those of machine/Instruction.h, InstallOp.

    Constraints:
      - (C1) `tiles`, `rows` and `width` are at least 1.
      - (C2) q8 and q4 tiles have a multiple of 16 rows.

    Example: tests/dialects/flow/attributes.mlir
    ```mlir
    !flow.tiles<26 x 320 rows, q8, width 16>
    ```
  }];
  let parameters = (ins "uint32_t":$tiles,
                        Flow_EnumParameter<Flow_FormatEnum>:$format,
                        "uint32_t":$rows, "uint32_t":$width);
  let assemblyFormat = [{
    `<` $tiles `x` $rows `rows` `,` $format `,` `width` $width `>`
  }];
  let genVerifyDecl = 1;
}

def Flow_Loaded : Flow_Type<"Loaded", "loaded"> {
  let summary = "activation rows held by the planes of one hemisphere";
  let description = [{
    What `flow.load` makes and `flow.matmul` uses.

    Constraints: none.

    Example: tests/dialects/flow/ops.mlir
  }];
}

class Flow_Op<string mnemonic, list<Trait> traits = []>
    : Op<Flow_Dialect, mnemonic, traits>;

#endif
