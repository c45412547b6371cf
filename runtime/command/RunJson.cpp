#include "runtime/command/ChipsReport.h"
#include "runtime/command/RunReport.h"

namespace orrery::command {

using namespace runtime;

static const char *stopName(Stop stop) {
  constexpr const char *kNames[] = {"count", "end token", "context"};
  return kNames[size_t(stop)];
}

std::string formatJson(const RunReport &r) {
  double tokens = double(r.prompt.tokens + r.decode.tokens);
  Json out = {{"model", r.modelName},
              {"model_file", r.modelPath},
              {"machine", r.machine.name},
              {"chips", r.chipsJson},
              {"weights", r.weights},
              {"kv", r.kv},
              {"context_positions", r.context},
              {"text", r.text},
              {"prompt_ids", r.promptIds},
              {"ids", r.generated.ids},
              {"stop", stopName(r.generated.stop)},
              {"prompt", toJson(r.prompt, r.machine)},
              {"decode", toJson(r.decode, r.machine)}};
  out["prompt"]["chunk_tokens"] = r.promptChunks;
  out["decode"]["useful_macs"] = r.usefulDecodeMacs;
  if (r.readOut.bytes > 0) {
    out["sampling_not_in_figures"] = {
        {"logits_bytes_a_token", r.readOut.bytes},
        {"host_link_ticks_a_token", r.readOut.ticks}};
  }
  out["schedule"] = toJson(r.longest);
  out["host"] = {{"programs", r.programs},
                 {"compile_seconds", r.compileSeconds},
                 {"simulate_seconds", r.simulateSeconds},
                 {"tokens_per_second", tokens / r.simulateSeconds}};
  out["sram"] = systemSramJson(r.sram);
  out["receipt"] = toJson(r.receipt, r.machine);
  return dump(out);
}

} // namespace orrery::command
