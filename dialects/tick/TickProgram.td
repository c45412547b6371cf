// The program op: what one chip does in one token step.
#ifndef ORRERY_DIALECTS_TICK_TICKPROGRAM_TD
#define ORRERY_DIALECTS_TICK_TICKPROGRAM_TD

include "dialects/tick/TickAttributes.td"
include "mlir/IR/SymbolInterfaces.td"

def Tick_ProgramOp : Tick_Op<"program", [
    IsolatedFromAbove, NoTerminator, NoRegionArguments, SingleBlock, Symbol,
    SymbolTable]> {
  let summary = "a compiled token step of one chip";
  let description = [{
    The step of `tokens` tokens of model `model` on `machine`, attending to at
    most `bucket` positions, with room for `context`. It ends at tick `ends`,
    as predicted, and leaves its logits at `logits`.

    Its block holds, in this order, the tables (`tick.region`,
    `tick.vector_program`, `tick.lane_map`) and the instructions by tick.

    `machine` is the JSON text of a machine description or the name of a
    preset; the encoder replaces a name by the preset's text. `hash` is that of
    model configuration and weight formats. `input_vectors` f32 vectors come
    from the host per token. `locations` is the table that op locations are
    lines of; without it the table is those of the instructions by first use.

    Timing:
      `ends` is the end tick of machine/README.md, rule 7.

    Constraints:
      - (C1) 1 <= tokens <= bucket <= context.
      - (C2) regions, vector programs, lane maps and instructions stand in this
        order, and nothing else is there.
      - (C3) no two regions have the same name.
      - (C4) all lane maps have the same number of lanes.
      - (C5) ticks are not negative and do not decrease; `ends` is not negative.
      - (C6) a `tick.vector` names a vector program of this program that has as
        many inputs and outputs, and whose group divides its count.
      - (C7) a `tick.permute` by lane map names a lane map of this program.

    Example: tests/dialects/tick/program.mlir
    ```mlir
    tick.program @step model "stories" hash 7 machine "lpu-v1"
        tokens 1 bucket 64 context 256 input_vectors 1
        logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
      tick.receive at 300 stream 0 stop 44 shape <1>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name, StrAttr:$model, UI64Attr:$model_hash,
    StrAttr:$machine, UI32Attr:$tokens, UI32Attr:$bucket, UI32Attr:$context,
    UI32Attr:$input_vectors, Tick_Logits:$logits, Tick_Time:$predicted_ticks,
    OptionalAttr<StrArrayAttr>:$locations);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    $sym_name `model` $model `hash` $model_hash `machine` $machine
    `tokens` $tokens `bucket` $bucket `context` $context
    `input_vectors` $input_vectors `logits` $logits `ends` $predicted_ticks
    (`locations` $locations^)? attr-dict-with-keyword $bodyRegion
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif
