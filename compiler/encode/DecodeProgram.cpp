#include "compiler/encode/DecodeProgram.h"

#include "dialects/tick/TickBuilders.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace orrery::compiler {

/// The preset that `json` is the text of, else `json`.
static std::string shortMachine(const std::string &json) {
  Expected<Machine> machine = parseMachine(json, "of the program");
  if (!machine || !llvm::is_contained(presetNames(), machine->name)) {
    return json;
  }
  Expected<Machine> preset = loadMachine(machine->name);
  return preset && formatMachine(*preset) == json ? machine->name : json;
}

/// Whether the location table is what the encoder makes without one: all lines
/// used, by first use, none twice.
static bool isByFirstUse(const Program &program) {
  uint32_t used = 0;
  for (const Instruction &instruction : program.instructions) {
    if (instruction.location > used) {
      return false;
    }
    used += instruction.location == used;
  }
  llvm::StringSet<> lines;
  return used == program.locations.size() &&
         llvm::all_of(program.locations, [&](const std::string &line) {
           return lines.insert(line).second;
         });
}

OwningOpRef<ModuleOp> decodeProgram(MLIRContext &context,
                                    const Program &program) {
  context.loadDialect<tick::TickDialect>();
  const Location unknown = UnknownLoc::get(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(unknown);
  auto builder = OpBuilder::atBlockEnd(module->getBody());
  auto op = tick::createProgram(builder, unknown, program);
  op.setMachine(shortMachine(program.machineJson));
  if (!isByFirstUse(program)) {
    SmallVector<StringRef> lines(program.locations.begin(),
                                 program.locations.end());
    op.setLocationsAttr(builder.getStrArrayAttr(lines));
  }
  builder.setInsertionPointToEnd(op.getBody());
  for (const Instruction &instruction : program.instructions) {
    tick::createInstruction(builder, instruction, program);
  }
  return module;
}

} // namespace orrery::compiler
