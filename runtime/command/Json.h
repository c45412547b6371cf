// Pieces that the JSON documents of several commands share. Keys carry units.
#pragma once

#include "machine/Machine.h"
#include "runtime/Figures.h"
#include "runtime/Receipt.h"

#include <nlohmann/json.hpp>

namespace orrery::command {

using Json = nlohmann::ordered_json;

/// {"capacity_bytes": …, "weights_bytes": …, …}
Json toJson(const runtime::SramUse &use);
/// {"ok": …, "invariants": [{"name", "figures", "verdict"}], "assumed": […]}
Json toJson(const runtime::Receipt &receipt, const Machine &machine);
/// Ticks, times, bytes, energy, units and where the time went.
Json toJson(const runtime::Figures &figures, const Machine &machine);

/// Indented, one newline at the end; text that is not UTF-8 is repaired.
std::string dump(const Json &json);

} // namespace orrery::command
