// What `orrery compare` says: one model in one setting, on this system and on
// GPUs, each figure with how it was had.
#pragma once

#include "gpu-reference/latency/DecodeModel.h"
#include "runtime/Receipt.h"
#include "runtime/command/CompareBits.h"
#include "runtime/command/Json.h"
#include "runtime/command/TimeReport.h"

#include <optional>
#include <string>
#include <vector>

namespace orrery::command {

/// How a figure was had.
enum class Evidence {
  Simulated, ///< this system, ticks confirmed by simulation
  Measured,  ///< on a device, by gpu-reference/measure
  Modelled,  ///< gpu-reference/latency
  Published, ///< by others, in their setting
};
const char *evidenceName(Evidence evidence);

/// One system's figures. A GPU that cannot hold the model has none, and says
/// what it would need.
struct CompareRow {
  std::string system;
  Evidence how = Evidence::Modelled;
  int64_t chips = 0;                ///< that are used; 0: not said
  std::optional<double> usPerToken; ///< between two tokens of one user
  int64_t batch = 1;                ///< users at once
  int64_t context = 0; ///< of this row; published rows have their own
  /// Of the GPU's peak memory bandwidth: bytes that a step must read, over it,
  /// over the step.
  std::optional<double> rooflineShare;
  std::string detail; ///< source, confirmation, terms
  std::string tooBig; ///< "needs 143.2 GB …"; empty: it fits
  std::optional<double>
      speedUp; ///< this system's rate for a user over this one
  std::optional<gpu::latency::DecodeEstimate> model; ///< a modelled row's terms

  double tokensPerSecondPerUser() const { return 1e6 / *usPerToken; }
  double tokensPerSecond() const {
    return double(batch) * tokensPerSecondPerUser();
  }
};

struct CompareReport {
  const Machine &machine;
  models::ModelConfig config;
  std::string weights, kv;
  int64_t context = 0, batch = 1, tensorParallel = 1;
  bool allowSlowGpu = false;

  CompiledStep step;              ///< with room for all users' caches
  std::optional<TimedStep> timed; ///< of `step`
  runtime::Receipt receipt;
  CompareRow self;
  std::vector<CompareRow> others;
  BitsOutcome bits;

  explicit CompareReport(const Machine &machine)
      : machine(machine), receipt(machine) {}
};

/// A GPU figure below this share of its memory roofline is a slow program, and
/// no speed-up over it is printed unasked.
inline constexpr double kLeastRooflineShare = 0.4;
/// Whether there would be a speed-up over the row that is not printed.
bool tooSlowToCompare(const CompareRow &row);

std::string formatText(const CompareReport &report);
std::string formatJson(const CompareReport &report);

} // namespace orrery::command
