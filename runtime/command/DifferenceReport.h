// How a command says which op has other bits, as text and as JSON.
#pragma once

#include "runtime/FirstDifference.h"
#include "runtime/command/Json.h"

#include <string>

namespace orrery::command {

/// `who` has other bits than the interpreter.
std::string differenceText(const runtime::OpDifference &first, const char *who);
/// `foundBits` is the key of the other side's.
Json differenceJson(const runtime::OpDifference &first, const char *foundBits);

} // namespace orrery::command
