#include "compiler/encode/EncodeProgram.h"

#include "dialects/tick/TickBuilders.h"
#include "dialects/tick/TickSyntax.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace orrery::compiler {

using tick::fromWord;

namespace {

class ProgramEncoder {
public:
  explicit ProgramEncoder(tick::ProgramOp op) : op(op) {}

  FailureOr<Program> run() {
    if (failed(encodeMachine())) {
      return failure();
    }
    encodeHeader();
    for (mlir::Operation &each : *op.getBody()) {
      encode(each);
    }
    return std::move(program);
  }

private:
  LogicalResult encodeMachine();
  void encodeHeader();
  void encode(mlir::Operation &each);
  void encodeTable(tick::RegionOp region);
  void encodeTable(tick::LaneMapOp map);
  uint32_t lineOf(Location location);

  orrery::Operation encodeOperation(tick::ReadOp read);
  orrery::Operation encodeOperation(tick::WriteOp write);
  orrery::Operation encodeOperation(tick::LoadOp load);
  orrery::Operation encodeOperation(tick::InstallOp install);
  orrery::Operation encodeOperation(tick::MatmulOp matmul);
  orrery::Operation encodeOperation(tick::VectorOp vector);
  orrery::Operation encodeOperation(tick::PermuteOp permute);
  orrery::Operation encodeOperation(tick::ReceiveOp receive);
  orrery::Operation encodeOperation(tick::SendOp send);
  orrery::Operation encodeOperation(tick::FetchOp fetch);

  tick::ProgramOp op;
  Program program = {};
  DenseMap<StringAttr, uint16_t> tableIndex; ///< vector programs, lane maps
  llvm::StringMap<uint32_t> lineOfText;
  DenseMap<Location, uint32_t> lineOfLocation;
};

} // namespace

LogicalResult ProgramEncoder::encodeMachine() {
  StringRef text = op.getMachine();
  if (text.ltrim().starts_with("{")) {
    program.machineJson = text.str();
    return success();
  }
  if (!llvm::is_contained(presetNames(), text)) {
    return op.emitOpError("has machine \"")
           << text << "\", expected JSON text or one of "
           << llvm::join(presetNames(), ", ");
  }
  Expected<Machine> preset = loadMachine(text.str());
  if (!preset) {
    return op.emitOpError("has a machine with a problem: ")
           << preset.error().message;
  }
  program.machineJson = formatMachine(*preset);
  return success();
}

void ProgramEncoder::encodeHeader() {
  program.modelName = op.getModel().str();
  program.modelHash = op.getModelHash();
  program.tokens = op.getTokens();
  program.bucket = op.getBucket();
  // Not the op's MLIRContext, which has the same name.
  program.context = op.getContextAttr().getValue().getZExtValue();
  program.inputVectors = op.getInputVectors();
  program.predictedTicks = op.getPredictedTicks();
  program.logits = op.getLogits();
  if (auto locations = op.getLocationsAttr()) {
    for (auto line : locations.getAsValueRange<StringAttr>()) {
      lineOfText.try_emplace(line, program.locations.size());
      program.locations.push_back(line.str());
    }
  }
}

uint32_t ProgramEncoder::lineOf(Location location) {
  auto [known, isNew] = lineOfLocation.try_emplace(location, 0);
  if (isNew) {
    std::string text = tick::textOf(location);
    auto [line, isNewText] =
        lineOfText.try_emplace(text, program.locations.size());
    if (isNewText) {
      program.locations.push_back(std::move(text));
    }
    known->second = line->second;
  }
  return known->second;
}

void ProgramEncoder::encodeTable(tick::RegionOp region) {
  program.regions.push_back(
      {region.getName().str(), fromWord<RegionKind>(region.getKind()),
       region.getSlice(), region.getWidth(), region.getBank(), region.getBase(),
       region.getLength(), region.getBorn(), region.getDies()});
}

void ProgramEncoder::encodeTable(tick::LaneMapOp map) {
  tableIndex[map.getSymNameAttr()] = program.laneMaps.size();
  program.laneMaps.emplace_back(map.getLanes().begin(), map.getLanes().end());
}

