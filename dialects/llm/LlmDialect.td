// The llm dialect, its operand types and the base class of its ops.
#ifndef ORRERY_DIALECTS_LLM_LLMDIALECT_TD
#define ORRERY_DIALECTS_LLM_LLMDIALECT_TD

include "mlir/IR/OpBase.td"

def Llm_Dialect : Dialect {
  let name = "llm";
  let summary = "what a decoder step computes";
  let cppNamespace = "::orrery::llm";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let description = [{
    One function is one token step: T new tokens go through the whole decoder.
    Nothing here says where or when anything happens, and no weight is in the
    IR: ops name tensors of a model file.

    Values are f32 rows [T, n], row t belonging to the t-th token of the step,
    or i32 token ids [T]. Besides SSA values there is one kind of state, the KV
    cache of each layer, which `llm.attention` appends to and reads.

    A step is a `func.func` with these attributes:

    | attribute | meaning |
    |---|---|
    | `llm.tokens` | T, the most tokens one run takes; the *valid* ones may be fewer |
    | `llm.bucket` | positions a run may reach: position + valid tokens <= bucket |
    | `llm.context` | positions each KV cache has room for |
    | `llm.model` | name of the model, for people |

    A run has a position: that of its first token. Token t stands at position
    `position + t` and sees positions 0 to its own. Rows of tokens that are not
    valid have no meaning, and nothing may depend on them.

    Numerics:
      machine/numerics.h holds every function named in capitals or camel case
      in the ops' text. All reductions are exact sums read out once, so a step's
      results do not depend on order, on T, or on the bucket. A NaN or infinity
      in a result, or an accumulator outside +-2^27, is an error that names op
      and position.

    Constraints on a step:
      - (S1) `llm.tokens`, `llm.bucket` and `llm.context` are i64, `llm.model`
        is a string, and all four are there if one is.
      - (S2) 1 <= tokens <= bucket <= context.
      - (S3) its only argument is the ids, `tensor<tokens x i32>`.
      - (S4) it returns the logits, f32 rows, and optionally ids after them.
      - (S5) every `llm.attention` in it has the step's context.
      - (S6) no two `llm.attention` in it have the same layer.

    Canonical form (what fusions may rely on in an imported step after
    `-canonicalize -cse`):
      linears with the same input take the same SSA value, so q/k/v and gate/up
      are found as users of one `llm.rms_norm`; the two linears of a
      `llm.gated` are its operands' definitions, gate first; a residual
      `llm.add` has the stream as its first operand and the branch as its
      second; no `llm.rope` turns 0 elements. Operands are never swapped:
      canonicalisation keeps the order in which a step was written.

    Example: tests/dialects/llm/step.mlir
  }];
}

/// [T, n] f32 of static shape; row t belongs to the step's t-th token.
def Llm_Rows : Type<
    And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
         CPred<"::orrery::llm::isRows("
               "::llvm::cast<::mlir::RankedTensorType>($_self))">]>,
    "f32 rows [T, n] of static shape, T and n at least 1",
    "::mlir::RankedTensorType">;

/// [T] i32 of static shape.
def Llm_Ids : Type<
    And<[CPred<"::llvm::isa<::mlir::RankedTensorType>($_self)">,
         CPred<"::orrery::llm::isIds("
               "::llvm::cast<::mlir::RankedTensorType>($_self))">]>,
    "i32 ids [T] of static shape, T at least 1",
    "::mlir::RankedTensorType">;

/// A count or an index: i64, read as int64_t.
class Llm_Integer<string what>
    : TypedSignlessIntegerAttrBase<I64, "int64_t", what>;
def Llm_Count : ConfinedAttr<Llm_Integer<"64-bit count">, [IntPositive]>;
def Llm_Index : ConfinedAttr<Llm_Integer<"64-bit index">, [IntNonNegative]>;

/// The name of a tensor of the model file.
def Llm_TensorName
    : ConfinedAttr<StrAttr, [AttrConstraint<
          CPred<"!::llvm::cast<::mlir::StringAttr>($_self).getValue().empty()">,
          "not empty">]>;

class Llm_Op<string mnemonic, list<Trait> traits = []>
    : Op<Llm_Dialect, mnemonic, traits>;

#endif
