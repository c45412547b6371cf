#include "runtime/Figures.h"

namespace orrery::runtime {

void Figures::add(const Program &program, const sim::StepResult &result,
                  int64_t newTokens) {
  const sim::Counters &c = result.counters;
  fewest = steps == 0 ? result.ticks : std::min(fewest, result.ticks);
  most = std::max(most, result.ticks);
  ++steps;
  tokens += newTokens;
  ticks += result.ticks;
  busy.resize(c.units.size());
  for (size_t u = 0; u < c.units.size(); ++u) {
    busy[u] += Tick(c.units[u].busyTicks);
  }
  sramBytesRead += c.bytesRead();
  sramBytesWritten += c.bytesWritten();
  hostBytesIn += c.hostBytesIn;
  hostBytesOut += c.hostBytesOut;
  int8Macs += c.int8Macs;
  f16Macs += c.f16Macs;
  aluOps += c.aluOps;
  joules += c.energy.totalJoules();
  staticJoules += c.energy.staticJoules;
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
    UnitShare share{name, queues, 0, figures.ticks * queues};
    for (size_t u = first; u < first + size_t(queues); ++u) {
      share.busy += figures.busy[u];
    }
    return share;
  };
  return {group("MXM install", index.install(0), index.planes),
          group("MXM array", index.matmul(0), index.planes),
          group("MXM load", index.load(0), index.planes),
          group("VXM", index.vector(), 1),
          group("SXM", index.permute(0), 2),
          group("MEM read", index.read(0), index.slices),
          group("MEM write", index.write(0), index.slices),
          group("host link in", index.hostIn(), 1),
          group("host link out", index.hostOut(), 1)};
}

} // namespace orrery::runtime
