// Bursts through the vector unit (VXM).
#ifndef ORRERY_DIALECTS_FLOW_FLOWVECTOR_TD
#define ORRERY_DIALECTS_FLOW_FLOWVECTOR_TD

include "dialects/flow/FlowAttributes.td"

def Flow_VectorOp : Flow_Op<"vector", [AttrSizedOperandSegments]> {
  let summary = "VXM: a burst through an elementwise program";
  let description = [{
    ```
    for n < count:
      v_i = inputs[i][reads[i](n)]                   for i < inputs
      v_j = step_j(v_0 ... v_{j-1}; n, POS)          for each step
      outs[o][writes[o](n)] = outputs[routes[o]](n)  for each buffer o
    ```
    An output with a reduction gives one vector for every `group` successive n,
    numbered n / group. An output may go to several buffers.

    Numerics:
      machine/VectorProgram.h.

    Constraints:
      - (C1) one access an operand, and one route an output buffer.
      - (C2) `count` and `group` are at least 1 and `group` divides `count`.
      - (C3) steps and outputs name earlier values.
      - (C4) a route names an output; its buffer has the output's type; every
        output has a route.
      - (C5) at most 8 inputs, 1 to 4 outputs and at most 256 values.
      - (C6) a read has `count` vectors; a write `count`, or count / group of a
        reduction.
      - (C7) accesses stay inside their memory: for POS = 0, and with `position`
        also for POS = bucket - 1.
      - (C8) reads name no lanes, tokens or stripes; writes into tiles are
        striped by the bytes of an element, others are not.
      - (C9) inputs are f32, f16, i8 or sum.
      - (C10) sum inputs, and no other values, are what add_sums outputs put out;
        no step takes them.

    Example: tests/dialects/flow/ops.mlir
    ```mlir
    flow.vector count 4 group 2
        ins(%x <[4] by [1]> : !flow.buffer<4 x f32>)
        outs(0 to %s <[2] by [1]> : !flow.buffer<2 x f32>) {
      v1 = mul v0, v0
      out v1 : f32 sum_wide
    }
    ```
  }];
  let arguments = (ins Variadic<Flow_Buffer>:$inputs,
                       Variadic<AnyTypeOf<[Flow_Buffer, Flow_Tiles]>>:$outs,
                       Flow_Int:$count,
                       DefaultValuedAttr<Flow_Int, "1">:$group,
                       Flow_StepArray:$steps,
                       Flow_OutputArray:$outputs,
                       DenseI32ArrayAttr:$routes,
                       Flow_AccessArray:$reads,
                       Flow_AccessArray:$writes);
  let assemblyFormat = [{
    `count` $count (`group` $group^)?
    `ins` custom<Reads>($inputs, type($inputs), $reads)
    `outs` custom<RoutedWrites>($outs, type($outs), $writes, $routes)
    custom<VectorBody>(ref($inputs), $steps, $outputs) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The steps and outputs in the machine's form.
    ::orrery::VectorProgram program();
  }];
}

#endif
