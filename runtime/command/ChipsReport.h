// What the commands say of the chips that a program runs on.
#pragma once

#include "runtime/Figures.h"
#include "runtime/SramUse.h"
#include "runtime/command/Json.h"

namespace orrery::command {

/// One line: chips, stages, their starts. Nothing for one chip.
std::string chipsText(const SystemProgram &program);
/// The same, each stage with its chips.
Json chipsJson(const SystemProgram &program);

/// One line: what the links carried a token. Nothing for one chip.
std::string linksText(const runtime::Figures &figures, const Machine &machine);

/// The SRAM of one chip, the fullest, and what weights and KV cache take on all
/// of them.
std::string systemSramText(const runtime::SystemSram &sram,
                           const std::string &what);
/// The keys of one chip, of the fullest; beside them, those of all.
Json systemSramJson(const runtime::SystemSram &sram);

} // namespace orrery::command
