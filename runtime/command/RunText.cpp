#include "runtime/command/RunReport.h"

#include "machine/MachineFields.h"
#include "runtime/command/ChipsReport.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

LongestPart::LongestPart(const CompiledStep &step)
    : alone(step.parts.size() == 1) {
  for (size_t part = 0; part < step.parts.size(); ++part) {
    Tick ticks = step.system.parts[part].predictedTicks;
    if (ticks > predictedTicks) {
      predictedTicks = ticks;
      bounds = step.parts[part].bounds;
    }
  }
}

double LongestPart::ratio() const {
  Tick bound = std::max(bounds.criticalPath, bounds.busiest);
  return bound > 0 ? double(predictedTicks) / double(bound) : 0;
}

std::string scheduleText(const LongestPart &part) {
  return formatv("{0:N} ticks predicted{5}; bounds: {1:N} by operands, {2:N} "
                 "by {3}; ratio {4:f2}\n",
                 part.predictedTicks, part.bounds.criticalPath,
                 part.bounds.busiest, part.bounds.busiestResource, part.ratio(),
                 part.alone ? "" : " for the longest stage")
      .str();
}

Json toJson(const LongestPart &part) {
  return {{"predicted_ticks", part.predictedTicks},
          {"critical_path_ticks", part.bounds.criticalPath},
          {"busiest_ticks", part.bounds.busiest},
          {"busiest", part.bounds.busiestResource},
          {"ratio", part.ratio()}};
}

static std::string stopText(const RunReport &r) {
  switch (r.generated.stop) {
  case Stop::Count:
    return "";
  case Stop::EndToken:
    return ", stopped at the end token";
  case Stop::Context:
    return formatv(", stopped: the context of {0} is full ({1} tokens were "
                   "asked for)",
                   r.context, r.asked)
        .str();
  }
  return "";
}

/// "T = 30", or each T in the order in which it came.
static std::string chunksText(const std::vector<int64_t> &chunks) {
  std::string out = "T =";
  for (int64_t tokens : chunks) {
    out += (out.back() == '=' ? " " : ", ") + std::to_string(tokens);
  }
  return out;
}

static std::string timeText(const RunReport &r) {
  const Machine &m = r.machine;
  std::string out;
  out += formatv("prompt   {0} in {1}, {4}; first token after {2:N} ticks, "
                 "{3:f2} us\n",
                 counted(r.prompt.tokens, "token"),
                 counted(r.prompt.steps, "step"), r.prompt.ticks,
                 m.microseconds(r.prompt.ticks), chunksText(r.promptChunks));
  if (r.decode.steps > 0) {
    double ticks = double(r.decode.ticks) / double(r.decode.steps);
    out += formatv("decode   {0:N} ticks a token ({1:N} to {2:N}), {3:f2} us; "
                   "{4:N} tokens/s at {5} MHz\n",
                   int64_t(std::round(ticks)), r.decode.fewest, r.decode.most,
                   ticks / m.clockMhz, int64_t(m.clockMhz * 1e6 / ticks),
                   numberText(m.clockMhz));
  }
  if (r.readOut.bytes > 0) {
    out += formatv("sampling on the host: {0:N} B of logits a token over the "
                   "host link, {1:N} ticks, are not in these figures\n",
                   r.readOut.bytes, r.readOut.ticks);
  }
  out += "schedule " + scheduleText(r.longest) + r.chipsText +
         linksText(r.decode.steps > 0 ? r.decode : r.prompt, m);
  return out;
}

static std::string energyText(const RunReport &r) {
  auto line = [&](const char *name, const Figures &f) -> std::string {
    if (f.steps == 0) {
      return "";
    }
    double seconds = r.machine.microseconds(f.ticks) * 1e-6;
    return formatv("{0} {1:e2} J a token, {2:f1} W on average, {3:f0} % of it "
                   "static; {4:N} B of SRAM read a step\n",
                   name, f.joules / double(f.tokens), f.joules / seconds,
                   100 * f.staticJoules / f.joules,
                   int64_t(f.sramBytesRead) / f.steps)
        .str();
  };
  return line("energy   prompt:", r.prompt) +
         line("energy   decode:", r.decode);
}

// All MACs that the array is busy for, and those that the model asks for.
static std::string macsText(const RunReport &r) {
  if (r.decode.steps == 0) {
    return "";
  }
  int64_t charged = int64_t(r.decode.int8Macs + r.decode.f16Macs);
  return formatv("MACs     decode: {0:N} useful a token, {1:N} charged with "
                 "padding: {2:f1} % useful\n",
                 r.usefulDecodeMacs / r.decode.steps, charged / r.decode.steps,
                 100 * double(r.usefulDecodeMacs) / double(charged))
      .str();
}

