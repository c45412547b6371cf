#include "machine/Validate.h"

#include "machine/Encoding.h"
#include "machine/InstructionCheck.h"
#include "machine/PartialSums.h"
#include "machine/RegionOverlap.h"
#include "machine/StepFields.h"

#include <algorithm>
#include <cmath>

namespace orrery {

namespace {

constexpr size_t kMaxInputs = 8;
constexpr size_t kMaxOutputs = 4;
constexpr size_t kMaxNameBytes = 4096;
/// Indices into the tables are 16 bits wide, those of values in a vector
/// program 8.
constexpr int64_t kMaxTable = 1 << 16;
constexpr int64_t kMaxValues = 1 << 8;
/// KV positions; keeps products with address steps inside 64 bits.
constexpr int64_t kMaxPositions = 1 << 24;
constexpr uint16_t kZeroLane = 0xffff;
/// Byte planes of the f32 logits.
constexpr int32_t kLogitsSlices = 4;

class ProgramCheck {
public:
  ProgramCheck(const Program &program, const Machine &machine)
      : program(program), machine(machine) {}

  Status run() {
    bool valid = header() && logits() && tables() && regions() &&
                 vectorPrograms() && laneMaps() && instructions();
    return valid ? Status(Success{}) : Status(Error{place + problem.message()});
  }

private:
  bool header();
  bool logits();
  bool tables();
  bool regions();
  bool region(const SramRegion &region);
  bool vectorPrograms();
  bool vectorProgram(const VectorProgram &vectorProgram);
  bool aluStep(const AluStep &step, int64_t values);
  bool immediate(float value, bool used);
  bool unused(std::string_view path);
  bool vectorOutput(const VectorOutput &output, int64_t values);
  bool laneMaps();
  bool instructions();
  std::string placeOf(size_t instruction) const;

