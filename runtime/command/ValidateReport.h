// What `orrery validate` says at the end, as text or as JSON.
#pragma once

#include "models/Quality.h"
#include "runtime/BatchCheck.h"
#include "runtime/BitCompare.h"
#include "runtime/FirstDifference.h"
#include "runtime/Receipt.h"
#include "runtime/command/Json.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery::command {

struct ValidateReport {
  /// What was compared on the GPU reference, and where its first difference is.
  struct Gpu {
    std::string backend;
    runtime::BitCompare bits;
    std::optional<runtime::OpDifference> first;
  };

  const Machine &machine;
  std::string modelName;
  std::string chipsText;
  Json chipsJson;
  std::vector<int32_t> read; ///< ids
  runtime::BitCompare bits;  ///< of the simulator
  std::optional<runtime::OpDifference> first;
  models::Quality quality; ///< without positions: no golden logits
  std::optional<Gpu> gpu;
  std::string whyNoGpu; ///< if it did not run
  bool batchAsked = false;
  std::optional<runtime::BatchOutcome> batch;
  std::string whyNoBatch; ///< if it was asked for and did not run
  runtime::Receipt receipt;

  explicit ValidateReport(const Machine &machine)
      : machine(machine), receipt(machine) {}
};

std::string formatText(const ValidateReport &report);
Json toJson(const ValidateReport &report);

} // namespace orrery::command
