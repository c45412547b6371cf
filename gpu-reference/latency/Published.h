// Decode rates that others published for whole models: what the latency model
// is held against, and what `orrery compare` shows beside its own figures.
// published.json, built into the binaries; each figure with its source. Nothing
// is calibrated on them.
#pragma once

#include "gpu-reference/latency/DecodeModel.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpu::latency {

struct PublishedRow {
  std::string id;
  std::string system; ///< a GPU of gpus/, or a maker's system
  int64_t chips = 0;  ///< 0: not said
  std::string model;  ///< of the zoo
  WeightKind weights = WeightKind::F16;
  KvKind kv = KvKind::F16;
  bool kvSaid = true; ///< else `kv` is a guess
  int64_t batch = 1;
  int64_t context = 0;    ///< positions attended to, on average over the run
  double usPerStep = 0;   ///< between two tokens of one user
  double usWithFirst = 0; ///< the same with the first token's time in it
  std::string apart; ///< why it is not held against the model; empty: it is
  // Of the source.
  std::string engine, source, date, conditions;
  EngineStructure structure;

  double tokensPerSecondPerUser() const { return 1e6 / usPerStep; }
};

/// Reads such a file; "kv" may be left out where it was not said; errors are
/// one line, `where` names it. A row's figure is ms_per_token,
/// tokens_per_second_per_user or tokens_per_second (of all users). With
/// first_token_ms and new_tokens the rate is over all of a run, and the time to
/// the first token is taken off.
Expected<std::vector<PublishedRow>> parsePublished(std::string_view json,
                                                   const std::string &where);

/// Those that are built in.
Expected<std::vector<PublishedRow>> publishedRows();

} // namespace orrery::gpu::latency