  const Program &program;
  const Machine &machine;
  FirstProblem problem;
  std::string place; ///< what the problem is in
};

bool ProgramCheck::header() {
  int64_t context = program.context, bucket = program.bucket;
  return problem.within("model name: bytes", int64_t(program.modelName.size()),
                        0, kMaxNameBytes) &&
         problem.within("context", context, 1, kMaxPositions) &&
         problem.within("bucket", bucket, 1, context) &&
         problem.within("tokens", program.tokens, 1,
                        std::min<int64_t>(bucket, machine.lanes)) &&
         problem.within("input vectors", program.inputVectors, 0,
                        kMaxPositions) &&
         problem.within("predicted ticks", program.predictedTicks, 0, kMaxTick);
}

bool ProgramCheck::logits() {
  const LogitsPlace &p = program.logits;
  if (p == LogitsPlace()) {
    return true; // another chip's program has them
  }
  place = "logits: ";
  int64_t depth = machine.sram.vectorsPerBank;
  int64_t lanes = machine.lanes;
  return problem.within("slice", p.slice, 0,
                        machine.geometry().slices() - kLogitsSlices) &&
         problem.within("bank", p.bank, 0, machine.sram.banks - 1) &&
         problem.within("vectors", p.vectors, 1, depth) &&
         problem.within("base", p.base, 0,
                        depth - int64_t(p.vectors) * program.tokens) &&
         problem.within("vocab", p.vocab, (p.vectors - 1) * lanes + 1,
                        p.vectors * lanes);
}

bool ProgramCheck::tables() {
  place.clear();
  return problem.within("vector programs",
                        int64_t(program.vectorPrograms.size()), 0, kMaxTable) &&
         problem.within("lane maps", int64_t(program.laneMaps.size()), 0,
                        kMaxTable);
}

//===-- SRAM map ----------------------------------------------------------===//

bool ProgramCheck::regions() {
  for (const SramRegion &each : program.regions) {
    place = "region `" + each.name.substr(0, kMaxNameBytes) + "`: ";
    if (!region(each)) {
      return false;
    }
  }
  auto overlap = findOverlap(program.regions, machine.geometry().slices(),
                             machine.sram.banks);
  if (overlap) {
    place = "region `" + program.regions[overlap->second].name + "`: ";
    return problem.fail("addresses", "none of another region",
                        "some of `" + program.regions[overlap->first].name +
                            "`");
  }
  return true;
}

bool ProgramCheck::region(const SramRegion &r) {
  int64_t depth = machine.sram.vectorsPerBank;
  int64_t slices = machine.geometry().slices();
  bool temporary = r.kind == RegionKind::Temporary;
  return problem.within("name: bytes", int64_t(r.name.size()), 1,
                        kMaxNameBytes) &&
         problem.within("kind", int64_t(r.kind), 0,
                        int64_t(RegionKind::Instructions)) &&
         problem.within("slice", r.slice, 0, slices - 1) &&
         problem.within("width", r.width, 1, slices - r.slice) &&
         problem.within("bank", r.bank, 0, machine.sram.banks - 1) &&
         problem.within("base", r.base, 0, depth - 1) &&
         problem.within("length", r.length, 1, depth - r.base) &&
         problem.within("born", r.born, 0, temporary ? kMaxTick : 0) &&
         problem.within("dies", r.dies, temporary ? r.born + 1 : 0,
                        temporary ? kMaxTick + 1 : 0);
}

//===-- Vector programs and lane maps -------------------------------------===//

bool ProgramCheck::vectorPrograms() {
  for (size_t i = 0; i < program.vectorPrograms.size(); ++i) {
    place = "vector program " + std::to_string(i) + ": ";
    if (!vectorProgram(program.vectorPrograms[i])) {
      return false;
    }
  }
  return true;
}

bool ProgramCheck::vectorProgram(const VectorProgram &p) {
  auto inputs = int64_t(p.inputs.size());
  auto values = inputs + int64_t(p.steps.size());
  auto widened = [&](StreamType type) {
    return problem.require(type == StreamType::F32 || type == StreamType::F16 ||
                               type == StreamType::I8 ||
                               type == StreamType::Sum,
                           "input type", "f32, f16, i8 or sum", int64_t(type));
  };
  if (!problem.within("inputs", inputs, 0, kMaxInputs) ||
      !problem.within("outputs", int64_t(p.outputs.size()), 1, kMaxOutputs) ||
      !problem.within("values", values, 1, kMaxValues) ||
      !problem.within("group", p.group, 1, 0xffffffff / machine.lanes) ||
      !std::ranges::all_of(p.inputs, widened)) {
    return false;
  }
  for (size_t i = 0; i < p.steps.size(); ++i) {
    if (!aluStep(p.steps[i], inputs + int64_t(i))) {
      return false;
    }
  }
  return std::ranges::all_of(p.outputs,
                             [&](const VectorOutput &output) {
                               return vectorOutput(output, values);
                             }) &&
         (sumsAreOnlyAdded(p) ||
          problem.fail("accumulators",
                       "all of them, and no other value, "
                       "added by add_sums",
                       "another use"));
}

/// `values`: how many values stand before the step.
bool ProgramCheck::aluStep(const AluStep &s, int64_t values) {
  if (!problem.within("step op", int64_t(s.op), 0, int64_t(AluOp::AddBits))) {
    return false;
  }
  StepFields use = fieldsOf(s.op);
  bool indexed = s.token != BurstIndex();
  bool tiled = s.tile != BurstIndex();
  return problem.within("step a", s.a, 0, use.operands >= 1 ? values - 1 : 0) &&
         problem.within("step b", s.b, 0, use.operands == 2 ? values - 1 : 0) &&
         immediate(s.immediate, use.immediate) &&
         problem.within("step bound", s.bound, 0, use.limit ? 0xffffffff : 0) &&
         problem.within("step position", s.position, 0, use.limit ? 1 : 0) &&
         problem.within("step width", s.width, use.width ? 1 : 0,
                        use.width ? machine.lanes : 0) &&
         problem.within("step token.divide", s.token.divide, 1, 0xffffffff) &&
         problem.within("step token.modulo", s.token.modulo, 1, 0xffffffff) &&
         problem.within("step tile.divide", s.tile.divide, 1, 0xffffffff) &&
         problem.within("step tile.modulo", s.tile.modulo, 1, 0xffffffff) &&
         (s.position || !indexed || unused("step token")) &&
         (use.tile || !tiled || unused("step tile"));
}

bool ProgramCheck::immediate(float value, bool used) {
  if (used ? !std::isnan(value) : value == 0) {
    return true;
  }
  return problem.fail("step immediate",
                      used ? "a number" : "0, as the step has no use for it",
                      std::to_string(value));
}

bool ProgramCheck::unused(std::string_view path) {
  return problem.fail(path, "the default, as the step has no use for it",
                      "another");
}

bool ProgramCheck::vectorOutput(const VectorOutput &o, int64_t values) {
  return problem.within("output value", o.value, 0, values - 1) &&
         problem.within("output type", int64_t(o.type), 0,
                        int64_t(StreamType::Sum)) &&
         problem.within("output reduction", int64_t(o.reduction), 0,
                        int64_t(Reduction::AddSums)) &&
         problem.require(reducesTo(o.reduction, o.type), "output type",
                         "f32 of a reduction, or sum of add_sums",
                         int64_t(o.type));
}

bool ProgramCheck::laneMaps() {
  for (size_t i = 0; i < program.laneMaps.size(); ++i) {
    const std::vector<uint16_t> &map = program.laneMaps[i];
    place = "lane map " + std::to_string(i) + ": ";
    if (!problem.within("entries", int64_t(map.size()), machine.lanes,
                        machine.lanes) ||
        !std::ranges::all_of(map, [&](uint16_t lane) {
          return lane == kZeroLane ||
                 problem.within("lane", lane, 0, machine.lanes - 1);
        })) {
      return false;
    }
  }
  return true;
}

//===-- Instructions ------------------------------------------------------===//

bool ProgramCheck::instructions() {
  auto locations = int64_t(program.locations.size());
  InstructionCheck check(program, machine, problem);
  Tick previous = 0;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction &each = program.instructions[i];
    if (!problem.within("location", each.location, 0, locations - 1) ||
        !problem.within("tick (sorted)", each.tick, previous, kMaxTick) ||
        !check.check(each.operation, each.tick)) {
      place = placeOf(i);
      return false;
    }
    previous = each.tick;
  }
  return true;
}

std::string ProgramCheck::placeOf(size_t i) const {
  const Instruction &each = program.instructions[i];
  std::string text = "instruction " + std::to_string(i) + " (" +
                     mnemonic(each.operation) + ", tick " +
                     std::to_string(each.tick);
  if (each.location < program.locations.size()) {
    text += ", " + program.locations[each.location].substr(0, kMaxNameBytes);
  }
  return text + "): ";
}

} // namespace

Status validateProgram(const Program &program, const Machine &machine) {
  return ProgramCheck(program, machine).run();
}

} // namespace orrery
