// The report of `orrery time` as text.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/TimeReport.h"

#include "models/NotModelled.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {

std::string whole(double value) {
  return formatv("{0:N}", int64_t(std::round(value))).str();
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
