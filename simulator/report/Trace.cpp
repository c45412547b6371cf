#include "simulator/report/Trace.h"

#include <nlohmann/json.hpp>

#include <set>

namespace orrery::sim {
namespace {

using Json = nlohmann::ordered_json;

/// Viewers keep process 0 for themselves.
uint32_t processOf(uint32_t chip) { return chip + 1; }

Json name(const char *what, uint32_t chip, size_t unit,
          const std::string &name) {
  return {{"ph", "M"},
          {"pid", processOf(chip)},
          {"tid", unit},
          {"name", what},
          {"args", {{"name", name}}}};
}

} // namespace

std::string Trace::json(const Machine &machine, const Program &program) const {
  return json(machine, Programs{&program});
}

std::string Trace::json(const Machine &machine,
                        const SystemProgram &program) const {
  Programs programs(size_t(machine.system.chips));
  for (const ChipProgram &chip : program.chips) {
    programs[size_t(chip.chip)] = &program.parts[chip.part];
  }
  return json(machine, programs);
}

std::string Trace::json(const Machine &machine,
                        const Programs &programs) const {
  Counters names = makeCounters(machine);
  std::set<uint32_t> chips;
  std::set<std::pair<uint32_t, size_t>> rows;
  for (const Event &e : events) {
    chips.insert(e.chip);
    rows.emplace(e.chip, e.unit);
  }
  Json list = Json::array();
  for (uint32_t chip : chips) {
    if (programs.size() > 1) {
      list.push_back(
          name("process_name", chip, 0, "chip " + std::to_string(chip)));
    }
  }
  for (auto [chip, unit] : rows) {
    list.push_back(name("thread_name", chip, unit, names.units[unit].name));
  }
  for (const Event &e : events) {
    const Program &program = *programs[e.chip];
    const Instruction &i = program.instructions[e.instruction];
    std::string op = mnemonic(i.operation);
    list.push_back({{"ph", "X"},
                    {"pid", processOf(e.chip)},
                    {"tid", e.unit},
                    {"ts", machine.microseconds(e.first)},
                    {"dur", machine.microseconds(e.last + 1 - e.first)},
                    {"name", i.location < program.locations.size()
                                 ? program.locations[i.location]
                                 : op},
                    {"args",
                     {{"op", op},
                      {"instruction", e.instruction},
                      {"first_tick", e.first},
                      {"last_tick", e.last}}}});
  }
  Json all = {{"displayTimeUnit", "ns"},
              {"otherData", {{"omitted_events", left}}}};
  all["traceEvents"] = list;
  return all.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace orrery::sim
