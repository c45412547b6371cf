#include "simulator/report/Trace.h"

#include <nlohmann/json.hpp>

namespace orrery::sim {

std::string Trace::json(const Machine &machine, const Program &program) const {
  using Json = nlohmann::ordered_json;
  Counters names = makeCounters(machine);
  std::vector<bool> used(names.units.size());
  for (const Event &e : events) {
    used[e.unit] = true;
  }
  Json list = Json::array();
  for (size_t u = 0; u < used.size(); ++u) {
    if (used[u]) {
      list.push_back({{"ph", "M"},
                      {"pid", 1},
                      {"tid", u},
                      {"name", "thread_name"},
                      {"args", {{"name", names.units[u].name}}}});
    }
  }
  for (const Event &e : events) {
    const Instruction &i = program.instructions[e.instruction];
    std::string op = mnemonic(i.operation);
    list.push_back({{"ph", "X"},
                    {"pid", 1},
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
