// orrery check: proves a program file before tick 0. Reads nothing else.
#include "runtime/command/Console.h"
#include "runtime/command/Json.h"

#include "machine/Program.h"
#include "simulator/check/Check.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using llvm::formatv;

namespace orrery::command {
namespace {

Json document(const check::Report &report, const Program &program) {
  Json violations = Json::array();
  for (const check::Violation &v : report.violations) {
    Json one = {{"rule", v.rule}, {"message", v.message}, {"tick", v.tick}};
    if (v.instruction != check::kNoInstruction) {
      one["instruction"] = v.instruction;
    }
    violations.push_back(one);
  }
  return {{"ok", report.ok()},
          {"model", program.modelName},
          {"instructions", report.instructions},
          {"vectors_driven", report.vectorsDriven},
          {"operands_proven", report.operandsProven},
          {"tiles_proven", report.tilesProven},
          {"reads_proven", report.readsProven},
          {"end_tick", report.endTick},
          {"predicted_ticks", program.predictedTicks},
          {"sram_used_bytes", report.sram.used},
          {"sram_free_bytes", report.sram.free},
          {"sram_capacity_bytes", report.sram.capacity},
          {"program_bytes", report.sram.programBytes},
          {"violations_not_listed", report.violationsNotKept},
          {"violations", violations}};
}

std::string toText(const check::Report &report, const Program &program) {
  std::string out;
  for (const check::Violation &v : report.violations) {
    out += v.message + "\n";
  }
  if (report.violationsNotKept > 0) {
    out += formatv("and {0:N} more\n", report.violationsNotKept);
  }
  out += formatv(
      "{0}: {1:N} instructions, {2:N} operands, {3:N} tiles and {4:N} reads "
      "proven; ends at tick {5:N}, predicted {6:N}; SRAM {7:N} + {8:N} free = "
      "{9:N} B\n",
      report.ok() ? "ok" : "FAIL", report.instructions, report.operandsProven,
      report.tilesProven, report.readsProven, report.endTick,
      program.predictedTicks, report.sram.used, report.sram.free,
      report.sram.capacity);
  return out;
}

} // namespace

ExitCode execute(const CheckArguments &arguments) {
  auto program = loadProgram(arguments.program);
  if (!program) {
    return fail(kBadInput, program.error());
  }
  auto machine = parseMachine(program->machineJson, arguments.program);
  if (!machine) {
    return fail(kBadInput, machine.error());
  }
  check::Report report = check::checkProgram(*program, *machine);
  llvm::outs() << (arguments.json ? dump(document(report, *program))
                                  : toText(report, *program));
  return report.ok() ? kOk : kBroken;
}

} // namespace orrery::command
