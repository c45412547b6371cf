// `orrery time --fits`: what fits, and what would help one more.
#pragma once

#include "runtime/command/ShapeSubject.h"

namespace orrery::command {

/// Searches, confirms, prints. `set` is empty and says machine and request.
ExitCode timeFits(const TimeArguments &arguments, const ShapeSubject &subject,
                  runtime::StepSet &set, Progress &progress);

} // namespace orrery::command
