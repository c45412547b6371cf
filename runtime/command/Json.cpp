#include "runtime/command/Json.h"

namespace orrery::command {

using namespace runtime;

Json toJson(const SramUse &use) {
  auto of = [&](RegionKind kind) { return use.bytes[size_t(kind)]; };
  auto nominal = [&](RegionKind kind) { return use.nominal[size_t(kind)]; };
  Json out = {{"capacity_bytes", use.capacity},
              {"weights_bytes", of(RegionKind::Weight)},
              {"tables_bytes", of(RegionKind::Table)},
              {"kv_bytes", of(RegionKind::Kv)},
              {"program_bytes", of(RegionKind::Instructions)},
              {"temporaries_bytes", of(RegionKind::Temporary)},
              {"free_bytes", use.free}};
  if (nominal(RegionKind::Weight) > 0) {
    out["weights_nominal_bytes"] = nominal(RegionKind::Weight);
    out["kv_nominal_bytes"] = nominal(RegionKind::Kv);
  }
  return out;
}

Json toJson(const Receipt &receipt, const Machine &machine) {
  Json invariants = Json::array(), assumed = Json::array();
  for (const Invariant &i : receipt.invariants()) {
    invariants.push_back({{"name", i.name},
                          {"verdict", verdictName(i.verdict)},
                          {"figures", i.figures}});
  }
  for (const SourcedNumber &n : assumedNumbers(machine)) {
    assumed.push_back(
        {{"path", n.path}, {"value", n.value}, {"source", n.source}});
  }
  Json structure = Json::array();
  for (const char *fact : assumedStructure()) {
    structure.push_back(fact);
  }
  return {{"ok", receipt.ok()},
          {"invariants", invariants},
          {"assumed", assumed},
          {"assumed_structure", structure}};
}

Json toJson(const Figures &f, const Machine &machine) {
  Json out = {{"steps", f.steps},
              {"tokens", f.tokens},
              {"ticks", f.ticks},
              {"us", machine.microseconds(f.ticks)},
              {"fewest_step_ticks", f.fewest},
              {"most_step_ticks", f.most},
              {"sram_bytes_read", f.sramBytesRead},
              {"sram_bytes_written", f.sramBytesWritten},
              {"host_bytes_in", f.hostBytesIn},
              {"host_bytes_out", f.hostBytesOut},
              {"links", f.links},
              {"link_bytes", f.linkBytes},
              {"link_crossing_ticks", f.crossing},
              {"most_buffered_vectors", f.mostBufferedVectors},
              {"int8_macs", f.int8Macs},
              {"f16_macs", f.f16Macs},
              {"alu_ops", f.aluOps},
              {"joules", f.joules},
              {"static_joules", f.staticJoules}};
  Json units = Json::array(), spent = Json::object();
  for (const UnitShare &u : unitShares(machine, f)) {
    units.push_back({{"name", u.name},
                     {"queues", u.queues},
                     {"busy_ticks", u.busy},
                     {"busy_share", u.share()}});
  }
  for (size_t kind = 0; kind < kOpKinds.size(); ++kind) {
    spent[kOpKinds[kind]] = f.spent[kind];
  }
  out["units"] = units;
  out["ticks_by_op"] = spent;
  return out;
}

std::string dump(const Json &json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace orrery::command
