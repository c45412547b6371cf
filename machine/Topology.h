// The `system` object of a machine description: how many chips, and the cables
// between them, listed or generated. machine/README.md has its keys.
#pragma once

#include "machine/Machine.h"
#include "machine/Result.h"

#include <nlohmann/json_fwd.hpp>

namespace orrery {

/// Reads and validates the object; an error is "path: expected X, found Y". A
/// system whose chips do not all hang together is one.
Expected<System> readSystem(const nlohmann::json &object,
                            const LinkParameters &links);

} // namespace orrery
