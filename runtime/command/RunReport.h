// What `orrery run` says at the end, as text or as JSON.
#pragma once

#include "runtime/Figures.h"
#include "runtime/Generate.h"
#include "runtime/Receipt.h"
#include "runtime/command/Json.h"

#include <string>

namespace orrery::command {

/// The schedule of the part whose stage takes longest, beside its bounds.
struct LongestPart {
  Tick predictedTicks = 0;
  schedule::LowerBounds bounds;
  bool alone = true; ///< the only part

  explicit LongestPart() = default;
  explicit LongestPart(const CompiledStep &step);
  /// Predicted ticks over the greater of the two bounds.
  double ratio() const;
};
std::string scheduleText(const LongestPart &part);
Json toJson(const LongestPart &part);

struct RunReport {
  const Machine &machine;
  std::string modelName, modelPath, weights, kv;
  int64_t context = 0, programs = 0, asked = 0;
  std::vector<int32_t> promptIds;
  std::string text; ///< prompt and continuation
  runtime::Generated generated;
  runtime::Figures prompt, decode;
  std::vector<int64_t> promptChunks; ///< T of its programs, each once
  int64_t usefulDecodeMacs = 0;      ///< without padding
  runtime::LogitsReadOut readOut;    ///< when sampling; in no figure
  runtime::SystemSram sram;
  runtime::Receipt receipt;
  LongestPart longest; ///< of the program that ran last
  std::string chipsText;
  Json chipsJson;
  double compileSeconds = 0, simulateSeconds = 0, interpretSeconds = 0;

  explicit RunReport(const Machine &machine)
      : machine(machine), receipt(machine) {}
};

std::string formatText(const RunReport &report);
std::string formatJson(const RunReport &report);
/// The receipt alone: one line an invariant, then what is assumed.
std::string receiptText(const runtime::Receipt &receipt,
                        const Machine &machine);
/// One line a kind of region, free and capacity.
std::string sramText(const runtime::SramUse &use, const std::string &title);

} // namespace orrery::command
