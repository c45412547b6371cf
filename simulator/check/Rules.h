// The rules that the static checker proves, by name. simulator/check/README.md
// says what each means.
#pragma once

#include <array>
#include <cstdint>

namespace orrery::check {

enum class Rule : uint8_t {
  Form,
  Order,
  Operand,
  Dropped,
  Stop,
  Conflict,
  Type,
  Port,
  Queue,
  Bank,
  Address,
  Kind,
  Overlap,
  Lifetime,
  Uninitialised,
  Hazard,
  Stale,
  Tile,
  Buffer,
  Activation,
  Host,
  Logits,
  Capacity,
  Context,
  Fetch,
  Dry,
  End,
  // Of a system of chips.
  System,
  Rank,
  Start,
  Binding,
  Cable,
  Match,
  Lost,
  Unsent,
  Arrival,
  Full,
};

/// Every rule and its name, in the order of the enumeration.
inline constexpr std::array<const char *, 37> kRuleNames = {
    "form",    "order",      "operand",       "dropped", "stop",     "conflict",
    "type",    "port",       "queue",         "bank",    "address",  "kind",
    "overlap", "lifetime",   "uninitialised", "hazard",  "stale",    "tile",
    "buffer",  "activation", "host",          "logits",  "capacity", "context",
    "fetch",   "dry",        "end",           "system",  "rank",     "start",
    "binding", "cable",      "match",         "lost",    "unsent",   "arrival",
    "full",
};
inline const char *ruleName(Rule rule) { return kRuleNames[size_t(rule)]; }

} // namespace orrery::check
