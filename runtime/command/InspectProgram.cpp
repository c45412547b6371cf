// A program file: header, chips, and of each part SRAM map and instructions by
// queue kind.
#include "runtime/command/ChipsReport.h"
#include "runtime/command/Inspect.h"
#include "runtime/command/RunReport.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <map>

using llvm::formatv;

namespace orrery::command {
namespace {

/// Instructions and vectors of one mnemonic.
struct Count {
  uint64_t instructions = 0, vectors = 0;
};

uint64_t vectorsOf(const Operation &operation, const Machine &machine) {
  return std::visit(
      [&](const auto &op) -> uint64_t {
        if constexpr (requires { op.target; }) {
          return uint64_t(machine.fetchVectors);
        } else if constexpr (requires { op.shape.count(); }) {
          return op.shape.count();
        } else if constexpr (requires { op.rows *op.tiles; }) {
          return uint64_t(op.rows) * op.tiles * op.inner;
        } else {
          return op.count;
        }
      },
      operation);
}

std::map<std::string, Count> histogram(const Program &program,
                                       const Machine &machine) {
  std::map<std::string, Count> counts;
  for (const Instruction &i : program.instructions) {
    Count &count = counts[mnemonic(i.operation)];
    ++count.instructions;
    count.vectors += vectorsOf(i.operation, machine);
  }
  return counts;
}

std::string partText(const Program &p, const Machine &machine) {
  std::string out = formatv(
      "{0:N} ticks, {1:f2} us; {2:N} instructions, {3:N} B of text; {4} "
      "vector programs, {5} lane maps, {6} locations\n",
      p.predictedTicks, machine.microseconds(p.predictedTicks),
      p.instructions.size(), programBytes(p, machine), p.vectorPrograms.size(),
      p.laneMaps.size(), p.locations.size());
  if (p.logits.vectors > 0) {
    out += formatv("logits: {0} elements, {1} vectors a token, slices {2} to "
                   "{3}, bank {4}, address {5}\n",
                   p.logits.vocab, p.logits.vectors, p.logits.slice,
                   p.logits.slice + 3, p.logits.bank, p.logits.base);
  }
  out += "\ninstructions            number      vectors\n";
  for (const auto &[name, count] : histogram(p, machine)) {
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

Json partJson(const Program &p, const Machine &machine) {
  const Program *set[] = {&p};
  Json counts = Json::object(), regions = Json::array();
  for (const auto &[name, count] : histogram(p, machine)) {
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
  return {{"predicted_ticks", p.predictedTicks},
          {"predicted_us", machine.microseconds(p.predictedTicks)},
          {"program_bytes", programBytes(p, machine)},
          {"instructions", counts},
          {"sram", toJson(runtime::sramUse(machine, set))},
          {"regions", regions}};
}

/// Chips that run a part.
int64_t chipsOf(const SystemProgram &program, size_t part) {
  return std::ranges::count(program.chips, part, &ChipProgram::part);
}

std::string text(const SystemProgram &program, const Machine &machine) {
  const Program &first = program.parts.front();
  std::string out = formatv("{0} (hash {1:x}) on {2}: {3} a step, {4} of {5} "
                            "positions\n",
                            first.modelName, first.modelHash, machine.name,
                            runtime::counted(first.tokens, "token"),
                            first.bucket, first.context);
  if (program.chips.size() > 1) {
    out += formatv("{0:N} ticks, {1:f2} us\n", program.predictedTicks,
                   machine.microseconds(program.predictedTicks));
    out += chipsText(program);
  }
  for (size_t part = 0; part < program.parts.size(); ++part) {
    if (program.chips.size() > 1) {
      out += formatv("\npart {0}, on {1}\n", part,
                     runtime::counted(chipsOf(program, part), "chip"));
    }
    out += partText(program.parts[part], machine);
  }
  return out;
}

Json json(const SystemProgram &program, const Machine &machine) {
  const Program &first = program.parts.front();
  Json parts = Json::array();
  for (const Program &part : program.parts) {
    parts.push_back(partJson(part, machine));
  }
  return {{"model", first.modelName},
          {"model_hash", formatv("{0:x}", first.modelHash).str()},
          {"machine", machine.name},
          {"tokens", first.tokens},
          {"bucket_positions", first.bucket},
          {"context_positions", first.context},
          {"predicted_ticks", program.predictedTicks},
          {"predicted_us", machine.microseconds(program.predictedTicks)},
          {"chips", chipsJson(program)},
          {"parts", parts}};
}

} // namespace

Expected<std::string> inspectProgram(const InspectArguments &arguments) {
  auto program = loadSystemProgram(arguments.file);
  if (!program) {
    return program.error();
  }
  auto machine =
      parseMachine(program->parts.front().machineJson, arguments.file);
  if (!machine) {
    return machine.error();
  }
  return arguments.json ? dump(json(*program, *machine))
                        : text(*program, *machine);
}

} // namespace orrery::command
