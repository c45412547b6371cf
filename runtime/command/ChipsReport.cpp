#include "runtime/command/ChipsReport.h"

#include "runtime/StageChips.h"
#include "runtime/command/RunReport.h"

#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;

namespace orrery::command {

using namespace runtime;

namespace {

struct StageLine {
  std::vector<int32_t> chips; ///< by rank
  uint32_t part;
  Tick start;
};

std::vector<StageLine> stagesOf(const SystemProgram &program) {
  std::vector<StageLine> out;
  for (const auto &ranks : stageChips(program)) {
    const ChipProgram &first = program.chips[ranks.front()];
    StageLine &stage = out.emplace_back();
    stage.part = first.part;
    stage.start = first.start;
    for (size_t chip : ranks) {
      stage.chips.push_back(program.chips[chip].chip);
    }
  }
  return out;
}

/// The starts, as many as a line holds: the first ones and the last.
std::string startsText(const std::vector<StageLine> &stages) {
  constexpr size_t kFirst = 5;
  std::string out;
  for (size_t s = 0; s < stages.size(); ++s) {
    if (s == kFirst && stages.size() > kFirst + 1) {
      out += ", ...";
      s = stages.size() - 1;
    }
    out += formatv("{0}{1:N}", s == 0 ? "" : ", ", stages[s].start);
  }
  return out;
}

} // namespace

std::string chipsText(const SystemProgram &program) {
  if (program.chips.size() == 1) {
    return "";
  }
  auto stages = stagesOf(program);
  int64_t relays = relayCount(program);
  std::string over =
      relays > 0 ? " and " + counted(relays, "relay") : std::string();
  return formatv("chips    {0:N} in {1}{2} of {3}; starting at tick {4}\n",
                 program.chips.size(),
                 counted(int64_t(stages.size()) - relays, "stage"), over,
                 counted(int64_t(stages.front().chips.size()), "rank"),
                 startsText(stages))
      .str();
}

Json chipsJson(const SystemProgram &program) {
  Json list = Json::array();
  auto stages = stagesOf(program);
  for (const StageLine &stage : stages) {
    list.push_back({{"chips", stage.chips},
                    {"part", stage.part},
                    {"relay", isRelay(program.parts[stage.part])},
                    {"start_tick", stage.start}});
  }
  return {{"count", program.chips.size()},
          {"tensor_parallel", stages.front().chips.size()},
          {"stages", list}};
}

std::string linksText(const Figures &f, const Machine &machine) {
  if (f.links == 0) {
    return "";
  }
  return formatv("links    {0} in use; {1:N} B a token over all of them; at "
                 "most {2:N} of {3:N} vectors in a buffer\n",
                 f.links, int64_t(f.linkBytes) / f.tokens,
                 f.mostBufferedVectors, machine.link.bufferVectors)
      .str();
}

std::string systemSramText(const SystemSram &sram, const std::string &what) {
  if (sram.chips == 1) {
    return sramText(sram.total, "SRAM " + what);
  }
  std::string out = sramText(
      sram.chip(),
      formatv("SRAM of the fullest of {0} chips {1}", sram.chips, what).str());
  const char *comma = "  on all chips: ";
  for (RegionKind kind : {RegionKind::Weight, RegionKind::Kv}) {
    Bytes bytes = sram.total.bytes[size_t(kind)];
    Bytes nominal = sram.total.nominal[size_t(kind)];
    out += formatv("{0}{1} {2:N} B{3}", comma, sramKindName(kind), bytes,
                   nominal > 0 ? formatv(" for {0:N} B nominal", nominal).str()
                               : "");
    comma = ", ";
  }
  return out + "\n";
}

Json systemSramJson(const SystemSram &sram) {
  if (sram.chips == 1) {
    return toJson(sram.total);
  }
  Json out = toJson(sram.chip());
  out["all_chips"] = toJson(sram.total);
  return out;
}

} // namespace orrery::command
