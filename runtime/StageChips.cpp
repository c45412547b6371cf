#include "runtime/StageChips.h"

#include <algorithm>

namespace orrery::runtime {

std::vector<std::vector<size_t>> stageChips(const SystemProgram &program) {
  std::vector<std::vector<size_t>> out;
  for (size_t c = 0; c < program.chips.size(); ++c) {
    const ChipProgram &chip = program.chips[c];
    if (chip.stage >= out.size()) {
      out.resize(chip.stage + 1);
    }
    auto &ranks = out[chip.stage];
    if (chip.rank >= ranks.size()) {
      ranks.resize(chip.rank + 1);
    }
    ranks[chip.rank] = c;
  }
  return out;
}

bool isRelay(const Program &part) {
  return std::ranges::all_of(part.instructions, [](const Instruction &i) {
    auto *send = std::get_if<SendOp>(&i.operation);
    auto *receive = std::get_if<ReceiveOp>(&i.operation);
    return (send && send->link != kHostLink) ||
           (receive && receive->link != kHostLink) ||
           std::holds_alternative<ReadOp>(i.operation) ||
           std::holds_alternative<WriteOp>(i.operation) ||
           std::holds_alternative<FetchOp>(i.operation);
  });
}

int64_t relayCount(const SystemProgram &program) {
  return std::ranges::count_if(program.chips, [&](const ChipProgram &chip) {
    return chip.rank == 0 && isRelay(program.parts[chip.part]);
  });
}

std::vector<LinkNumber> linksOnward(const SystemProgram &program,
                                    const Machine &machine) {
  PortMap cables(machine);
  const ChipProgram &first =
      *std::ranges::min_element(program.chips, {}, [](const ChipProgram &c) {
        return std::pair(c.stage, c.rank);
      });
  std::vector<LinkNumber> out;
  for (size_t k = 0; k < first.links.size(); ++k) {
    int32_t port = first.links[k].out;
    int32_t other = port < 0 ? -1 : cables.otherEnd(first.chip, port).first;
    auto to = std::ranges::find(program.chips, other, &ChipProgram::chip);
    if (to != program.chips.end() && to->stage == first.stage + 1) {
      out.push_back(LinkNumber(k + 1));
    }
  }
  return out;
}

} // namespace orrery::runtime
