#include "simulator/timing/ChipClasses.h"

#include <map>
#include <tuple>

namespace orrery::sim {
namespace {

/// One direction of a link, seen from a chip: whether somebody is there, the
/// part, the number, the start after the chip's own.
using Neighbour = std::tuple<bool, uint32_t, LinkNumber, Tick>;
/// A chip's part and its links, in and out by turns.
using Situation = std::pair<uint32_t, std::vector<Neighbour>>;

Neighbour neighbour(const SystemProgram &program, const LinkEnd &end,
                    Tick start) {
  if (!end.missing.empty()) {
    return {false, 0, kHostLink, 0};
  }
  const ChipProgram &there = program.chips[end.chip];
  return {true, there.part, end.number, there.start - start};
}

Situation situation(const SystemProgram &program, const Wiring &wiring,
                    size_t chip) {
  const ChipProgram &c = program.chips[chip];
  Situation out{c.part, {}};
  for (size_t k = 1; k <= wiring.linksOf(chip); ++k) {
    out.second.push_back(neighbour(program, wiring.sender(chip, k), c.start));
    out.second.push_back(neighbour(program, wiring.receiver(chip, k), c.start));
  }
  return out;
}

} // namespace

ChipClasses eachChip(size_t chips) {
  ChipClasses out;
  for (uint32_t chip = 0; chip < chips; ++chip) {
    out.representatives.push_back(chip);
    out.sizes.push_back(1);
    out.classOf.push_back(chip);
  }
  return out;
}

ChipClasses chipsAlike(const SystemProgram &program, const Wiring &wiring) {
  ChipClasses out;
  std::map<Situation, uint32_t> known;
  for (uint32_t chip = 0; chip < wiring.chips(); ++chip) {
    auto [at, isNew] = known.try_emplace(situation(program, wiring, chip),
                                         uint32_t(out.representatives.size()));
    uint32_t group = at->second;
    out.classOf.push_back(group);
    if (isNew) {
      out.representatives.push_back(chip);
      out.sizes.push_back(1);
      continue;
    }
    ++out.sizes[group];
    uint32_t &first = out.representatives[group];
    if (program.chips[chip].start < program.chips[first].start) {
      first = chip;
    }
  }
  return out;
}

} // namespace orrery::sim
