#include "runtime/command/TimeReport.h"

#include "runtime/StageChips.h"
#include "simulator/SystemSimulator.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>
#include <set>

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

static StageGroup groupOf(const Program &part, uint32_t number) {
  StageGroup group;
  group.part = number;
  group.relay = isRelay(part);
  // Locations are in the order of the schedule.
  std::map<std::pair<int64_t, int>, std::string> sections;
  for (const std::string &location : part.locations) {
    std::string_view name = location;
    int order = 0;
    for (auto [op, section] : {std::pair(" attention", "attention"),
                               {" ffn_gated", "gate and up"},
                               {" ffn_down", "down"}}) {
      if (name.ends_with(op)) {
        sections[{layerOf(name), order}] = section;
      }
      ++order;
    }
    group.first = group.first || name == "token_embd";
    group.last = group.last || name == "argmax";
  }
  for (const auto &[place, section] : sections) {
    group.sections.push_back(section);
  }
  return group;
}

std::vector<StageGroup> stageGroups(const CompiledStep &step) {
  std::vector<StageGroup> out;
  for (size_t part = 0; part < step.parts.size(); ++part) {
    out.push_back(groupOf(step.system.parts[part], uint32_t(part)));
    out.back().products = step.parts[part].products;
  }
  for (const auto &ranks : stageChips(step.system)) {
    ++out[step.system.chips[ranks.front()].part].stages;
  }
  return out;
}

PromptTime promptTime(const std::vector<PromptStep> &steps,
                      const Machine &machine) {
  PromptTime out;
  Tick start = 0;
  std::optional<StepTimes> before;
  for (const PromptStep &s : steps) {
    StepTimes times(s.step->system, machine);
    auto width = int64_t(s.step->system.parts.front().tokens);
    if (width >= out.chunkTokens) {
      out.chunkTokens = width;
      out.interval = times.interval();
    }
    start += before ? follow(*before, times) : 0;
    out.firstToken = start + times.ticks;
    out.tokens += s.tokens;
    ++out.chunks;
    before = std::move(times);
  }
  return out;
}

double PromptTime::tokensPerSecond(const Machine &machine) const {
  return interval > 0
             ? double(chunkTokens) * machine.clockMhz * 1e6 / double(interval)
             : 0;
}

double TimeReport::fullRate() const {
  return machine.clockMhz * 1e6 / double(decode().times.interval());
}

// Each user's next token starts when the last is done and its turn has come.
double TimeReport::rateOfThoseThatFit() const {
  Tick round =
      std::max(decode().ticks(), Tick(users) * decode().times.interval());
  return double(users) * machine.clockMhz * 1e6 / double(round);
}

Status confirm(TimedStep &timed, const Machine &machine, Receipt &receipt) {
  sim::SystemSimulator simulator(machine);
  auto result = simulator.run(timed.step->system, {});
  if (!result) {
    return result.error();
  }
  timed.simulated = result->ticks;
  timed.simulatedChips = int64_t(result->simulated.size());
  receipt.addStep(timed.step->system, *result);
  return Success{};
}

Status confirmPair(TimedStep &timed, const Machine &machine) {
  if (timed.times.stages.size() == 1) {
    return Success{};
  }
  Tick later = timed.times.interval();
  sim::SystemSimulator simulator(holdingAllText(machine));
  auto result = simulator.run(twice(timed.step->system, later), {});
  if (!result) {
    return Error{"two steps, " + std::to_string(later) +
                 " ticks apart: " + result.error().message};
  }
  timed.simulatedPair = result->ticks;
  if (result->ticks != timed.ticks() + later) {
    return Error{"two steps, " + std::to_string(later) +
                 " ticks apart: expected to end at tick " +
                 std::to_string(timed.ticks() + later) + ", found " +
                 std::to_string(result->ticks)};
  }
  return Success{};
}

