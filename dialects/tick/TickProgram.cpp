// Checks of the op in TickProgram.td: what holds between the ops of a program.
#include "dialects/tick/Tick.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace orrery::tick {

LogicalResult ProgramOp::verify() {
  if (getTokens() < 1 || getBucket() < getTokens() ||
      getContext() < getBucket()) { // (C1)
    return emitOpError("needs 1 <= tokens <= bucket <= context, found ")
           << getTokens() << ", " << getBucket() << ", "
           << ProgramOp::getContext();
  }
  return success();
}

/// The parts of a program in the order in which they stand; 4 for what has no
/// place there.
static int partOf(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, int>(op)
      .Case([](RegionOp) { return 0; })
      .Case([](VectorProgramOp) { return 1; })
      .Case([](LaneMapOp) { return 2; })
      .Case([](InstructionInterface) { return 3; })
      .Default([](mlir::Operation *) { return 4; });
}

// (C2)
static LogicalResult verifyOrder(ProgramOp program) {
  static constexpr StringLiteral kParts[] = {"regions", "vector programs",
                                             "lane maps", "instructions"};
  mlir::Operation *previous = nullptr;
  for (mlir::Operation &op : *program.getBody()) {
    const int part = partOf(&op);
    if (part == 4) {
      return op.emitOpError("has no place in a tick.program");
    }
    if (previous && part < partOf(previous)) {
      InFlightDiagnostic error = op.emitOpError("belongs before the ");
      error << kParts[partOf(previous)];
      error.attachNote(previous->getLoc()) << "this is before it";
      return error;
    }
    previous = &op;
  }
  return success();
}

// (C3)
static LogicalResult verifyRegionNames(ProgramOp program) {
  DenseMap<StringAttr, RegionOp> owner;
  for (auto region : program.getOps<RegionOp>()) {
    auto [entry, isNew] = owner.insert({region.getNameAttr(), region});
    if (!isNew) {
      InFlightDiagnostic error = region.emitOpError("is a second region ");
      error << region.getNameAttr();
      error.attachNote(entry->second.getLoc()) << "first here";
      return error;
    }
  }
  return success();
}

// (C4)
static LogicalResult verifyLanes(ProgramOp program) {
  LaneMapOp first;
  for (auto map : program.getOps<LaneMapOp>()) {
    first = first ? first : map;
    if (map.getLanes().size() != first.getLanes().size()) {
      InFlightDiagnostic error = map.emitOpError("has ");
      error << map.getLanes().size() << " lanes";
      error.attachNote(first.getLoc())
          << "this one has " << first.getLanes().size();
      return error;
    }
  }
  return success();
}

// (C5)
static LogicalResult verifyTicks(ProgramOp program) {
  if (program.getPredictedTicks() < 0) {
    return program.emitOpError("ends at tick ")
           << program.getPredictedTicks() << ", expected >= 0";
  }
  InstructionInterface previous;
  for (auto op : program.getOps<InstructionInterface>()) {
    if (op.getTick() < 0) {
      return op->emitOpError("is at tick ")
             << op.getTick() << ", expected >= 0";
    }
    if (previous && op.getTick() < previous.getTick()) {
      InFlightDiagnostic error = op->emitOpError("is at tick ");
      error << op.getTick() << ", behind a later one";
      error.attachNote(previous.getLoc()) << "at tick " << previous.getTick();
      return error;
    }
    previous = op;
  }
  return success();
}

static InFlightDiagnostic emitNoSuch(mlir::Operation *op, StringRef what,
                                     StringRef name) {
  return op->emitOpError("names ") << what << " @" << name << ", which is not "
                                   << "in its program";
}

// (C6)
static LogicalResult verifyVector(VectorOp op, VectorProgramOp program) {
  const auto fail = [&](StringRef what, size_t mine, size_t its) {
    InFlightDiagnostic error = op.emitOpError("has ");
    error << mine << ' ' << what;
    error.attachNote(program.getLoc()) << "its program has " << its;
    return error;
  };
  if (op.getIn().size() != program.getInputs().size()) {
    return fail("inputs", op.getIn().size(), program.getInputs().size());
  }
  if (op.getOut().size() != program.getOutputs().size()) {
    return fail("outputs", op.getOut().size(), program.getOutputs().size());
  }
  if (op.getCount() % program.getGroup() != 0) {
    InFlightDiagnostic error = op.emitOpError("has count ");
    error << op.getCount() << ", expected whole groups";
    error.attachNote(program.getLoc()) << "of " << program.getGroup();
    return error;
  }
  return success();
}

// (C6), (C7)
static LogicalResult verifyReferences(ProgramOp program) {
  DenseMap<StringAttr, mlir::Operation *> tables;
  for (mlir::Operation &op : *program.getBody()) {
    if (isa<VectorProgramOp, LaneMapOp>(op)) {
      tables[cast<SymbolOpInterface>(op).getNameAttr()] = &op;
    } else if (auto vector = dyn_cast<VectorOp>(op)) {
      auto name = vector.getProgramAttr().getAttr();
      auto target = dyn_cast_or_null<VectorProgramOp>(tables.lookup(name));
      if (!target) {
        return emitNoSuch(vector, "vector program", name);
      }
      if (failed(verifyVector(vector, target))) {
        return failure();
      }
    } else if (auto permute = dyn_cast<PermuteOp>(op)) {
      auto map = permute.getMapAttr();
      if (map && !isa_and_nonnull<LaneMapOp>(tables.lookup(map.getAttr()))) {
        return emitNoSuch(permute, "lane map", map.getValue());
      }
    }
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  return failure(failed(verifyOrder(*this)) ||
                 failed(verifyRegionNames(*this)) ||
                 failed(verifyLanes(*this)) || failed(verifyTicks(*this)) ||
                 failed(verifyReferences(*this)));
}

} // namespace orrery::tick
