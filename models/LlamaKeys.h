// Which "llama." metadata a plain decoder may have.
//
// Whatever could change the model's result is either read (ReadConfig.cpp), or
// known and at the value that turns it off, or refused. So a key that is not
// known is an error too.
#pragma once

#include "machine/Result.h"
#include "models/Gguf.h"

namespace orrery::models {

/// Fails at the first "llama." key that is unknown or switches on what is not
/// supported, naming it, its value, and the values it may have.
Status checkLlamaKeys(const GgufFile &file);

} // namespace orrery::models
