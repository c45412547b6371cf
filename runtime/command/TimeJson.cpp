// The report of `orrery time` as JSON. Keys carry units.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/TimeReport.h"

#include "machine/QueueFilling.h"
#include "models/NotModelled.h"
#include "runtime/command/RunReport.h"
#include "runtime/timing/Refusal.h"

#include <algorithm>

namespace orrery::command {

using namespace runtime;

namespace {

Json boundsJson(const CompiledStep &step, uint32_t part) {
  const schedule::LowerBounds &b = step.parts[part].bounds;
  Tick ticks = step.system.parts[part].predictedTicks;
  Tick least = std::max<Tick>({b.criticalPath, b.busiest, 1});
  return {{"critical_path_ticks", b.criticalPath},
          {"busiest_ticks", b.busiest},
          {"busiest", b.busiestResource},
          {"ratio", double(ticks) / double(least)}};
}

Json fillingJson(const Program &part, const Machine &m) {
  QueueFilling filling = queueFilling(part, m);
  return {{"chunks", filling.chunks}, {"ticks", filling.ticks}};
}

Json groupsJson(const CompiledStep &step, const Machine &m) {
  Json out = Json::array();
  for (const StageGroup &g : stageGroups(step)) {
    Json row = {
        {"part", g.part},
        {"stages", g.stages},
        {"sections", g.sections},
        {"attentions", std::ranges::count(g.sections, "attention")},
        {"embeddings", g.first},
        {"head", g.last},
        {"relay", g.relay},
        {"program_ticks", step.system.parts[g.part].predictedTicks},
        {"instructions", step.system.parts[g.part].instructions.size()}};
    row["products"] = Json::array();
    for (const partition::SharedProduct &p : g.products) {
      row["products"].push_back({{"of", p.attention ? "attention" : "down"},
                                 {"form", partition::productFormName(p.form)}});
    }
    row["bounds"] = boundsJson(step, g.part);
    row["filling_before_step"] = fillingJson(step.system.parts[g.part], m);
    out.push_back(row);
  }
  return out;
}

Json stepJson(const TimedStep &t, const Machine &m) {
  Json starts = Json::array();
  for (const StageTime &stage : t.times.stages) {
    starts.push_back({{"part", stage.part},
                      {"start_tick", stage.start},
                      {"occupied_ticks", stage.occupied()}});
  }
  return {{"tokens", t.first().tokens},
          {"positions", t.positions()},
          {"ticks", t.ticks()},
          {"us", m.microseconds(t.ticks())},
          {"simulated_ticks", t.simulated ? Json(*t.simulated) : Json()},
          {"simulated_chips", t.simulatedChips},
          {"simulated_pair_ticks",
           t.simulatedPair ? Json(*t.simulatedPair) : Json()},
          {"interval_ticks", t.times.interval()},
          {"stages", starts},
          {"parts", groupsJson(*t.step, m)}};
}

Json partsJson(const StepParts &p) {
  Json step = Json::object(), layers = Json::array();
  for (size_t part = 0; part < StepParts::kCount; ++part) {
    const PartTicks &t = p.step[part];
    step[kStepPartNames[part]] = {{"ticks", t.ticks},
                                  {"installing_ticks", t.installing},
                                  {"vxm_ticks", t.vectors},
                                  {"links_ticks", t.crossing}};
  }
  for (const auto &layer : p.layers) {
    Json row = Json::object();
    for (size_t part = 0; part < StepParts::kCount; ++part) {
      row[kStepPartNames[part]] = layer[part];
    }
    layers.push_back(row);
  }
  return {{"ticks", p.ticks}, {"step", step}, {"layers", layers}};
}

Json decodeJson(const TimeReport &r) {
  const TimedStep &t = r.decode();
  double us = r.machine.microseconds(t.ticks());
  const TimedStep &near = r.programs[r.shortDecode];
  return {{"ticks_per_token", t.ticks()},
          {"us_per_token", us},
          {"tokens_per_second_per_user", 1e6 / us},
          {"positions", t.positions()},
          {"short_positions", near.positions()},
          {"short_ticks_per_token", near.ticks()},
          {"short_tokens_per_second_per_user",
           1e6 / r.machine.microseconds(near.ticks())}};
}

Json fullJson(const TimeReport &r) {
  const StepTimes &times = r.decode().times;
  return {{"interval_ticks", times.interval()},
          {"slowest_stage", times.slowest()},
          {"users_in_flight", times.inFlight()},
          {"tokens_per_second", r.fullRate()},
          {"users_by_bytes", r.users},
          {"tokens_per_second_of_those_that_fit", r.rateOfThoseThatFit()}};
}

Json paddingJson(const TimeReport &r) {
  const SramUse &use = r.sram.total;
  auto share = [&](RegionKind kind) -> Json {
    Bytes nominal = use.nominal[size_t(kind)];
    return nominal > 0
               ? Json(double(use.bytes[size_t(kind)]) / double(nominal) - 1)
               : Json();
  };
  return {{"weights", share(RegionKind::Weight)},
          {"kv", share(RegionKind::Kv)},
          {"macs", r.macs.overhead()},
          {"charged_macs", r.macs.charged},
          {"useful_macs", r.macs.useful}};
}

Json omittedJson(const models::ModelConfig &config) {
  Json omitted = Json::array();
  for (const models::Omission &o : models::omissions(config)) {
    omitted.push_back({{"what", o.what}, {"effect", o.effect}});
  }
  return omitted;
}

} // namespace

std::string formatJson(const TimeReport &r) {
  Json programs = Json::array();
  for (const TimedStep &t : r.programs) {
    programs.push_back(stepJson(t, r.machine));
  }
  Json sram = systemSramJson(r.sram);
  sram["items"] = toJson(r.fullest);
  const PromptTime &p = r.prompt;
  return dump({{"model", r.config.name},
               {"machine", r.machine.name},
               {"clock_mhz", r.machine.clockMhz},
               {"weights", r.weights},
               {"kv", r.kv},
               {"context_positions", r.context},
               {"chips", chipsJson(r.decode().step->system)},
               {"machine_chips", r.machine.system.chips},
               {"decode", decodeJson(r)},
               {"pipeline_full", fullJson(r)},
               {"prompt",
                {{"tokens", p.tokens},
                 {"steps", p.chunks},
                 {"chunk_tokens", p.chunkTokens},
                 {"interval_ticks", p.interval},
                 {"tokens_per_second", p.tokensPerSecond(r.machine)},
                 {"first_token_ticks", p.firstToken},
                 {"first_token_us", r.machine.microseconds(p.firstToken)}}},
               {"breakdown", partsJson(r.parts)},
               {"programs", programs},
               {"padding", paddingJson(r)},
               {"sram", sram},
               {"compile_seconds", r.compileSeconds},
               {"check_seconds", r.checkSeconds},
               {"simulate_seconds", r.simulateSeconds},
               {"receipt", toJson(r.receipt, r.machine)},
               {"not_modelled", omittedJson(r.config)}});
}

namespace {

Json tryJson(const FitTry &what) {
  return {{"positions", what.positions}, {"users", what.users}};
}

Json foundJson(const FitFound &f, const Machine &m) {
  auto limit = limitOf({f.fit->refusal});
  Json out = {
      {"fits", tryJson(f.fit->most)},
      {"refused", f.fit->refusal.empty() ? Json() : tryJson(f.fit->next)},
      {"refusal", f.fit->refusal},
      {"binds", limit ? Json(limitName(*limit)) : Json()},
      {"smallest_preset", f.advice.preset},
      {"smallest_preset_split", f.advice.presetSplit},
      {"presets_skipped", f.advice.skipped},
      {"cheapest_change", f.advice.change}};
  out["chips"] = chipsJson(f.fit->step.system);
  out["step"] = stepJson(f.at, m);
  out["fullest_chip_part"] = f.part;
  out["sram"] = toJson(f.fullest);
  out["receipt"] = toJson(f.receipt, m);
  return out;
}

} // namespace

std::string formatJson(const FitsReport &r) {
  return dump(
      {{"model", r.config.name},
       {"machine", r.machine.name},
       {"weights", r.weights},
       {"kv", r.kv},
       {"context_positions", r.context},
       {"trained_positions", r.config.contextLength},
       {"largest_context",
        r.longest ? foundJson(*r.longest, r.machine) : Json()},
       {"most_users", r.users ? foundJson(*r.users, r.machine) : Json()},
       {"no_user", r.noUser},
       {"seconds", r.seconds},
       {"not_modelled", omittedJson(r.config)}});
}

} // namespace orrery::command
