#include "dialects/tick/TickBuilders.h"

#include "dialects/tick/TickSyntax.h"

using namespace mlir;

namespace orrery::tick {

std::string vectorProgramName(uint32_t index) {
  return "p" + std::to_string(index);
}

std::string laneMapName(uint32_t index) { return "m" + std::to_string(index); }

Location locationOf(MLIRContext *context, StringRef text) {
  if (text.empty()) {
    return UnknownLoc::get(context);
  }
  return NameLoc::get(StringAttr::get(context, text));
}

std::string textOf(Location location) {
  if (auto name = location->findInstanceOf<NameLoc>()) {
    return name.getName().str();
  }
  if (auto file = location->findInstanceOf<FileLineColLoc>()) {
    return (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
            Twine(file.getColumn()))
        .str();
  }
  return "";
}

RegionOp createRegion(OpBuilder &builder, Location location,
                      const SramRegion &region) {
  return builder.create<RegionOp>(location, region.name,
                                  toWord<RegionKind>(region.kind), region.slice,
                                  region.width, region.bank, region.base,
                                  region.length, region.born, region.dies);
}

VectorProgramOp createVectorProgram(OpBuilder &builder, Location location,
                                    uint32_t index,
                                    const VectorProgram &program) {
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> inputs, steps, outputs;
  for (orrery::StreamType type : program.inputs) {
    inputs.push_back(StreamTypeAttr::get(context, toWord<StreamType>(type)));
  }
  for (const AluStep &step : program.steps) {
    steps.push_back(StepAttr::get(context, step));
  }
  for (const VectorOutput &output : program.outputs) {
    outputs.push_back(OutputAttr::get(context, output));
  }
  return builder.create<VectorProgramOp>(
      location, vectorProgramName(index), program.group,
      builder.getArrayAttr(inputs), builder.getArrayAttr(steps),
      builder.getArrayAttr(outputs));
}

LaneMapOp createLaneMap(OpBuilder &builder, Location location, uint32_t index,
                        ArrayRef<uint16_t> lanes) {
  SmallVector<int16_t> signless(lanes.begin(), lanes.end());
  return builder.create<LaneMapOp>(location, laneMapName(index), signless);
}

static void createTables(OpBuilder &builder, Location location,
                         const Program &program) {
  for (const SramRegion &region : program.regions) {
    createRegion(builder, location, region);
  }
  for (auto [index, vector] : llvm::enumerate(program.vectorPrograms)) {
    createVectorProgram(builder, location, index, vector);
  }
  for (auto [index, lanes] : llvm::enumerate(program.laneMaps)) {
    createLaneMap(builder, location, index, lanes);
  }
}

ProgramOp createProgram(OpBuilder &builder, Location location,
                        const Program &program) {
  auto op = builder.create<ProgramOp>(
      location, "step", program.modelName, program.modelHash,
      program.machineJson, program.tokens, program.bucket, program.context,
      program.inputVectors, program.logits, program.predictedTicks,
      /*locations=*/ArrayAttr());
  OpBuilder inside = OpBuilder::atBlockEnd(&op.getBodyRegion().emplaceBlock());
  createTables(inside, location, program);
  return op;
}

namespace {
/// One overload an operation of the machine.
struct InstructionCreator {
  OpBuilder &builder;
  Location location;
  Tick tick;
  MLIRContext *context = builder.getContext();

  template <class Op, class... Args> mlir::Operation *create(Args &&...args) {
    return builder.create<Op>(location, tick, std::forward<Args>(args)...);
  }

  mlir::Operation *operator()(const orrery::ReadOp &op) {
    return create<ReadOp>(op.slice, op.width, op.bank, op.address, op.out,
                          op.shape);
  }
  mlir::Operation *operator()(const orrery::WriteOp &op) {
    return create<WriteOp>(op.slice, op.width, op.bank, op.address, op.in,
                           op.shape, toWord<LaneMask>(op.mask), op.low, op.high,
                           op.tokenDimension, op.stripeBytes, op.stripeStep);
  }
  mlir::Operation *operator()(const orrery::LoadOp &op) {
    return create<LoadOp>(op.plane, op.f16 ? StreamType::F16 : StreamType::A8,
                          op.stream, op.base, op.shape);
  }
  mlir::Operation *operator()(const orrery::InstallOp &op) {
    return create<InstallOp>(op.plane, toWord<WeightFormat>(op.format), op.low,
                             op.high, op.stream, op.width, op.shape);
  }
  mlir::Operation *operator()(const orrery::MatmulOp &op) {
    return create<MatmulOp>(op.plane, toWord<WeightFormat>(op.format), op.low,
                            op.high, op.tiles, op.inner, op.rows, op.period,
                            op.base, op.stream, op.stop, op.sums);
  }
  mlir::Operation *operator()(const orrery::VectorOp &op) {
    assert(op.inputs <= op.in.size() && op.outputs <= op.out.size());
    SmallVector<Attribute> in, outs;
    for (unsigned i = 0; i < op.inputs; ++i) {
      in.push_back(StreamAttr::get(context, op.in[i]));
    }
    for (unsigned i = 0; i < op.outputs; ++i) {
      outs.push_back(OutAttr::get(context, op.out[i]));
    }
    return create<VectorOp>(vectorProgramName(op.program), op.count,
                            builder.getArrayAttr(in),
                            builder.getArrayAttr(outs));
  }
  mlir::Operation *operator()(const orrery::PermuteOp &op) {
    FlatSymbolRefAttr map;
    if (op.kind == orrery::PermuteKind::LaneMap) {
      map = FlatSymbolRefAttr::get(context, laneMapName(op.map));
    }
    return create<PermuteOp>(op.sxm, toWord<PermuteKind>(op.kind), map, op.rows,
                             op.width, op.outWidth, op.count, op.in, op.out);
  }
  mlir::Operation *operator()(const orrery::ReceiveOp &op) {
    return create<ReceiveOp>(op.stream, op.stop, op.shape, op.link, op.width);
  }
  mlir::Operation *operator()(const orrery::SendOp &op) {
    return create<SendOp>(op.stream, op.shape, op.link, op.width);
  }
  mlir::Operation *operator()(const orrery::FetchOp &op) {
    return create<FetchOp>(toWord<QueueKind>(op.target.kind), op.target.index,
                           op.slice, op.bank, op.address);
  }
};
} // namespace

mlir::Operation *createInstruction(OpBuilder &builder, Location location,
                                   Tick tick,
                                   const orrery::Operation &operation) {
  return std::visit(InstructionCreator{builder, location, tick}, operation);
}

mlir::Operation *createInstruction(OpBuilder &builder,
                                   const Instruction &instruction,
                                   const Program &program) {
  Location location =
      locationOf(builder.getContext(), program.locations[instruction.location]);
  return createInstruction(builder, location, instruction.tick,
                           instruction.operation);
}

} // namespace orrery::tick
