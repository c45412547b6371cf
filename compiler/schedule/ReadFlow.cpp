// Memory, the host link, and the order in which ops become gangs.
#include "compiler/schedule/FlowReader.h"

#include "machine/Timing.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace orrery::schedule {

WriteOp formOf(flow::AccessAttr access) {
  WriteOp form;
  form.mask = static_cast<LaneMask>(access.getMask());
  form.low = uint16_t(access.getLow());
  form.high = uint16_t(access.getHigh());
  form.tokenDimension = uint8_t(access.getTokenDim());
  form.stripeBytes = uint8_t(access.getStripeBytes());
  form.stripeStep = access.getStripeStep();
  return form;
}

LogicalResult FlowReader::read(mlir::Operation *op) {
  return llvm::TypeSwitch<mlir::Operation *, LogicalResult>(op)
      .Case([&](flow::AllocOp o) {
        return memory(o, o.getBuffer(), "tmp." + std::to_string(temporaries++),
                      RegionKind::Temporary, o.getPlaceAttr());
      })
      .Case([&](flow::RegionOp o) {
        return memory(o, o.getMemory(), o.getName(),
                      static_cast<RegionKind>(o.getKind()), o.getPlaceAttr());
      })
      .Case([&](flow::VectorOp o) { return readVector(o); })
      .Case([&](flow::LoadOp o) { return readLoad(o); })
      .Case([&](flow::MatmulOp o) { return readMatmul(o); })
      .Case([&](flow::PermuteOp o) { return readPermute(o); })
      .Case([&](flow::TransposeOp o) { return readTranspose(o); })
      .Case([&](flow::LinkSendOp o) { return readLinkSend(o); })
      .Case([&](flow::LinkReceiveOp o) { return readLinkReceive(o); })
      .Case([&](flow::ReceiveOp o) { return readReceive(o); })
      .Case([&](flow::SendOp o) { return readSend(o); })
      .Case([&](flow::LogitsOp o) { return readLogits(o); })
      .Default(
          [](mlir::Operation *o) { return o->emitOpError("is no flow op"); });
}

LogicalResult FlowReader::memory(mlir::Operation *op, Value value,
                                 StringRef name, RegionKind kind,
                                 flow::PlaceAttr place) {
  if (!place) {
    return op->emitOpError("has no place: run --flow-allocate first");
  }
  Home home{place.getSlice(), 0, place.getBank(), place.getBase(),
            Memory::Constant, 0};
  uint32_t length;
  if (auto buffer = dyn_cast<flow::BufferType>(value.getType())) {
    home.width = uint32_t(streamsOf(flow::machineType(buffer.getType())));
    length = buffer.getVectors();
  } else {
    auto tiles = cast<flow::TilesType>(value.getType());
    home.width = tiles.getWidth();
    length =
        tiles.getTiles() * tileCycles(flow::machineFormat(tiles.getFormat()),
                                      tiles.getRows(), tiles.getWidth());
  }
  if (kind == RegionKind::Temporary) {
    home.memory = Memory::Temporary;
    home.region = uint32_t(out.regions.size());
  } else if (kind == RegionKind::Kv) {
    home.memory = Memory::Kv;
    home.region = out.problem.caches++;
  }
  homes[value] = home;
  std::string unique = name.str();
  if (kind == RegionKind::Weight) {
    auto region = cast<flow::RegionOp>(op);
    unique += "[" + std::to_string(region.getFirst()) + "," +
              std::to_string(region.getLow());
    if (region.getOfRanks() > 1) { // each place has a matrix's same rows
      unique += "," + std::to_string(region.getBehind());
    }
    unique += "]";
  }
  out.regions.push_back({unique, kind, uint16_t(home.slice),
                         uint16_t(home.width), uint8_t(home.bank), home.base,
                         length});
  return success();
}

LogicalResult FlowReader::readReceive(flow::ReceiveOp op) {
  const Home &home = homes[op.getOut()];
  uint32_t count = cast<flow::BufferType>(op.getOut().getType()).getVectors();
  auto tokens = op->getParentOfType<flow::ProgramOp>().getTokens();
  out.inputVectors += count / uint32_t(tokens);
  GangBuilder b = gang(op);
  // An f32 vector is four vectors of the link.
  BurstShape shape{count, uint32_t(4 * m.timing.hostVector), 1, 0};
  uint8_t group = b.drive(Direction::West, 4, 0, shape, g.ofHost());
  AddressPattern address;
  address.base = home.base;
  address.extent[0] = count;
  address.step[0] = 1;
  b.write(group, home, address, {});
  b.add(0, ReceiveOp{group, b.stopOf(group), shape});
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult FlowReader::readSend(flow::SendOp op) {
  const Home &home = homes[op.getInput()];
  uint32_t count = cast<flow::BufferType>(op.getInput().getType()).getVectors();
  GangBuilder b = gang(op);
  BurstShape shape{count, uint32_t(4 * m.timing.hostVector), 1, 0};
  AddressPattern address;
  address.base = home.base;
  address.extent[0] = count;
  address.step[0] = 1;
  uint8_t group =
      b.read(home, address, shape, Direction::East, g.ofHost(), g.ofHost());
  b.add(0, SendOp{group, shape});
  out.problem.gangs.push_back(std::move(b.gang));
  return success();
}

LogicalResult FlowReader::readLogits(flow::LogitsOp op) {
  const Home &home = homes[op.getBuffer()];
  out.logits = {uint16_t(home.slice), uint8_t(home.bank), home.base,
                uint32_t(op.getVectors()), uint32_t(op.getVocab())};
  return success();
}

// Whose addresses a region shares. Which of two comes first is not said:
// regions stand where they were asked for, which need not be where they are
// written. Gangs are in program order, so that when one writes, those of the
// others that were used already are the earlier ones.
static std::vector<std::vector<uint32_t>>
sharedAddresses(ArrayRef<SramRegion> regions) {
  std::vector<std::vector<uint32_t>> out(regions.size());
  llvm::MapVector<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> columns;
  for (uint32_t k = 0; k < regions.size(); ++k) {
    const SramRegion &r = regions[k];
    if (r.kind != RegionKind::Temporary) {
      continue;
    }
    for (uint32_t slice = r.slice; slice < uint32_t(r.slice) + r.width;
         ++slice) {
      auto &column = columns[{slice, r.bank}];
      for (uint32_t other : column) {
        const SramRegion &o = regions[other];
        if (o.base < r.base + r.length && r.base < o.base + o.length) {
          out[k].push_back(other);
          out[other].push_back(k);
        }
      }
      column.push_back(k);
    }
  }
  return out;
}

FailureOr<FlowProblem> readFlow(flow::ProgramOp program,
                                const Machine &machine) {
  FlowProblem out;
  out.problem.machine = &machine;
  out.problem.groupLinks = uint32_t(program.getGroupLinks().value_or(0));
  FlowReader reader(out, machine);
  for (mlir::Operation &op : program.getBody().front()) {
    if (failed(reader.read(&op))) {
      return failure();
    }
  }
  out.problem.shares = sharedAddresses(out.regions);
  return std::move(out);
}

} // namespace orrery::schedule
