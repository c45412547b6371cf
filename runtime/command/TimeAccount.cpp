// Of `orrery time`: where the ticks go, beside lower bounds.
#include "runtime/command/TimeReport.h"

#include "machine/QueueFilling.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {

/// "162 to 174", or "162" if that is both.
std::string rangeText(int64_t least, int64_t most) {
  return least == most ? formatv("{0:N}", most).str()
                       : formatv("{0:N} to {1:N}", least, most).str();
}

std::string fillingText(const TimeReport &r) {
  QueueFilling least{INT64_MAX, INT64_MAX}, most;
  for (const Program &part : r.decode().step->system.parts) {
    QueueFilling f = queueFilling(part, r.machine);
    least = {std::min(least.chunks, f.chunks), std::min(least.ticks, f.ticks)};
    most = {std::max(most.chunks, f.chunks), std::max(most.ticks, f.ticks)};
  }
  return formatv("  not in these ticks: filling the instruction queues of a "
                 "stage before its step, {0} chunks,\n  {1} ticks through the "
                 "one ICU of a chip\n",
                 rangeText(least.chunks, most.chunks),
                 rangeText(least.ticks, most.ticks))
      .str();
}

} // namespace

std::string partsText(const TimeReport &r) {
  const StepParts &p = r.parts;
  auto within = p.inLayers();
  auto layers = Tick(p.layers.size());
  std::string out = formatv(
      "\nwhere the ticks go (decode up to position {0:N}; each tick counted "
      "once, for the op that ends next;\nright: in how many of them planes "
      "install, the VXM takes vectors, links carry, for whichever op)\n"
      "{1,-26}{2,11}{3,8}{4,10}{5,11}  |{6,10}{7,10}{8,10}\n",
      r.decode().positions(), "", "step", "", "a layer", "elsewhere",
      "installs", "VXM", "links");
  PartTicks sum;
  Tick inLayers = 0;
  auto row = [&](const char *name, const PartTicks &t, Tick inside) {
    out += formatv("  {0,-24}{1,11:N}{2,6:f1} %{3,10:N}{4,11:N}  |{5,10:N}"
                   "{6,10:N}{7,10:N}\n",
                   name, t.ticks, 100 * double(t.ticks) / double(p.ticks),
                   inside / std::max<Tick>(layers, 1), t.ticks - inside,
                   t.installing, t.vectors, t.crossing);
  };
  for (size_t part = 0; part < StepParts::kCount; ++part) {
    if (p.step[part].ticks > 0) {
      row(kStepPartNames[part], p.step[part], within[part]);
    }
    sum += p.step[part];
    inLayers += within[part];
  }
  row("total", sum, inLayers);
  return out + fillingText(r);
}

/// Stages as "0", or "1 to 6" when all between run the same.
static std::string stageRange(const StepTimes &times, uint32_t part) {
  size_t first = times.stages.size(), last = 0, count = 0;
  for (size_t s = 0; s < times.stages.size(); ++s) {
    if (times.stages[s].part == part) {
      first = std::min(first, s);
      last = s;
      ++count;
    }
  }
  return first == last ? formatv("stage {0}", first).str()
         : count == last - first + 1
             ? formatv("stages {0} to {1}", first, last).str()
             : formatv("{0} stages from {1} on", count, first).str();
}

std::string boundsText(const TimeReport &r) {
  const CompiledStep &step = *r.decode().step;
  const StepTimes &times = r.decode().times;
  std::string out = formatv(
      "\nlower bounds, ticks (no schedule of the same instructions ends "
      "earlier)\n  {0,-24}{1,11}{2,13}{3,11}  {4,-15}{5,6}\n",
      "", "program", "by operands", "by a unit", "", "ratio");
  Tick program = 0, path = 0, busiest = 0, bound = 0;
  auto ratio = [](Tick ticks, Tick least) {
    return double(ticks) / double(std::max<Tick>(least, 1));
  };
  for (const StageGroup &g : stageGroups(step)) {
    const schedule::LowerBounds &b = step.parts[g.part].bounds;
    Tick ticks = step.system.parts[g.part].predictedTicks;
    Tick least = std::max(b.criticalPath, b.busiest);
    out += formatv("  {0,-24}{1,11:N}{2,13:N}{3,11:N}  {4,-15}{5,6:f2}\n",
                   stageRange(times, g.part) + (g.relay ? ", relay" : ""),
                   ticks, b.criticalPath, b.busiest, b.busiestResource,
                   ratio(ticks, least));
    program += g.stages * ticks;
    path += g.stages * b.criticalPath;
    busiest += g.stages * b.busiest;
    bound += g.stages * least;
  }
  if (times.stages.size() > 1) {
    out += formatv("  {0,-24}{1,11:N}{2,13:N}{3,11:N}  {4,-15}{5,6:f2}\n",
                   "all, one after another", program, path, busiest, "",
                   ratio(program, bound));
  }
  return out;
}

} // namespace orrery::command