static std::string hostText(const RunReport &r) {
  double tokens = double(r.prompt.tokens + r.decode.tokens);
  double ticks = double(r.prompt.ticks + r.decode.ticks);
  std::string out =
      formatv("host     {0} compiled in {1:f2} s; {2:f1} tokens/s and {3:N} "
              "ticks/s simulated here\n",
              counted(r.programs, "program"), r.compileSeconds,
              tokens / r.simulateSeconds, int64_t(ticks / r.simulateSeconds));
  return out;
}

static std::string unitsText(const RunReport &r) {
  auto prompt = unitShares(r.machine, r.prompt);
  auto decode = unitShares(r.machine, r.decode);
  std::string out = "\nunits busy        queues   decode   prompt\n";
  for (size_t i = 0; i < prompt.size(); ++i) {
    std::string share =
        decode.empty() ? "-"
                       : formatv("{0:f1} %", 100 * decode[i].share()).str();
    out += formatv("  {0,-16} {1,5} {2,8} {3,6:f1} %\n", prompt[i].name,
                   prompt[i].queues, share, 100 * prompt[i].share());
  }
  return out;
}

static std::string spentText(const RunReport &r) {
  const Figures &f = r.decode.steps > 0 ? r.decode : r.prompt;
  std::string out =
      formatv("\nwhere the time went ({0}; ticks a step, each counted once for "
              "the op that ends next)\n",
              r.decode.steps > 0 ? "decode" : "prompt");
  for (size_t kind = 0; kind < kOpKinds.size(); ++kind) {
    if (f.spent[kind] > 0) {
      out += formatv("  {0,-24} {1,10:N} {2,6:f1} %\n", kOpKinds[kind],
                     f.spent[kind] / f.steps,
                     100 * double(f.spent[kind]) / double(f.ticks));
    }
  }
  return out;
}

std::string sramText(const SramUse &use, const std::string &title) {
  std::string out = "\n" + title + "\n";
  auto line = [&](const char *name, Bytes bytes) {
    out += formatv("  {0,-12} {1,13:N} B {2,6:f1} %\n", name, bytes,
                   100 * double(bytes) / double(use.capacity));
  };
  for (RegionKind kind : {RegionKind::Weight, RegionKind::Table, RegionKind::Kv,
                          RegionKind::Instructions, RegionKind::Temporary}) {
    line(sramKindName(kind), use.bytes[size_t(kind)]);
    if (Bytes nominal = use.nominal[size_t(kind)]; nominal > 0) {
      out += formatv("    of it {0,18:N} B nominal, {1:N} B padding\n", nominal,
                     use.bytes[size_t(kind)] - nominal);
    }
  }
  line("free", use.free);
  line("capacity", use.capacity);
  return out;
}

// The numbers by name, as many on a line as fit 78 columns; then the structure.
static std::string assumedText(const Machine &machine) {
  std::string out, line;
  for (const SourcedNumber &n : assumedNumbers(machine)) {
    if (!line.empty() && line.size() + n.path.size() > 64) {
      out += "                " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + n.path;
  }
  out += line.empty() ? "" : "                " + line + "\n";
  for (const char *fact : assumedStructure()) {
    out += std::string("                ") + fact + "\n";
  }
  return out;
}

std::string receiptText(const Receipt &receipt, const Machine &machine) {
  std::string out = "\nreceipt\n";
  for (const Invariant &i : receipt.invariants()) {
    out += formatv("  {0,-11}  {1}: {2}\n", verdictName(i.verdict), i.name,
                   i.figures);
  }
  return out + assumedText(machine);
}

std::string formatText(const RunReport &r) {
  std::string out =
      formatv("\n\n{0} on {1}: weights {2}, KV {3}, context {4}; {5} "
              "written{6}\n",
              r.modelName, r.machine.name, r.weights, r.kv, r.context,
              counted(int64_t(r.generated.ids.size()), "token"), stopText(r));
  out += timeText(r) + energyText(r) + macsText(r) + hostText(r) +
         unitsText(r) + spentText(r);
  out += systemSramText(r.sram, formatv("at {0}, with the text of {1}",
                                        counted(r.context, "position"),
                                        counted(r.programs, "program"))
                                    .str());
  return out + receiptText(r.receipt, r.machine);
}

} // namespace orrery::command
