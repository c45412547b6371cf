#include "runtime/timing/Pipelining.h"

#include "machine/Timing.h"
#include "runtime/StageChips.h"

#include <algorithm>
#include <limits>
#include <map>

namespace orrery::runtime {

namespace {

struct Sent {
  Tick tick;
  int32_t width;
};

/// What a part hands on over a link, on its chip's clock.
struct HandedOn {
  std::vector<Sent> vectors;
  Tick linkFree = 0;
};

HandedOn handedOn(const Program &part, const Machine &machine,
                  LinkNumber link) {
  HandedOn out;
  for (const Instruction &i : part.instructions) {
    auto *op = std::get_if<SendOp>(&i.operation);
    if (!op || op->link != link) {
      continue;
    }
    for (uint64_t n = 0; n < op->shape.count(); ++n) {
      out.vectors.push_back({i.tick + op->shape.at(n), op->width});
    }
    out.linkFree =
        crossLink(machine, i.tick, op->shape, op->width, out.linkFree).linkFree;
  }
  return out;
}

std::vector<Tick> receivedTicks(const Program &part, LinkNumber link) {
  std::vector<Tick> out;
  for (const Instruction &i : part.instructions) {
    auto *op = std::get_if<ReceiveOp>(&i.operation);
    for (uint64_t n = 0; op && op->link == link && n < op->shape.count(); ++n) {
      out.push_back(i.tick + op->shape.at(n));
    }
  }
  return out;
}

/// Most places taken at once by the vectors of a link, once more `later` ticks
/// later in those of `after`.
int64_t mostHeld(const std::vector<HeldVector> &before,
                 const std::vector<HeldVector> &after, Tick later) {
  // What comes counts before what goes in the same tick.
  std::vector<std::pair<Tick, int64_t>> changes;
  for (const HeldVector &v : before) {
    changes.push_back({v.sent, -v.width});
    changes.push_back({v.received, v.width});
  }
  for (const HeldVector &v : after) {
    changes.push_back({v.sent + later, -v.width});
    changes.push_back({v.received + later, v.width});
  }
  std::ranges::sort(changes);
  int64_t held = 0, most = 0;
  for (auto [tick, taken] : changes) {
    held -= taken;
    most = std::max(most, held);
  }
  return most;
}

bool buffersHold(const StepTimes &before, const StepTimes &after, Tick later) {
  for (size_t s = 0; s < before.links.size(); ++s) {
    if (mostHeld(before.links[s], after.links[s], later) >
        before.bufferVectors) {
      return false;
    }
  }
  return true;
}

/// Ticks after which no vector of `before` is under way with one of `after`.
Tick apart(const StepTimes &before, const StepTimes &after) {
  Tick later = 0;
  for (size_t s = 0; s < before.links.size(); ++s) {
    for (const HeldVector &v : before.links[s]) {
      if (!after.links[s].empty()) {
        later = std::max(later, v.received + 1 - after.links[s].front().sent);
      }
    }
  }
  return later;
}

} // namespace

StepTimes::StepTimes(const SystemProgram &system, const Machine &machine)
    : ticks(system.predictedTicks), bufferVectors(machine.link.bufferVectors) {
  auto chips = stageChips(system);
  std::vector<LinkNumber> onward = linksOnward(system, machine);
  std::map<uint32_t, std::vector<HandedOn>> sent; ///< by part, then cable
  std::map<uint32_t, std::vector<std::vector<Tick>>> received;
  for (const auto &ranks : chips) {
    const ChipProgram &chip = system.chips[ranks.front()];
    const Program &part = system.parts[chip.part];
    bool last = stages.size() + 1 == chips.size();
    if (!sent.contains(chip.part)) {
      for (LinkNumber link : onward) {
        sent[chip.part].push_back(handedOn(part, machine, link));
        received[chip.part].push_back(receivedTicks(part, link));
      }
    }
    StageTime &stage = stages.emplace_back();
    stage = {chip.part, chip.start, part.predictedTicks, 0};
    for (const HandedOn &link : sent[chip.part]) {
      stage.linkFree = std::max(stage.linkFree, last ? 0 : link.linkFree);
    }
  }
  for (size_t s = 0; s + 1 < stages.size(); ++s) {
    for (size_t cable = 0; cable < onward.size(); ++cable) {
      const HandedOn &from = sent[stages[s].part][cable];
      const std::vector<Tick> &to = received[stages[s + 1].part][cable];
      auto &held = links.emplace_back();
      for (size_t n = 0; n < std::min(from.vectors.size(), to.size()); ++n) {
        held.push_back({stages[s].start + from.vectors[n].tick,
                        stages[s + 1].start + to[n], from.vectors[n].width});
      }
    }
  }
}

size_t StepTimes::slowest() const {
  auto most = std::ranges::max_element(stages, {}, &StageTime::occupied);
  return size_t(most - stages.begin());
}

Tick StepTimes::interval() const { return follow(*this, *this); }

int64_t StepTimes::inFlight() const {
  Tick each = interval();
  return (ticks + each - 1) / each;
}

Tick follow(const StepTimes &before, const StepTimes &after) {
  Tick later = 0;
  for (size_t s = 0; s < before.stages.size(); ++s) {
    const StageTime &stage = before.stages[s];
    later =
        std::max(later, stage.start + stage.occupied() - after.stages[s].start);
  }
  // Of three steps the first and the last never meet in a buffer.
  Tick high = apart(before, after);
  later = std::max(later, (high + 1) / 2);
  if (buffersHold(before, after, later)) {
    return later;
  }
  high = std::max(later, high);
  while (high - later > 1) {
    Tick middle = later + (high - later) / 2;
    (buffersHold(before, after, middle) ? high : later) = middle;
  }
  return high;
}

static Program twice(const Program &part, Tick later) {
  Program out = part;
  out.inputVectors *= 2;
  out.predictedTicks += later;
  std::erase_if(out.instructions, [](const Instruction &i) {
    return std::holds_alternative<FetchOp>(i.operation);
  });
  auto once = ptrdiff_t(out.instructions.size());
  for (ptrdiff_t k = 0; k < once; ++k) {
    Instruction i = out.instructions[size_t(k)];
    i.tick += later;
    out.instructions.push_back(i);
  }
  // Of equal ticks those of the first step go first.
  std::vector<Instruction> merged(out.instructions.size());
  auto second = out.instructions.begin() + once;
  std::ranges::merge(out.instructions.begin(), second, second,
                     out.instructions.end(), merged.begin(), {},
                     &Instruction::tick, &Instruction::tick);
  out.instructions = std::move(merged);
  for (SramRegion r : part.regions) {
    if (r.kind == RegionKind::Temporary) {
      r.born += later;
      r.dies += later;
      out.regions.push_back(r);
    }
  }
  return out;
}

Machine holdingAllText(const Machine &machine) {
  Machine out = machine;
  out.queueBytes = std::numeric_limits<int32_t>::max();
  return out;
}

SystemProgram twice(const SystemProgram &system, Tick later) {
  SystemProgram out = system;
  out.predictedTicks += later;
  for (Program &part : out.parts) {
    part = twice(part, later);
  }
  return out;
}

} // namespace orrery::runtime
