// The translations of orrery-translate between tick IR and program files.
#pragma once

namespace orrery::compiler {

/// Registers --tick-to-program (the one tick.program of a module to the bytes
/// of a program file) and --program-to-tick (the inverse, with locations).
void registerProgramTranslations();

} // namespace orrery::compiler
