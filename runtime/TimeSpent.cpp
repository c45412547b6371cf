#include "runtime/TimeSpent.h"

#include "runtime/StageChips.h"

#include <algorithm>
#include <utility>

namespace orrery::runtime {

size_t opKind(std::string_view location) {
  static constexpr std::pair<std::string_view, size_t> kNames[] = {
      {"token_embd", 0},    {"attn_norm", 1},    {"ffn_norm", 1},
      {"output_norm", 1},   {"attn_q", 2},       {"attn_k", 2},
      {"attn_v", 2},        {"rope_q", 3},       {"rope_k", 3},
      {"attention", 3},     {"attn_output", 4},  {"ffn_gate", 5},
      {"ffn_up", 5},        {"ffn_gated", 5},    {"ffn_down", 5},
      {"attn_residual", 6}, {"ffn_residual", 6}, {"output", 7},
      {"argmax", 8},        {"gather", 9},       {"sum", 9},
      {"own", 9},           {"step", 10},        {"return", 11}};
  // "layer 3 attn_q"
  std::string_view name = location.substr(location.rfind(' ') + 1);
  for (auto [known, kind] : kNames) {
    if (name == known) {
      return kind;
    }
  }
  return kOpKinds.size() - 1;
}

namespace {

/// When the last effects of an op of one stage are there, on the step's clock.
struct OpEnd {
  Tick tick;
  size_t order; ///< of ops that end together
  size_t kind;
};

} // namespace

/// A stage's end is the host's only in the last one.
static size_t kindAt(const Program &part, size_t place, bool lastStage) {
  constexpr size_t kOther = kOpKinds.size() - 1;
  if (place >= part.locations.size()) {
    return kOther;
  }
  size_t kind = opKind(part.locations[place]);
  return !lastStage && kind == opKind("return") ? opKind("step") : kind;
}

static void addOps(const ChipProgram &chip, bool lastStage, const Program &part,
                   const sim::StepResult &result, std::vector<OpEnd> &ends) {
  std::vector<Tick> last(part.locations.size() + 1, -1);
  for (size_t i = 0; i < part.instructions.size(); ++i) {
    size_t place =
        std::min<size_t>(part.instructions[i].location, part.locations.size());
    last[place] = std::max(last[place], result.completed[i]);
  }
  for (size_t place = 0; place < last.size(); ++place) {
    if (last[place] >= 0) {
      ends.push_back({chip.start + last[place], ends.size(),
                      kindAt(part, place, lastStage)});
    }
  }
}

TimeSpent timeSpent(const SystemProgram &program,
                    const sim::SystemResult &result) {
  std::vector<OpEnd> ends;
  // The ranks of a stage do the same at the same ticks.
  auto stages = stageChips(program);
  for (const auto &ranks : stages) {
    size_t chip = ranks.front();
    const ChipProgram &c = program.chips[chip];
    addOps(c, c.stage + 1 == stages.size(), program.parts[c.part],
           result.of(chip), ends);
  }
  std::ranges::sort(ends, {}, [](const OpEnd &end) {
    return std::pair(end.tick, end.order);
  });
  TimeSpent spent = {};
  Tick before = 0;
  size_t kind = kOpKinds.size() - 1;
  for (const OpEnd &end : ends) {
    kind = end.kind;
    Tick until = std::min(end.tick, result.ticks);
    spent[kind] += until - before;
    before = until;
  }
  // What follows the last effect is the last op's.
  spent[kind] += result.ticks - before;
  return spent;
}

} // namespace orrery::runtime
