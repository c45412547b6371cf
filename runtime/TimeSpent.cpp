#include "runtime/TimeSpent.h"

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
      {"argmax", 8},        {"return", 9}};
  // "layer 3 attn_q"
  std::string_view name = location.substr(location.rfind(' ') + 1);
  for (auto [known, kind] : kNames) {
    if (name == known) {
      return kind;
    }
  }
  return kOpKinds.size() - 1;
}

TimeSpent timeSpent(const Program &program, const sim::StepResult &result) {
  std::vector<Tick> last(program.locations.size() + 1, -1);
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    size_t place = std::min<size_t>(program.instructions[i].location,
                                    program.locations.size());
    last[place] = std::max(last[place], result.completed[i]);
  }
  std::vector<std::pair<Tick, size_t>> order;
  for (size_t place = 0; place < last.size(); ++place) {
    if (last[place] >= 0) {
      order.push_back({last[place], place});
    }
  }
  std::sort(order.begin(), order.end());
  TimeSpent spent = {};
  Tick before = 0;
  size_t kind = kOpKinds.size() - 1;
  for (auto [tick, place] : order) {
    kind = place < program.locations.size() ? opKind(program.locations[place])
                                            : kOpKinds.size() - 1;
    Tick until = std::min(tick, result.ticks);
    spent[kind] += until - before;
    before = until;
  }
  // What follows the last effect is the last op's.
  spent[kind] += result.ticks - before;
  return spent;
}

} // namespace orrery::runtime
