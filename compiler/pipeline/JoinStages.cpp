#include "compiler/pipeline/JoinStages.h"

#include "dialects/grid/GroupLinks.h"
#include "machine/Timing.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace orrery {

namespace {

/// Link numbers that a part sends on.
std::set<LinkNumber> linksOut(const Program &part) {
  std::set<LinkNumber> out;
  for (const Instruction &i : part.instructions) {
    if (auto *op = std::get_if<SendOp>(&i.operation);
        op && op->link != kHostLink) {
      out.insert(op->link);
    }
  }
  return out;
}

/// Ticks at which vectors sent on a link may be received; by vector.
std::vector<Tick> arrivals(const Machine &machine, const Program &part,
                           LinkNumber link) {
  std::vector<Tick> out;
  Tick free = 0;
  for (const Instruction &i : part.instructions) {
    auto *op = std::get_if<SendOp>(&i.operation);
    if (op && op->link == link) {
      LinkCrossing crossing =
          crossLink(machine, i.tick, op->shape, op->width, free);
      free = crossing.linkFree;
      out.insert(out.end(), crossing.arrived.begin(), crossing.arrived.end());
    }
  }
  return out;
}

std::vector<Tick> receptions(const Program &part, LinkNumber link) {
  std::vector<Tick> out;
  for (const Instruction &i : part.instructions) {
    auto *op = std::get_if<ReceiveOp>(&i.operation);
    for (uint64_t n = 0; op && op->link == link && n < op->shape.count(); ++n) {
      out.push_back(i.tick + op->shape.at(n));
    }
  }
  return out;
}

/// Ticks from the start of one stage to that of the next.
Expected<Tick> startAfter(const Machine &machine, const Program &before,
                          const Program &after, LinkNumber link) {
  std::vector<Tick> arrived = arrivals(machine, before, link);
  std::vector<Tick> received = receptions(after, link);
  if (arrived.size() != received.size()) {
    return Error{"a stage passes on " + std::to_string(arrived.size()) +
                 " vectors, the next one takes " +
                 std::to_string(received.size())};
  }
  Tick start = 0;
  for (size_t n = 0; n < arrived.size(); ++n) {
    start = std::max(start, arrived[n] - received[n]);
  }
  return start;
}

int32_t groupLinks(const StageOnChips &stage) {
  return grid::groupLinks(int64_t(stage.chips.size()), stage.ring);
}
LinkNumber pipelineLink(const StageOnChips &stage, int32_t cable) {
  return LinkNumber(
      grid::pipelineLink(int64_t(stage.chips.size()), stage.ring) + cable);
}

class Joiner {
public:
  Joiner(SystemProgram &system, const Machine &machine,
         const std::vector<StageOnChips> &stages)
      : system(system), machine(machine), stages(stages), cables(machine) {}

  Status run();

private:
  void addStage(size_t s, Tick start);
  Status linkStage(size_t s);
  Status connect(ChipProgram &from, ChipProgram &to, LinkNumber link);
  ChipProgram &chipOf(size_t stage, int32_t rank) {
    return system.chips[firsts[stage] + size_t(rank)];
  }

  SystemProgram &system;
  const Machine &machine;
  const std::vector<StageOnChips> &stages;
  PortMap cables;
  std::set<std::pair<int32_t, int32_t>> taken; ///< chip, port out
  std::vector<size_t> firsts; ///< by stage: its rank 0 in system.chips
};

// Of several cables between two chips, the first whose direction is free.
Status Joiner::connect(ChipProgram &from, ChipProgram &to, LinkNumber link) {
  for (int32_t port = 0; port < machine.link.ports; ++port) {
    auto [chip, in] = cables.otherEnd(from.chip, port);
    if (chip == to.chip && taken.insert({from.chip, port}).second) {
      from.links[link - 1u].out = port;
      to.links[link - 1u].in = in;
      return Success{};
    }
  }
  return Error{"machine " + machine.name + ": no free link from chip " +
               std::to_string(from.chip) + " to chip " +
               std::to_string(to.chip)};
}

void Joiner::addStage(size_t s, Tick start) {
  const StageOnChips &stage = stages[s];
  firsts.push_back(system.chips.size());
  for (size_t r = 0; r < stage.chips.size(); ++r) {
    ChipProgram chip{stage.chips[r], stage.part, uint32_t(s),
                     uint32_t(r),    start,      {}};
    chip.links.resize(
        size_t(groupLinks(stage) + (stages.size() > 1 ? stage.cables : 0)));
    system.chips.push_back(std::move(chip));
  }
}

Status Joiner::linkStage(size_t s) {
  auto ranks = int32_t(stages[s].chips.size());
  for (LinkNumber link : linksOut(system.parts[stages[s].part])) {
    for (int32_t r = 0; link <= groupLinks(stages[s]) && r < ranks; ++r) {
      Status ok = connect(chipOf(s, r), chipOf(s, (r + link) % ranks), link);
      if (!ok) {
        return ok;
      }
    }
  }
  for (int32_t r = 0; s > 0 && r < ranks; ++r) {
    for (int32_t cable = 0; cable < stages[s].cables; ++cable) {
      Status ok = connect(chipOf(s - 1, r), chipOf(s, r),
                          pipelineLink(stages[s], cable));
      if (!ok) {
        return ok;
      }
    }
  }
  return Success{};
}

Status Joiner::run() {
  system.chips.clear();
  system.predictedTicks = 0;
  Tick start = 0;
  for (size_t s = 0; s < stages.size(); ++s) {
    const Program &part = system.parts[stages[s].part];
    if (s > 0) {
      assert(groupLinks(stages[s - 1]) == groupLinks(stages[s]) &&
             stages[s - 1].cables == stages[s].cables &&
             "all stages of a split are alike");
      Tick later = 0;
      for (int32_t cable = 0; cable < stages[s].cables; ++cable) {
        auto after = startAfter(machine, system.parts[stages[s - 1].part], part,
                                pipelineLink(stages[s], cable));
        if (!after) {
          return after.error();
        }
        later = std::max(later, *after);
      }
      start += later;
    }
    addStage(s, start);
    if (Status ok = linkStage(s); !ok) {
      return ok;
    }
    system.predictedTicks =
        std::max(system.predictedTicks, start + part.predictedTicks);
  }
  std::ranges::sort(system.chips, {}, &ChipProgram::chip);
  return Success{};
}

} // namespace

Status joinStages(SystemProgram &system, const Machine &machine,
                  const std::vector<StageOnChips> &stages) {
  return Joiner(system, machine, stages).run();
}

} // namespace orrery
