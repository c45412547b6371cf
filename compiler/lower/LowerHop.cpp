// What a stage gets from the one before and passes on to the next.
#include "compiler/lower/Crossing.h"
#include "compiler/lower/FlowBuilder.h"

using namespace mlir;

namespace orrery {

void FlowBuilder::receiveRows(ValueRange to, ArrayRef<Attribute> writes,
                              int32_t cable, Location location) {
  b.create<flow::LinkReceiveOp>(location, to,
                                b.getI32IntegerAttr(group.pipelineLink(cable)),
                                b.getI32IntegerAttr(0), b.getI32IntegerAttr(0),
                                b.getI32IntegerAttr(0), b.getArrayAttr(writes));
}

// One a cable at most, as alike as whole tokens, or whole parts of a token's
// row, can be. Piece n goes over cable n.
SmallVector<LinkPiece> FlowBuilder::hopPieces(int64_t tokens,
                                              int64_t vectors) const {
  int64_t rows = std::min<int64_t>(tokens, group.cables);
  int64_t parts = std::clamp<int64_t>(group.cables / tokens, 1, vectors);
  SmallVector<LinkPiece> out;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t token = r * tokens / rows, end = (r + 1) * tokens / rows;
    for (int64_t p = 0; p < parts; ++p) {
      int64_t first = p * vectors / parts, behind = (p + 1) * vectors / parts;
      out.push_back({token, end - token, first, behind - first});
    }
  }
  return out;
}

void FlowBuilder::receive(ValueRange results, Location location) {
  for (Value value : results) {
    auto width = cast<RankedTensorType>(value.getType()).getDimSize(1);
    Rows rows{.axis = AxisLayout::dense(int32_t(width), layout.lanes)};
    flow::StreamType type = crossingType(value);
    if (type == flow::StreamType::F32) {
      int64_t vectors = tokens * rows.axis.vectors();
      rows.f32 = alloc(vectors, type);
      for (auto [n, p] : llvm::enumerate(hopPieces(1, vectors))) {
        receiveRows(rows.f32, {part(p.vector, p.vectors)}, int32_t(n),
                    location);
      }
    } else {
      receiveQuantized(rows, value, type, location);
    }
    define(value, rows);
  }
}

// Straight to where it is needed: to matrix units, as a chip's own; to be sent
// on, to other ranks or by a relay; and to its place among what ranks send.
// Nothing else reads it, and what is quantized cannot be copied through the
// VXM.
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
  if (usedBy<grid::YieldOp>(value)) {
    whole.push_back(rows.crossing = alloc(tokens * vectors, type, kLinkSide));
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
  int32_t cable = 0;
  for (auto [number, run] : llvm::enumerate(rows.axis.runs())) {
    for (const LinkPiece &p : hopPieces(tokens, run.count)) {
      SmallVector<Value> to(whole);
      SmallVector<Attribute> writes(
          whole.size(),
          access(context, {p.tokens, p.vectors}, {vectors, 1},
                 uint32_t(p.token * vectors + run.first + p.vector)));
      for (Value buffer : gathered) {
        const AxisLayout::Run &place = places[number];
        to.push_back(buffer);
        auto write =
            access(context, {p.tokens, p.vectors}, {all.vectors(), place.step},
                   uint32_t(p.token * all.vectors() + place.base +
                            p.vector * place.step));
        writes.push_back(inPlace(write, place, 0, all));
      }
      receiveRows(to, writes, cable++, location);
    }
  }
}

// Cosines and sines may still be on their way.
LogicalResult FlowBuilder::verifyLinkRoom(grid::StageOp stage) {
  std::vector<int64_t> places(size_t(group.cables)); ///< taken, by cable
  auto carry = [&](int32_t cable, int64_t vectors, flow::StreamType type) {
    places[size_t(cable % group.cables)] += vectors * streams(type);
  };
  carry(0, tokens, flow::StreamType::F32);
  carry(1, tokens, flow::StreamType::F32);
  bool any = false;
  auto *yield = stage.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(stage.getResults(), yield->getOperands())) {
    if (!isPassedOn(result)) {
      continue;
    }
    if (!values.contains(value)) {
      return emitError(yield->getLoc())
             << "passes on a value that the stage does not compute";
    }
    any = true;
    flow::StreamType type = crossingType(result);
    const AxisLayout &axis = rowsOf(value).axis;
    int32_t cable = 0;
    auto carryAll = [&](ArrayRef<LinkPiece> pieces) {
      for (const LinkPiece &p : pieces) {
        carry(cable++, p.tokens * p.vectors, type);
      }
    };
    if (type == flow::StreamType::F32) {
      carryAll(hopPieces(1, tokens * axis.vectors()));
      continue;
    }
    for (const AxisLayout::Run &run : axis.runs()) {
      carryAll(hopPieces(tokens, run.count));
    }
  }
  int64_t most = *llvm::max_element(places);
  if (any && most > machine.link.bufferVectors) {
    return emitError(yield->getLoc())
           << "what a stage passes on needs " << most
           << " vectors at once, the buffer of a link of " << machine.name
           << " has " << machine.link.bufferVectors;
  }
  return success();
}

void FlowBuilder::sendToStage(Rows &rows, flow::StreamType type,
                              Location location) {
  int32_t cable = 0;
  auto send = [&](Value from, flow::AccessAttr read) {
    b.create<flow::LinkSendOp>(
        location, from, b.getDenseI32ArrayAttr({group.pipelineLink(cable++)}),
        read);
  };
  int64_t vectors = rows.axis.vectors();
  if (type == flow::StreamType::F32) {
    for (const LinkPiece &p : hopPieces(1, tokens * vectors)) {
      send(rows.f32, part(p.vector, p.vectors));
    }
    return;
  }
  Value from = carried(rows, type, location);
  for (const AxisLayout::Run &run : rows.axis.runs()) {
    for (const LinkPiece &p : hopPieces(tokens, run.count)) {
      send(from, access(b.getContext(), {p.tokens, p.vectors}, {vectors, 1},
                        uint32_t(p.token * vectors + run.first + p.vector)));
    }
  }
}

} // namespace orrery
