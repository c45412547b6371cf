// RUN: orrery-translate --tick-to-program %s -split-input-file -verify-diagnostics

// expected-error @below {{'tick.program' op has machine "lpu-v0", expected JSON text or one of }}
tick.program @step model "m" hash 7 machine "lpu-v0" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 4 bank 0 base 12 vectors 2 vocab 512> ends 900 {
}

// -----

// expected-error @below {{'tick.program' op is not valid: program `}}
tick.program @step model "m" hash 7 machine "lpu-v1" tokens 1 bucket 64 context 256 input_vectors 1
    logits <slice 400 bank 0 base 12 vectors 2 vocab 512> ends 900 {
}

// -----

// expected-error @below {{expected one tick.program, found 0}}
module {
}
