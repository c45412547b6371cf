// The report of `orrery time` as text.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/TimeReport.h"

#include "machine/QueueFilling.h"
#include "models/NotModelled.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {

std::string whole(double value) {
  return formatv("{0:N}", int64_t(std::round(value))).str();
}

// Whole layers are counted: "down + 2 layers + attention".
std::string layersText(const StageGroup &g) {
  static const std::vector<std::string> kLayer = {"attention", "gate and up",
                                                  "down"};
  std::string out;
  for (size_t k = 0; k < g.sections.size();) {
    std::span rest = std::span(g.sections).subspan(k);
    int64_t layers = 0;
    while (rest.size() >= 3 && std::ranges::equal(rest.first(3), kLayer)) {
      rest = rest.subspan(3);
      ++layers;
    }
    out += out.empty() ? "" : " + ";
    out += layers > 0 ? counted(layers, "layer") : g.sections[k];
    k += layers > 0 ? size_t(3 * layers) : 1;
  }
  if (g.relay) {
    return "no layer, a relay";
  }
  out += out.empty() ? "no layer" : "";
  out += g.first ? ", embedding rows" : "";
  return out + (g.last ? ", head" : "");
}

/// "1 of 4 layers, embedding rows; 6 of down + 2 layers + attention; …"
std::string stagesText(const TimeReport &r) {
  std::string out = "stages   ";
  for (const StageGroup &g : stageGroups(*r.decode().step)) {
    out += formatv("{0}{1} of {2}", g.part == 0 ? "" : "; ", g.stages,
                   layersText(g));
  }
  return out + "\n";
}

/// "attention column, down scatter", or "attention 2 column + 1 reduce".
std::string formsText(const StageGroup &g) {
  std::string out;
  for (bool attention : {true, false}) {
    std::map<partition::ProductForm, int64_t> counts;
    for (const partition::SharedProduct &p : g.products) {
      counts[p.form] += p.attention == attention ? 1 : 0;
    }
    std::erase_if(counts, [](const auto &c) { return c.second == 0; });
    std::string forms;
    for (auto [form, count] : counts) {
      forms += forms.empty() ? "" : " + ";
      forms += counts.size() > 1 ? std::to_string(count) + " " : "";
      forms += partition::productFormName(form);
    }
    if (!forms.empty()) {
      out += (out.empty() ? "" : ", ") +
             std::string(attention ? "attention " : "down ") + forms;
    }
  }
  return out;
}

/// One line when all stages share alike, else by kind of stage.
std::string productsText(const TimeReport &r) {
  std::map<std::pair<bool, partition::ProductForm>, int64_t> seen;
  std::string kinds;
  for (const StageGroup &g : stageGroups(*r.decode().step)) {
    for (const partition::SharedProduct &p : g.products) {
      ++seen[{p.attention, p.form}];
    }
    if (!g.products.empty()) {
      kinds += formatv("{0}{1} of {2}: {3}", kinds.empty() ? "" : "; ",
                       g.stages, layersText(g), formsText(g));
    }
  }
  if (seen.empty()) {
    return "";
  }
  StageGroup all;
  for (const auto &[product, count] : seen) {
    all.products.push_back({product.first, product.second});
  }
  bool alike = all.products.size() == 1 ||
               (all.products.size() == 2 &&
                all.products[0].attention != all.products[1].attention);
  return formatv("products {0} (how ranks share what each has a part of)\n",
                 alike ? formsText(all) : kinds)
      .str();
}

std::string confirmedText(const TimedStep &t) {
  if (!t.simulated) {
    return "         predicted, not simulated\n";
  }
  auto chips = int64_t(t.step->system.chips.size());
  return formatv("         confirmed by simulation: {0:N} ticks on {1}{2}\n",
                 *t.simulated, counted(chips, "chip"),
                 t.simulatedChips < chips
                     ? formatv(" ({0} of them simulated, the others do the "
                               "same)",
                               t.simulatedChips)
                           .str()
                     : "")
      .str();
}

std::string decodeText(const TimeReport &r, const TimedStep &t) {
  double us = r.machine.microseconds(t.ticks());
  return formatv("decode   up to position {0:N}: {1:N} ticks = {2:f2} us a "
                 "token; {3} tokens/s for one user\n{4}",
                 t.positions(), t.ticks(), us, whole(1e6 / us),
                 confirmedText(t))
      .str();
}

