// The report of `orrery compare` as JSON. Keys carry units.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/CompareReport.h"

#include "models/NotModelled.h"

namespace orrery::command {

using namespace runtime;

namespace {

template <class T> Json orNull(const std::optional<T> &value) {
  return value ? Json(*value) : Json();
}

Json termsJson(const gpu::latency::DecodeEstimate &e) {
  return {{"products_us", e.productsUs},
          {"attention_us", e.attentionUs},
          {"all_reduce_us", e.allReduceUs},
          {"vector_ops_us", e.vectorsUs},
          {"head_us", e.headUs},
          {"weight_bytes_read", e.weightBytesRead},
          {"kv_bytes_read", e.kvBytesRead},
          {"bytes_held", e.bytesHeld()},
          {"hbm_bytes", e.hbmBytes},
          {"constants_of_nearest_kernel", e.assumed}};
}

Json rowJson(const CompareRow &row) {
  bool fits = row.usPerToken.has_value();
  Json out = {
      {"system", row.system},
      {"how", evidenceName(row.how)},
      {"chips", row.chips > 0 ? Json(row.chips) : Json()},
      {"fits", fits},
      {"us_per_token", orNull(row.usPerToken)},
      {"tokens_per_second_per_user",
       fits ? Json(row.tokensPerSecondPerUser()) : Json()},
      {"tokens_per_second", fits ? Json(row.tokensPerSecond()) : Json()},
      {"batch", row.batch},
      {"context_positions", row.context},
      {"roofline_share", orNull(row.rooflineShare)},
      {"speed_up", orNull(row.speedUp)},
      {"below_least_roofline_share", tooSlowToCompare(row)},
      {"detail", row.tooBig.empty() ? row.detail : row.tooBig}};
  if (row.model) {
    out["model"] = termsJson(*row.model);
  }
  return out;
}

} // namespace

std::string formatJson(const CompareReport &r) {
  Json others = Json::array(), omitted = Json::array();
  for (const CompareRow &row : r.others) {
    others.push_back(rowJson(row));
  }
  for (const models::Omission &o : models::omissions(r.config)) {
    omitted.push_back({{"what", o.what}, {"effect", o.effect}});
  }
  const StepTimes &times = r.timed->times;
  Json self = rowJson(r.self);
  self["ticks_per_step"] = times.ticks;
  self["simulated_ticks"] = orNull(r.timed->simulated);
  self["interval_ticks"] = times.interval();
  self["simulated_pair_ticks"] = orNull(r.timed->simulatedPair);
  self["users_in_flight_when_full"] = times.inFlight();
  Json out = {{"model", r.config.name},
              {"machine", r.machine.name},
              {"clock_mhz", r.machine.clockMhz},
              {"weights", r.weights},
              {"kv", r.kv},
              {"context_positions", r.context},
              {"batch", r.batch},
              {"gpu_tensor_parallel", r.tensorParallel},
              {"least_roofline_share", kLeastRooflineShare},
              {"allow_slow_gpu", r.allowSlowGpu},
              {"chips", chipsJson(r.step.system)},
              {"self", self},
              {"others", others}};
  if (r.bits.made) {
    out["bits_equal"] = r.bits.made->equal;
    out["bits_compared"] = {{"logits", r.bits.made->logits},
                            {"gpu", r.bits.made->backend}};
  } else {
    out["bits_not_compared"] = r.bits.whyNot;
  }
  out["receipt"] = toJson(r.receipt, r.machine);
  out["not_modelled"] = omitted;
  return dump(out);
}

} // namespace orrery::command
