// A program file: header, SRAM map, instructions by queue kind.
#include "runtime/command/Inspect.h"
#include "runtime/command/Json.h"
#include "runtime/command/RunReport.h"

#include "llvm/Support/FormatVariadic.h"

#include <map>

using llvm::formatv;

namespace orrery::command {
namespace {

/// Instructions and vectors of one mnemonic.
struct Count {
  uint64_t instructions = 0, vectors = 0;
};

uint64_t vectorsOf(const Operation &operation) {
  return std::visit(
      [](const auto &op) -> uint64_t {
        if constexpr (requires { op.shape.count(); }) {
          return op.shape.count();
        } else if constexpr (requires { op.rows *op.tiles; }) {
          return uint64_t(op.rows) * op.tiles * op.inner;
        } else {
          return op.count;
        }
      },
      operation);
}

std::map<std::string, Count> histogram(const Program &program) {
  std::map<std::string, Count> counts;
  for (const Instruction &i : program.instructions) {
    Count &count = counts[mnemonic(i.operation)];
    ++count.instructions;
    count.vectors += vectorsOf(i.operation);
  }
  return counts;
}

std::string text(const Program &p, const Machine &machine) {
  std::string out = formatv(
      "{0} (hash {1:x}) on {2}: {3} a step, {4} of {5} positions\n"
      "{6:N} ticks, {7:f2} us; {8:N} instructions, {9:N} B of text; {10} "
      "vector programs, {11} lane maps, {12} locations\n"
      "logits: {13} elements, {14} vectors a token, slices {15} to {16}, bank "
      "{17}, address {18}\n",
      p.modelName, p.modelHash, machine.name,
      runtime::counted(p.tokens, "token"), p.bucket, p.context,
      p.predictedTicks, machine.microseconds(p.predictedTicks),
      p.instructions.size(), programBytes(p, machine), p.vectorPrograms.size(),
      p.laneMaps.size(), p.locations.size(), p.logits.vocab, p.logits.vectors,
      p.logits.slice, p.logits.slice + 3, p.logits.bank, p.logits.base);
  out += "\ninstructions            number      vectors\n";
  for (const auto &[name, count] : histogram(p)) {
    out += formatv("  {0,-12} {1,14:N} {2,12:N}\n", name, count.instructions,
                   count.vectors);
  }
  const Program *set[] = {&p};
  out += sramText(runtime::sramUse(machine, set), "SRAM");
  out += "\nregions\n";
  for (const SramRegion &r : p.regions) {
    out += formatv("  {0,-28} {1,-12} slices {2,3}-{3,-3} bank {4} addresses "
                   "{5,5}-{6,-5} {7,10:N} B\n",
                   r.name, runtime::sramKindName(r.kind), r.slice,
                   r.slice + r.width - 1, r.bank, r.base, r.base + r.length - 1,
                   r.bytes(machine.lanes));
  }
  return out;
}

Json json(const Program &p, const Machine &machine) {
  const Program *set[] = {&p};
  Json counts = Json::object(), regions = Json::array();
  for (const auto &[name, count] : histogram(p)) {
    counts[name] = {{"instructions", count.instructions},
                    {"vectors", count.vectors}};
  }
  for (const SramRegion &r : p.regions) {
    regions.push_back({{"name", r.name},
                       {"kind", runtime::sramKindName(r.kind)},
                       {"slice", r.slice},
                       {"width", r.width},
                       {"bank", r.bank},
                       {"base", r.base},
                       {"length", r.length},
                       {"bytes", r.bytes(machine.lanes)}});
  }
  return {{"model", p.modelName},
          {"model_hash", formatv("{0:x}", p.modelHash).str()},
          {"machine", machine.name},
          {"tokens", p.tokens},
          {"bucket_positions", p.bucket},
          {"context_positions", p.context},
          {"predicted_ticks", p.predictedTicks},
          {"predicted_us", machine.microseconds(p.predictedTicks)},
          {"program_bytes", programBytes(p, machine)},
          {"instructions", counts},
          {"sram", toJson(runtime::sramUse(machine, set))},
          {"regions", regions}};
}

} // namespace

Expected<std::string> inspectProgram(const InspectArguments &arguments) {
  auto program = loadProgram(arguments.file);
  if (!program) {
    return program.error();
  }
  auto machine = parseMachine(program->machineJson, arguments.file);
  if (!machine) {
    return machine.error();
  }
  return arguments.json ? dump(json(*program, *machine))
                        : text(*program, *machine);
}

} // namespace orrery::command
