#include "runtime/Figures.h"

namespace orrery::runtime {

// Chips that a simulated one stands for did the same.
void Figures::addChips(const sim::Counters &c, uint32_t alike,
                       int64_t &linksOfStep) {
  busy.resize(c.units.size());
  for (size_t u = 0; u < c.units.size(); ++u) {
    busy[u] += Tick(alike * c.units[u].busyTicks);
  }
  sramBytesRead += alike * c.bytesRead();
  sramBytesWritten += alike * c.bytesWritten();
  hostBytesIn += alike * c.hostBytesIn;
  hostBytesOut += alike * c.hostBytesOut;
  int8Macs += alike * c.int8Macs;
  f16Macs += alike * c.f16Macs;
  aluOps += alike * c.aluOps;
  for (const sim::LinkCounters &link : c.links) {
    linksOfStep += link.bytesOut > 0 ? alike : 0;
    linkBytes += alike * link.bytesOut;
    crossing += Tick(alike * link.crossingTicks);
    mostBufferedVectors =
        std::max(mostBufferedVectors, link.mostBufferedVectors);
  }
}

void Figures::add(const SystemProgram &program, const sim::SystemResult &result,
                  int64_t newTokens) {
  fewest = steps == 0 ? result.ticks : std::min(fewest, result.ticks);
  most = std::max(most, result.ticks);
  ++steps;
  tokens += newTokens;
  chips = int64_t(program.chips.size());
  ticks += result.ticks;
  int64_t linksOfStep = 0;
  for (const sim::ChipStep &chip : result.simulated) {
    addChips(chip.result.counters, chip.alike, linksOfStep);
  }
  links = std::max(links, linksOfStep);
  joules += result.energy.totalJoules();
  staticJoules += result.energy.staticJoules;
  TimeSpent step = timeSpent(program, result);
  for (size_t kind = 0; kind < spent.size(); ++kind) {
    spent[kind] += step[kind];
  }
}

std::vector<UnitShare> unitShares(const Machine &machine,
                                  const Figures &figures) {
  if (figures.steps == 0) {
    return {};
  }
  sim::UnitIndex index(machine);
  auto group = [&](const char *name, size_t first, int64_t queues) {
    int64_t all = queues * figures.chips;
    UnitShare share{name, all, 0, figures.ticks * all};
    for (size_t u = first; u < first + size_t(queues); ++u) {
      share.busy += figures.busy[u];
    }
    return share;
  };
  std::vector<UnitShare> shares = {
      group("MXM install", index.install(0), index.planes),
      group("MXM array", index.matmul(0), index.planes),
      group("MXM load", index.load(0), index.planes),
      group("VXM", index.vector(), 1),
      group("SXM", index.permute(0), 2),
      group("MEM read", index.read(0), index.slices),
      group("MEM write", index.write(0), index.slices),
      group("host link in", index.hostIn(), 1),
      group("host link out", index.hostOut(), 1)};
  if (figures.links > 0) {
    shares.push_back({"C2C links", figures.links, figures.crossing,
                      figures.ticks * figures.links});
  }
  return shares;
}

} // namespace orrery::runtime
