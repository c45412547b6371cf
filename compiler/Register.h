// What every tool has to register, in one place.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace orrery {

/// The dialects that Orrery's IR uses.
void registerDialects(mlir::DialectRegistry &registry);

/// Orrery's passes and pipelines, and MLIR's canonicalisation, CSE and symbol
/// passes.
void registerPasses();

/// Orrery's translations: --import-gguf, --tick-to-program, --program-to-tick.
void registerTranslations();

} // namespace orrery