void ProgramEncoder::encode(mlir::Operation &each) {
  const auto add = [&](auto instruction) {
    program.instructions.push_back({instruction.getTick(),
                                    lineOf(instruction.getLoc()),
                                    encodeOperation(instruction)});
  };
  llvm::TypeSwitch<mlir::Operation *>(&each)
      .Case<tick::RegionOp, tick::LaneMapOp>(
          [&](auto table) { encodeTable(table); })
      .Case([&](tick::VectorProgramOp vector) {
        tableIndex[vector.getSymNameAttr()] = program.vectorPrograms.size();
        program.vectorPrograms.push_back(vector.getProgram());
      })
      .Case<tick::ReadOp, tick::WriteOp, tick::LoadOp, tick::InstallOp,
            tick::MatmulOp, tick::VectorOp, tick::PermuteOp, tick::ReceiveOp,
            tick::SendOp, tick::FetchOp>(add)
      .Default([](mlir::Operation *) {
        llvm_unreachable("not an op of a verified tick.program");
      });
}

orrery::Operation ProgramEncoder::encodeOperation(tick::ReadOp read) {
  return ReadOp{read.getSlice(),   read.getWidth(), read.getBank(),
                read.getAddress(), read.getOut(),   read.getShape()};
}

orrery::Operation ProgramEncoder::encodeOperation(tick::WriteOp write) {
  return WriteOp{write.getSlice(),
                 write.getWidth(),
                 write.getBank(),
                 write.getAddress(),
                 write.getIn(),
                 write.getShape(),
                 fromWord<LaneMask>(write.getMask()),
                 write.getLow(),
                 write.getHigh(),
                 write.getTokenDimension(),
                 write.getStripeBytes(),
                 write.getStripeStep()};
}

orrery::Operation ProgramEncoder::encodeOperation(tick::LoadOp load) {
  return LoadOp{load.getPlane(), load.getType() == tick::StreamType::F16,
                load.getStream(), load.getBase(), load.getShape()};
}

orrery::Operation ProgramEncoder::encodeOperation(tick::InstallOp install) {
  return InstallOp{
      install.getPlane(),  fromWord<WeightFormat>(install.getFormat()),
      install.getStream(), install.getWidth(),
      install.getLow(),    install.getHigh(),
      install.getShape()};
}

orrery::Operation ProgramEncoder::encodeOperation(tick::MatmulOp matmul) {
  return MatmulOp{matmul.getPlane(), fromWord<WeightFormat>(matmul.getFormat()),
                  matmul.getLow(),   matmul.getHigh(),
                  matmul.getTiles(), matmul.getInner(),
                  matmul.getRows(),  matmul.getPeriod(),
                  matmul.getBase(),  matmul.getStream(),
                  matmul.getStop(),  matmul.getSums()};
}

orrery::Operation ProgramEncoder::encodeOperation(tick::VectorOp vector) {
  VectorOp result;
  result.program = tableIndex.at(vector.getProgramAttr().getAttr());
  result.count = vector.getCount();
  for (auto in : vector.getIn().getAsRange<tick::StreamAttr>()) {
    result.in[result.inputs++] = in.getValue();
  }
  for (auto out : vector.getOut().getAsRange<tick::OutAttr>()) {
    result.out[result.outputs++] = out.getValue();
  }
  return result;
}

orrery::Operation ProgramEncoder::encodeOperation(tick::PermuteOp permute) {
  PermuteOp result;
  result.sxm = permute.getSxm();
  result.kind = fromWord<PermuteKind>(permute.getKind());
  if (auto map = permute.getMapAttr()) {
    result.map = tableIndex.at(map.getAttr());
  }
  result.width = permute.getWidth();
  result.outWidth = permute.getOutWidth();
  result.rows = permute.getRows();
  result.count = permute.getCount();
  result.in = permute.getIn();
  result.out = permute.getOut();
  return result;
}

orrery::Operation ProgramEncoder::encodeOperation(tick::ReceiveOp receive) {
  return ReceiveOp{receive.getStream(), receive.getStop(), receive.getShape(),
                   receive.getLink(), receive.getWidth()};
}

orrery::Operation ProgramEncoder::encodeOperation(tick::SendOp send) {
  return SendOp{send.getStream(), send.getShape(), send.getLink(),
                send.getWidth()};
}

orrery::Operation ProgramEncoder::encodeOperation(tick::FetchOp fetch) {
  return FetchOp{{fromWord<QueueId::Kind>(fetch.getQueue()), fetch.getNumber()},
                 fetch.getSlice(),
                 fetch.getBank(),
                 fetch.getAddress()};
}

FailureOr<Program> encodeProgram(tick::ProgramOp op) {
  return ProgramEncoder(op).run();
}

} // namespace orrery::compiler
