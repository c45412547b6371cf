// The translation --import-gguf of orrery-translate.
#pragma once

namespace orrery::compiler {

/// Registers --import-gguf and the options it reads (--tokens, --bucket,
/// --context, --layers, --weight-format, --kv-format).
void registerImportGguf();

} // namespace orrery::compiler
