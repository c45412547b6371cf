// What a stage gets from the one before and passes on to the next.
#include "compiler/lower/Crossing.h"
#include "compiler/lower/FlowBuilder.h"

using namespace mlir;

namespace orrery {

void FlowBuilder::receiveRows(ValueRange to, ArrayRef<Attribute> writes,
                              Location location) {
  b.create<flow::LinkReceiveOp>(location, to,
                                b.getI32IntegerAttr(group.pipelineLink()),
                                b.getI32IntegerAttr(0), b.getI32IntegerAttr(0),
                                b.getI32IntegerAttr(0), b.getArrayAttr(writes));
}

void FlowBuilder::receive(ValueRange results, Location location) {
  for (Value value : results) {
    auto width = cast<RankedTensorType>(value.getType()).getDimSize(1);
    Rows rows{.axis = AxisLayout::dense(int32_t(width), layout.lanes)};
    flow::StreamType type = crossingType(value);
    if (type == flow::StreamType::F32) {
      int64_t vectors = tokens * rows.axis.vectors();
      rows.f32 = alloc(vectors, type);
      receiveRows(rows.f32, {plain(vectors)}, location);
    } else {
      receiveQuantized(rows, value, type, location);
    }
    define(value, rows);
  }
}

// Straight to where it is needed: to matrix units, as a chip's own; to be sent
// to other ranks; and to its place among what they send. Nothing else reads it,
// and what is quantized cannot be copied through the VXM.
void FlowBuilder::receiveQuantized(Rows &rows, Value value,
                                   flow::StreamType type, Location location) {
  auto *context = b.getContext();
  int64_t vectors = rows.axis.vectors();
  SmallVector<Value> whole;
  SmallVector<Value, 2> gathered;
  AxisLayout all = rows.axis; // of what is gathered
  if (usedBy<llm::LinearOp>(value)) {
    Value(&sides)[2] =
        type == flow::StreamType::A8 ? rows.quantized : rows.half;
    for (int32_t side : {0, 1}) {
      whole.push_back(sides[side] = alloc(tokens * vectors, type, side));
    }
  }
  for (mlir::Operation *user : value.getUsers()) {
    if (auto gather = dyn_cast<grid::AllGatherOp>(user)) {
      whole.push_back(rows.crossing = alloc(tokens * vectors, type, kLinkSide));
      Gathered begun = beginGather(rows, gather);
      all = begun.rows.axis;
      gathered = begun.buffers;
      gathers[value] = std::move(begun);
      break;
    }
  }
  // In the order in which sendToStage sends.
  std::vector<AxisLayout::Run> places = all.runs();
  for (auto [number, run] : llvm::enumerate(rows.axis.runs())) {
    SmallVector<Value> to(whole);
    SmallVector<Attribute> writes(whole.size(),
                                  access(context, {tokens, run.count},
                                         {vectors, 1}, uint32_t(run.first)));
    for (Value buffer : gathered) {
      const AxisLayout::Run &place = places[number];
      to.push_back(buffer);
      writes.push_back(
          inPlace(access(context, {tokens, place.count},
                         {all.vectors(), place.step}, uint32_t(place.base)),
                  place, 0, all));
    }
    receiveRows(to, writes, location);
  }
}

// Cosines and sines may still be on their way.
LogicalResult FlowBuilder::verifyLinkRoom(grid::StageOp stage) {
  int64_t needed = 2 * tokens * streams(flow::StreamType::F32);
  bool any = false;
  auto *yield = stage.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(stage.getResults(), yield->getOperands())) {
    if (isPassedOn(result)) {
      if (!values.contains(value)) {
        return emitError(yield->getLoc())
               << "passes on a value that the stage does not compute";
      }
      needed +=
          tokens * rowsOf(value).axis.vectors() * streams(crossingType(result));
      any = true;
    }
  }
  if (any && needed > machine.link.bufferVectors) {
    return emitError(yield->getLoc())
           << "what a stage passes on needs " << needed
           << " vectors at once, the buffer of a link of " << machine.name
           << " has " << machine.link.bufferVectors;
  }
  return success();
}

void FlowBuilder::sendToStage(Rows &rows, flow::StreamType type,
                              Location location) {
  auto send = [&](Value from, flow::AccessAttr read) {
    b.create<flow::LinkSendOp>(
        location, from, b.getDenseI32ArrayAttr({group.pipelineLink()}), read);
  };
  int64_t vectors = rows.axis.vectors();
  if (type == flow::StreamType::F32) {
    return send(rows.f32, plain(tokens * vectors));
  }
  Value from = carried(rows, type, location);
  for (const AxisLayout::Run &run : rows.axis.runs()) {
    send(from, access(b.getContext(), {tokens, run.count}, {vectors, 1},
                      uint32_t(run.first)));
  }
}

} // namespace orrery