std::string pipelineText(const TimeReport &r) {
  const StepTimes &times = r.decode().times;
  if (times.stages.size() == 1) {
    return formatv("users    room for KV caches of {0:N} positions: {1} by "
                   "bytes (`--fits` compiles); they take turns\n",
                   r.context, r.users)
        .str();
  }
  size_t slowest = times.slowest();
  std::string out = formatv(
      "full     a token every {0:N} ticks with {1} in flight: {2} tokens/s\n"
      "         stage {3} is the slowest, {4:N} ticks; a stage takes its next "
      "token when its program\n         has ended and what it hands on has "
      "left; {5}\n",
      times.interval(), counted(times.inFlight(), "user"), whole(r.fullRate()),
      slowest, times.stages[slowest].occupied(),
      r.decode().simulatedPair
          ? formatv("confirmed by simulating two tokens: {0:N} ticks",
                    *r.decode().simulatedPair)
                .str()
          : "predicted, not simulated");
  out += formatv("users    room for KV caches of {0:N} positions: {1} by bytes "
                 "(`--fits` compiles){2}: {3} tokens/s\n",
                 r.context, r.users,
                 r.users < times.inFlight() ? ", too few to fill it" : "",
                 whole(r.rateOfThoseThatFit()));
  return out;
}

std::string promptText(const TimeReport &r) {
  const PromptTime &p = r.prompt;
  std::string out = formatv(
      "prompt   {0} a step, a step every {1:N} ticks: {2} tokens/s\n"
      "         {3} in {4}: the first token comes after {5:N} ticks = {6:f2} "
      "us\n",
      counted(p.chunkTokens, "token"), p.interval,
      whole(p.tokensPerSecond(r.machine)), counted(p.tokens, "token"),
      counted(p.chunks, "step"), p.firstToken,
      r.machine.microseconds(p.firstToken));
  for (const TimedStep &t : r.programs) {
    if (t.first().tokens > 1 && t.simulated) {
      out += formatv("         confirmed by simulation: {0:N} ticks for {1} "
                     "up to position {2:N}\n",
                     *t.simulated, counted(t.first().tokens, "token"),
                     t.positions());
    }
  }
  return out;
}

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
std::string stageRange(const StepTimes &times, uint32_t part) {
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
                   stageRange(times, g.part), ticks, b.criticalPath, b.busiest,
                   b.busiestResource, ratio(ticks, least));
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

std::string paddingText(const TimeReport &r) {
  auto over = [&](RegionKind kind) {
    Bytes nominal = r.sram.total.nominal[size_t(kind)];
    Bytes stored = r.sram.total.bytes[size_t(kind)];
    return nominal > 0 ? 100 * (double(stored) / double(nominal) - 1) : 0.0;
  };
  return formatv("padding  weights {0:f1} %, KV cache {1:f1} %, MACs of a "
                 "token {2:f1} % beyond what the model needs\n         ({3:N} "
                 "MACs charged for {4:N})\n",
                 over(RegionKind::Weight), over(RegionKind::Kv),
                 100 * r.macs.overhead(), r.macs.charged, r.macs.useful)
      .str();
}

} // namespace

std::string formatText(const TimeReport &r) {
  std::string out = formatv(
      "{0} on {1}: weights {2}, KV {3}, {4}; shape only\nsplit    {5}\n",
      models::titleOf(r.config), r.machine.name, r.weights, r.kv,
      counted(r.context, "position"), splitText(*r.decode().step, r.machine));
  out += stagesText(r) + productsText(r) + decodeText(r, r.decode());
  if (r.shortDecode > 0) {
    out += decodeText(r, r.programs[r.shortDecode]);
  }
  out += pipelineText(r) + promptText(r) + paddingText(r) + partsText(r) +
         boundsText(r);
  out += systemSramText(r.sram,
                        formatv("at {0}, with the text of {1}",
                                counted(r.context, "position"),
                                counted(int64_t(r.programs.size()), "program"))
                            .str());
  out += itemsText(r.fullest, 4);
  out += formatv("\nhost     {0} compiled in {1:f2} s, checked in {2:f2} s, "
                 "simulated in {3:f2} s\n",
                 counted(int64_t(r.programs.size()), "program"),
                 r.compileSeconds, r.checkSeconds, r.simulateSeconds);
  return out + brokenText(r.receipt) + models::omissionText({&r.config, 1});
}

} // namespace orrery::command
