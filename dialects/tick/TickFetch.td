// Instructions of the instruction control unit (ICU).
#ifndef ORRERY_DIALECTS_TICK_TICKFETCH_TD
#define ORRERY_DIALECTS_TICK_TICKFETCH_TD

include "dialects/tick/TickAttributes.td"

def Tick_FetchOp : Tick_Instruction<"fetch"> {
  let summary = "instructions from SRAM to the buffer of a queue";
  let description = [{
    ```
    buffer of queue `queue` `number` += sram[slice][bank][address + n],
    n < icu.fetch_vectors
    ```
    which is the next chunk of that queue's text (machine/InstructionText.h).

    Timing:
      Vector n is read at tick + n, through the slice's read port; the bytes are
      in the buffer `timing.fetch` ticks after the last.

    Constraints:
      - (C1) queues of which there is but one (vector, fetch) have number 0.

    Example: tests/dialects/tick/fetch.mlir
    ```mlir
    tick.fetch at 120 queue read 28 from slice 3 bank 1 address 40
    ```
  }];
  let arguments = (ins
    Tick_Time:$tick, Tick_QueueKindAttr:$queue, UI16Attr:$number,
    UI16Attr:$slice, UI8Attr:$bank, UI32Attr:$address);
  let assemblyFormat = [{
    `at` $tick `queue` custom<Word>($queue) $number
    `from` `slice` $slice `bank` $bank `address` $address attr-dict
  }];
  let hasVerifier = 1;
}

#endif