std::string splitText(const CompiledStep &step, const Machine &machine) {
  int64_t relays = relayCount(step.system);
  std::string over =
      relays > 0 ? " over " + counted(relays, "relay") : std::string();
  return formatv("tp={0} x pp={1}{2}: {3:N} of {4}", step.split.tensorParallel,
                 step.split.stages, over, step.system.chips.size(),
                 counted(machine.system.chips, "chip"))
      .str();
}

/// The first `most` of a list of names and bytes, the rest as one.
template <class Item, class Name>
static std::string largestText(const std::vector<Item> &items, size_t most,
                               Name name) {
  std::string out;
  Bytes rest = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i < most || items.size() == most + 1) {
      out +=
          formatv("    {0,-28} {1,13:N} B\n", name(items[i]), items[i].bytes);
    } else {
      rest += items[i].bytes;
    }
  }
  return rest == 0
             ? out
             : out + formatv("    {0,-28} {1,13:N} B\n",
                             formatv("{0} more", items.size() - most).str(),
                             rest)
                         .str();
}

std::string itemsText(const SramItems &items, size_t most) {
  std::string out = formatv("  {0,-22}{1,7}{2,13}{3,11}{4,13}{5,10}{6,13}"
                            "{7,13}\n",
                            "bank", "slices", "weights", "tables", "KV cache",
                            "program", "temporaries", "free B");
  for (const BankUse &bank : items.banks) {
    auto of = [&](RegionKind kind) { return bank.bytes[size_t(kind)]; };
    out += formatv(
        "  {0,-22}{1,7}{2,13:N}{3,11:N}{4,13:N}{5,10:N}{6,13:N}{7,13:N}\n",
        formatv("{0} slices, bank {1}", bank.data ? "data" : "weight",
                bank.bank)
            .str(),
        bank.slices, of(RegionKind::Weight), of(RegionKind::Table),
        of(RegionKind::Kv), of(RegionKind::Instructions),
        of(RegionKind::Temporary), bank.free);
  }
  out += "  tensors, the largest first\n" +
         largestText(items.lasting, most,
                     [](const SramItem &item) { return item.name; });
  out += formatv("  temporaries: {0:N} B of addresses; most that hold a value "
                 "at once: {1:N} B from tick {2:N}, results of\n",
                 items.temporaryBytes, items.liveBytes, items.liveTick);
  return out + largestText(items.live, most,
                           [](const LiveItem &item) { return item.op; });
}

Json toJson(const SramItems &items) {
  Json banks = Json::array(), lasting = Json::array(), live = Json::array();
  for (const BankUse &bank : items.banks) {
    Json row = {{"slices_for", bank.data ? "data" : "weights"},
                {"bank", bank.bank},
                {"slices", bank.slices},
                {"capacity_bytes", bank.capacity()}};
    for (RegionKind kind :
         {RegionKind::Weight, RegionKind::Table, RegionKind::Kv,
          RegionKind::Instructions, RegionKind::Temporary}) {
      constexpr const char *kKeys[] = {"weights_bytes", "tables_bytes",
                                       "kv_bytes", "temporaries_bytes",
                                       "program_bytes"};
      row[kKeys[size_t(kind)]] = bank.bytes[size_t(kind)];
    }
    row["free_bytes"] = bank.free;
    banks.push_back(row);
  }
  for (const SramItem &item : items.lasting) {
    lasting.push_back({{"name", item.name},
                       {"kind", sramKindName(item.kind)},
                       {"bytes", item.bytes}});
  }
  for (const LiveItem &item : items.live) {
    live.push_back({{"op", item.op}, {"bytes", item.bytes}});
  }
  return {{"banks", banks},
          {"tensors", lasting},
          {"temporaries",
           {{"bytes", items.temporaryBytes},
            {"most_live_bytes", items.liveBytes},
            {"at_tick", items.liveTick},
            {"results_of", live}}}};
}

std::string brokenText(const Receipt &receipt) {
  std::string out;
  for (const Invariant &i : receipt.invariants()) {
    if (i.verdict == Verdict::Fail) {
      out += formatv("FAIL  {0}: {1}\n", i.name, i.figures);
    }
  }
  return out;
}

} // namespace orrery::command
