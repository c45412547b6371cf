// orrery check: proves a program file before tick 0. Reads nothing else.
#include "runtime/command/Console.h"
#include "runtime/command/Json.h"

#include "simulator/check/SystemCheck.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using llvm::formatv;

namespace orrery::command {
namespace {

/// What was proven of all parts together, each counted once.
struct Proven {
  uint64_t instructions = 0, vectorsDriven = 0, operands = 0, tiles = 0,
           reads = 0;
  /// Of the part that leaves least free.
  check::CapacityFigures sram = {};

  explicit Proven(const check::SystemReport &report) {
    for (const check::Report &part : report.parts) {
      instructions += part.instructions;
      vectorsDriven += part.vectorsDriven;
      operands += part.operandsProven;
      tiles += part.tilesProven;
      reads += part.readsProven;
      if (&part == &report.parts.front() || part.sram.free < sram.free) {
        sram = part.sram;
      }
    }
  }
};

Json document(const check::SystemReport &report, const SystemProgram &program) {
  Json violations = Json::array();
  for (const check::SystemViolation &v : report.violations) {
    Json one = {{"rule", v.rule}, {"message", v.message}, {"tick", v.tick}};
    if (v.part >= 0) {
      one["part"] = v.part;
    }
    if (v.chip >= 0) {
      one["chip"] = v.chip;
    }
    if (v.instruction != check::kNoInstruction) {
      one["instruction"] = v.instruction;
    }
    violations.push_back(one);
  }
  Proven proven(report);
  return {{"ok", report.ok()},
          {"model", program.parts.front().modelName},
          {"chips", program.chips.size()},
          {"parts", program.parts.size()},
          {"instructions", proven.instructions},
          {"vectors_driven", proven.vectorsDriven},
          {"operands_proven", proven.operands},
          {"tiles_proven", proven.tiles},
          {"reads_proven", proven.reads},
          {"links", report.links},
          {"link_behaviours", report.linkBehaviours},
          {"link_vectors_proven", report.linkVectorsProven},
          {"end_tick", report.endTick},
          {"predicted_ticks", program.predictedTicks},
          {"sram_used_bytes", proven.sram.used},
          {"sram_free_bytes", proven.sram.free},
          {"sram_capacity_bytes", proven.sram.capacity},
          {"program_bytes", proven.sram.programBytes},
          {"violations_not_listed", report.violationsNotKept},
          {"violations", violations}};
}

std::string toText(const check::SystemReport &report,
                   const SystemProgram &program) {
  std::string out;
  for (const check::SystemViolation &v : report.violations) {
    out += v.message + "\n";
  }
  if (report.violationsNotKept > 0) {
    out += formatv("and {0:N} more\n", report.violationsNotKept);
  }
  Proven proven(report);
  out += formatv(
      "{0}: {1:N} instructions, {2:N} operands, {3:N} tiles and {4:N} reads "
      "proven; ends at tick {5:N}, predicted {6:N}; SRAM {7:N} + {8:N} free = "
      "{9:N} B\n",
      report.ok() ? "ok" : "FAIL", proven.instructions, proven.operands,
      proven.tiles, proven.reads, report.endTick, program.predictedTicks,
      proven.sram.used, proven.sram.free, proven.sram.capacity);
  if (program.chips.size() > 1) {
    out +=
        formatv("{0:N} chips run {1}; {2} of {3}, {4:N} vectors shown to "
                "arrive and to find room\n",
                program.chips.size(),
                runtime::counted(int64_t(program.parts.size()), "part"),
                runtime::counted(int64_t(report.links), "link"),
                runtime::counted(int64_t(report.linkBehaviours), "behaviour"),
                report.linkVectorsProven);
  }
  return out;
}

} // namespace

ExitCode execute(const CheckArguments &arguments) {
  auto program = loadSystemProgram(arguments.program);
  if (!program) {
    return fail(kBadInput, program.error());
  }
  auto machine =
      parseMachine(program->parts.front().machineJson, arguments.program);
  if (!machine) {
    return fail(kBadInput, machine.error());
  }
  check::SystemReport report = check::checkSystem(*program, *machine);
  llvm::outs() << (arguments.json ? dump(document(report, *program))
                                  : toText(report, *program));
  return report.ok() ? kOk : kBroken;
}

} // namespace orrery::command
