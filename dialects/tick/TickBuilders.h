// Making tick ops from the machine's structs, for the scheduler and for the
// disassembler. Meant for 100,000 instructions: no strings are parsed, nothing
// is looked up by name.
#pragma once

#include "dialects/tick/Tick.h"

#include "mlir/IR/Builders.h"

namespace orrery::tick {

/// The name of vector program or lane map number `index` of a program: "p3",
/// "m3". Instructions made here refer to tables by these names.
std::string vectorProgramName(uint32_t index);
std::string laneMapName(uint32_t index);

/// `text` as the location of an op, unknown if it is empty; and back: the
/// first name in a location, "file:line:column" if it has none, or "".
mlir::Location locationOf(mlir::MLIRContext *context, llvm::StringRef text);
std::string textOf(mlir::Location location);

/// A tick.program named @step with `program`'s header and tables, named as
/// above, and no instructions. `machine` becomes the machine's JSON text. The
/// builder stays where it is.
ProgramOp createProgram(mlir::OpBuilder &builder, mlir::Location location,
                        const Program &program);

RegionOp createRegion(mlir::OpBuilder &builder, mlir::Location location,
                      const SramRegion &region);
/// Vector program and lane map number `index`.
VectorProgramOp createVectorProgram(mlir::OpBuilder &builder,
                                    mlir::Location location, uint32_t index,
                                    const VectorProgram &program);
LaneMapOp createLaneMap(mlir::OpBuilder &builder, mlir::Location location,
                        uint32_t index, llvm::ArrayRef<uint16_t> lanes);

/// The op of one instruction. `operation` must be one that validateProgram
/// takes; attributes it does not accept are a bug of the caller and assert.
mlir::Operation *createInstruction(mlir::OpBuilder &builder,
                                   mlir::Location location, Tick tick,
                                   const orrery::Operation &operation);
/// The same, with its location from the table of `program`.
mlir::Operation *createInstruction(mlir::OpBuilder &builder,
                                   const Instruction &instruction,
                                   const Program &program);

} // namespace orrery::tick
