// Random valid programs on several chips, the same for the same seed. Like
// those of RandomProgram they make no sense as schedules.
#pragma once

#include "machine/SystemProgram.h"
#include "tests/machine/RandomProgram.h"

#include <set>

namespace orrery::testing {

class RandomSystem {
public:
  RandomSystem(uint64_t seed, const Machine &machine)
      : random(seed), machine(machine) {}

  /// With `count` instructions of each kind in each part.
  SystemProgram make(int count) {
    fillPorts();
    size_t leastPorts = machine.link.ports;
    for (const std::vector<int32_t> &each : cabled) {
      leastPorts = std::min(leastPorts, each.size());
    }
    auto ranks = uint32_t(between(1, machine.system.chips));
    auto stages = uint32_t(between(1, machine.system.chips / ranks));
    auto parts = uint32_t(between(1, stages));
    for (uint32_t part = 0; part < parts; ++part) {
      RandomProgram one(random(), machine, int32_t(leastPorts));
      program.parts.push_back(one.make(count));
      program.parts.back().modelName = program.parts.front().modelName;
      program.parts.back().modelHash = program.parts.front().modelHash;
    }
    placeChips(stages, ranks);
    return program;
  }

private:
  int64_t between(int64_t low, int64_t high) {
    return low + int64_t(random() % uint64_t(high - low + 1));
  }
  template <class T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[size_t(between(0, int64_t(i) - 1))]);
    }
  }

  void fillPorts() {
    cabled.resize(size_t(machine.system.chips));
    for (const Link &link : machine.system.links) {
      cabled[size_t(link.chip)].push_back(link.port);
      cabled[size_t(link.otherChip)].push_back(link.otherPort);
    }
  }

  void placeChips(uint32_t stages, uint32_t ranks) {
    std::vector<int32_t> chips;
    for (int32_t chip = 0; chip < machine.system.chips; ++chip) {
      chips.push_back(chip);
    }
    shuffle(chips);
    for (uint32_t stage = 0; stage < stages; ++stage) {
      // Each part has a stage.
      auto parts = uint32_t(program.parts.size());
      uint32_t part = stage < parts ? stage : uint32_t(between(0, parts - 1));
      Tick start = between(0, 1'000'000);
      for (uint32_t rank = 0; rank < ranks; ++rank) {
        int32_t chip = chips[stage * ranks + rank];
        program.chips.push_back(
            {chip, part, stage, rank, start, links(chip, part)});
        program.predictedTicks = std::max(
            program.predictedTicks, start + program.parts[part].predictedTicks);
      }
    }
    std::ranges::sort(program.chips, {}, &ChipProgram::chip);
  }

  /// A port of its own for each direction of each link that the part uses.
  std::vector<LinkPorts> links(int32_t chip, uint32_t part) {
    std::vector<LinkPorts> links;
    std::vector<int32_t> out = cabled[size_t(chip)], in = out;
    shuffle(out);
    shuffle(in);
    auto reach = [&](LinkNumber number) {
      if (number > links.size()) {
        links.resize(number);
      }
    };
    for (const Instruction &each : program.parts[part].instructions) {
      auto *send = std::get_if<SendOp>(&each.operation);
      auto *receive = std::get_if<ReceiveOp>(&each.operation);
      if (send && send->link != kHostLink) {
        reach(send->link);
        links[send->link - 1].out = out[send->link - 1];
      }
      if (receive && receive->link != kHostLink) {
        reach(receive->link);
        links[receive->link - 1].in = in[receive->link - 1];
      }
    }
    return links;
  }

  std::mt19937_64 random;
  const Machine &machine;
  std::vector<std::vector<int32_t>> cabled; ///< ports, by chip
  SystemProgram program;
};

} // namespace orrery::testing
