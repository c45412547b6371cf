// What `orrery time` says: of programs that were compiled and checked, and,
// unless that was left out, simulated.
#pragma once

#include "runtime/Receipt.h"
#include "runtime/StepSet.h"
#include "runtime/command/Json.h"
#include "runtime/timing/FitAdvice.h"
#include "runtime/timing/MatrixWork.h"
#include "runtime/timing/Pipelining.h"
#include "runtime/timing/SramItems.h"
#include "runtime/timing/StepParts.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace orrery::command {

/// A program and what was found about it.
struct TimedStep {
  const CompiledStep *step;
  runtime::StepTimes times;
  int64_t context; ///< positions of the caches; programs reach whole tiles
  std::optional<Tick> simulated = {};
  int64_t simulatedChips = 0; ///< the others do the same
  /// Of two such steps that follow each other as closely as may be.
  std::optional<Tick> simulatedPair = {};

  const Program &first() const { return step->system.parts.front(); }
  Tick ticks() const { return times.ticks; }
  /// Up to which the step may reach.
  int64_t positions() const {
    return std::min<int64_t>(first().bucket, context);
  }
};

/// Stages that run one program.
struct StageGroup {
  uint32_t part;
  int64_t stages = 0;
  /// Of each stage, in order: "attention", "gate and up", "down".
  std::vector<std::string> sections;
  bool first = false, last = false; ///< embeddings; head
  bool relay = false; ///< no section: third chips between two stages
  /// How its ranks share products of what each has a part of, in order.
  std::vector<partition::SharedProduct> products;
};
std::vector<StageGroup> stageGroups(const CompiledStep &step);

/// A prompt read in chunks that follow each other through the stages.
struct PromptTime {
  int64_t tokens = 0, chunks = 0;
  int64_t chunkTokens = 0; ///< of the longest program
  Tick interval = 0;       ///< between two such chunks
  Tick firstToken = 0;     ///< to the token after the prompt
  double tokensPerSecond(const Machine &machine) const;
};
PromptTime promptTime(const std::vector<runtime::PromptStep> &steps,
                      const Machine &machine);

struct TimeReport {
  const Machine &machine;
  models::ModelConfig config;
  std::string weights, kv;
  int64_t context = 0;

  std::vector<TimedStep> programs; ///< [0]: decode at full context
  size_t shortDecode = 0;          ///< index; 0: the same program
  runtime::StepParts parts;        ///< of programs[0]
  runtime::MatrixWork macs;        ///< of programs[0]
  PromptTime prompt;
  runtime::SystemSram sram;
  runtime::SramItems fullest; ///< a chip with least free
  /// KV caches that every stage has room for, by bytes.
  int64_t users = 0;
  runtime::Receipt receipt;
  double compileSeconds = 0, checkSeconds = 0, simulateSeconds = 0;

  explicit TimeReport(const Machine &machine)
      : machine(machine), receipt(machine) {}

  const TimedStep &decode() const { return programs.front(); }
  /// Tokens a second of all users when each stage is busy, if as many users
  /// fit; of those that fit otherwise.
  double fullRate() const;
  double rateOfThoseThatFit() const;
  int64_t chips() const { return int64_t(decode().step->system.chips.size()); }
};

std::string formatText(const TimeReport &report);
std::string formatJson(const TimeReport &report);
// Parts of the text: TimeStages.cpp, TimeAccount.cpp.
std::string stagesText(const TimeReport &report);
std::string productsText(const TimeReport &report);
std::string partsText(const TimeReport &report);
std::string boundsText(const TimeReport &report);

/// A fit, with the program at it confirmed.
struct FitFound {
  std::unique_ptr<runtime::Fit> fit;
  TimedStep at; ///< of `fit`
  runtime::FitAdvice advice;
  runtime::SramItems fullest; ///< a chip with least free
  uint32_t part = 0;          ///< which it runs
  runtime::Receipt receipt;   ///< of `fit`

  FitFound(runtime::Fit fit, const Machine &machine);
};

struct FitsReport {
  const Machine &machine;
  models::ModelConfig config;
  std::string weights, kv;
  int64_t context = 0; ///< of each of the users
  std::optional<FitFound> longest, users;
  std::string noUser; ///< why not even one fits at the context
  double seconds = 0;

  explicit FitsReport(const Machine &machine) : machine(machine) {}
};

std::string formatText(const FitsReport &report);
std::string formatJson(const FitsReport &report);

// What both have in common.

/// Simulates a step, timing only, and holds it against its prediction.
Status confirm(TimedStep &timed, const Machine &machine,
               runtime::Receipt &receipt);
/// Simulates two steps that follow each other through the stages, likewise.
Status confirmPair(TimedStep &timed, const Machine &machine);
/// "tp=8 x pp=9: 72 of 576 chips".
std::string splitText(const CompiledStep &step, const Machine &machine);
/// One line a bank, then tensors and temporaries, the largest first.
std::string itemsText(const runtime::SramItems &items, size_t most);
Json toJson(const runtime::SramItems &items);
/// The receipt's broken invariants, one line each.
std::string brokenText(const runtime::Receipt &receipt);

} // namespace orrery::command
