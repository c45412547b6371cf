// The text of a machine description as JSON values, and what an error says of
// one.
#pragma once

#include "machine/FirstProblem.h"
#include "machine/Result.h"

#include <nlohmann/json_fwd.hpp>

#include <set>
#include <string>
#include <string_view>

namespace orrery::description {

/// At most 1 MiB, and no key twice in an object.
Expected<nlohmann::json> parse(std::string_view text);

/// "sram.banks"; an empty `object` is the top.
std::string joined(std::string_view object, std::string_view key);
/// A value as an error shows it, cut short.
std::string shown(const nlohmann::json &value);

inline constexpr size_t kMaxBytes = 1 << 20;

using Keys = std::set<std::string_view>;
/// Whether `value`, which stands at the path `object`, is an object with all of
/// the keys `needed`, and no others than these and `allowed`.
bool checkKeys(std::string_view object, const nlohmann::json &value,
               const Keys &needed, const Keys &allowed, FirstProblem &problem);
/// Whether the object `sources` says in words where the number `key` of
/// `object` comes from.
bool checkSource(std::string_view object, std::string_view key,
                 const nlohmann::json &sources, FirstProblem &problem);

} // namespace orrery::description
