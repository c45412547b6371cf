// Checks of a whole program: values before they are read, places apart.
#include "dialects/flow/FlowAccesses.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace orrery::flow {

LogicalResult ProgramOp::verify() {
  if (getGroupLinks().value_or(1) < 1) {
    return emitOpError("(C1) needs at least 1 link in the group, found ")
           << *getGroupLinks();
  }
  if (getTokens() < 1 || getBucket() < getTokens() ||
      getContext() < getBucket()) {
    return emitOpError("(C1) needs 1 <= tokens <= bucket <= context, found ")
           << getTokens() << ", " << getBucket() << ", " << getContext();
  }
  return success();
}

namespace {

/// Which lanes of which vectors of the temporaries are written so far.
class WrittenLanes {
public:
  LogicalResult visit(mlir::Operation *op);

private:
  struct Lanes {
    uint32_t low, high;
  };
  using Vector = SmallVector<Lanes, 2>;

  LogicalResult write(mlir::Operation *op, const MemoryUse &use);
  LogicalResult read(mlir::Operation *op, const MemoryUse &use);
  static bool isTemporary(Value memory) {
    return memory.getDefiningOp<AllocOp>() != nullptr;
  }
  // visit(vector) for each that the use touches; stops at a failure.
  template <class Visit>
  LogicalResult forEach(const MemoryUse &use, Visit visit);

  llvm::DenseMap<Value, std::vector<Vector>> written;
};

} // namespace

template <class Visit>
LogicalResult WrittenLanes::forEach(const MemoryUse &use, Visit visit) {
  uint64_t have = cast<BufferType>(use.memory.getType()).getVectors();
  auto &vectors = written[use.memory];
  vectors.resize(size_t(have));
  AddressPattern pattern;
  if (use.access) {
    pattern = addressPattern(use.access, 0);
  } else {
    pattern.extent[0] = uint32_t(have);
    pattern.step[0] = 1;
  }
  for (uint64_t n = 0; n < pattern.count(); ++n) {
    auto vector = size_t(pattern.at(n));
    if (failed(visit(vector, vectors[vector]))) {
      return failure();
    }
  }
  return success();
}

LogicalResult WrittenLanes::write(mlir::Operation *op, const MemoryUse &use) {
  Lanes lanes{0, ~0u};
  if (use.access && use.access.getMask() == Mask::Range) {
    lanes = {use.access.getLow(), use.access.getHigh()};
  }
  return forEach(use, [&](size_t number, Vector &vector) -> LogicalResult {
    for (const Lanes &other : vector) {
      if (other.low < lanes.high && lanes.low < other.high) {
        return op->emitError("(C3) writes lanes of vector ")
               << number << " of a temporary a second time";
      }
    }
    vector.push_back(lanes);
    return success();
  });
}

LogicalResult WrittenLanes::read(mlir::Operation *op, const MemoryUse &use) {
  return forEach(use, [&](size_t number, Vector &vector) -> LogicalResult {
    if (vector.empty()) {
      auto error = op->emitError("(C3) reads vector ")
                   << number << " of a temporary that no earlier op wrote";
      error.attachNote(use.memory.getLoc()) << "the temporary";
      return error;
    }
    return success();
  });
}

// Reads first: an op's own results are not its operands.
LogicalResult WrittenLanes::visit(mlir::Operation *op) {
  auto uses = memoryUses(op);
  for (bool writes : {false, true}) {
    for (const MemoryUse &use : uses) {
      if (use.writes == writes && isTemporary(use.memory) &&
          failed(writes ? write(op, use) : read(op, use))) {
        return failure();
      }
    }
  }
  return success();
}

namespace {
/// Addresses [base, end) held from the op numbered `born` to `dies`.
struct Block {
  mlir::Operation *op;
  uint32_t base, end;
  uint32_t born, dies;
};
} // namespace

static PlaceAttr placeOf(mlir::Operation &op) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    return alloc.getPlaceAttr();
  }
  auto region = dyn_cast<RegionOp>(op);
  return region ? region.getPlaceAttr() : PlaceAttr();
}

static LogicalResult verifyApart(std::vector<Block> &column, uint32_t slice,
                                 uint32_t bank) {
  llvm::sort(column, [](const Block &a, const Block &b) {
    return std::pair(a.base, a.born) < std::pair(b.base, b.born);
  });
  std::vector<const Block *> open;
  for (const Block &block : column) {
    std::erase_if(open, [&](const Block *o) { return o->end <= block.base; });
    for (const Block *other : open) {
      if (other->born <= block.dies && block.born <= other->dies) {
        auto error = block.op->emitError("(C4) shares address ")
                     << block.base << " of slice " << slice << " bank " << bank
                     << " with another that is live";
        error.attachNote(other->op->getLoc()) << "the other";
        return error;
      }
    }
    open.push_back(&block);
  }
  return success();
}

// Lifetimes in ops, then per slice and bank whoever shares an address.
static LogicalResult verifyPlaces(mlir::Block &body) {
  llvm::DenseMap<Value, std::pair<uint32_t, uint32_t>> named;
  uint32_t number = 0;
  for (mlir::Operation &op : body) {
    for (Value operand : op.getOperands()) {
      auto [entry, isNew] = named.try_emplace(operand, number, number);
      entry->second.second = number;
    }
    ++number;
  }
  llvm::MapVector<std::pair<uint32_t, uint32_t>, std::vector<Block>> columns;
  for (mlir::Operation &op : body) {
    PlaceAttr place = placeOf(op);
    if (!place) {
      continue;
    }
    Extent extent = extentOf(op.getResult(0).getType());
    auto life = std::pair(0u, ~0u);
    if (isa<AllocOp>(op)) {
      auto found = named.find(op.getResult(0));
      if (found == named.end()) {
        continue; // never touched
      }
      life = found->second;
    }
    for (uint32_t k = 0; k < extent.slices; ++k) {
      columns[{place.getSlice() + k, place.getBank()}].push_back(
          {&op, place.getBase(), place.getBase() + extent.addresses, life.first,
           life.second});
    }
  }
  for (auto &[where, column] : columns) {
    if (failed(verifyApart(column, where.first, where.second))) {
      return failure();
    }
  }
  return success();
}

LogicalResult ProgramOp::verifyRegions() {
  WrittenLanes lanes;
  for (mlir::Operation &op : getBody().front()) {
    if (!isa<FlowDialect>(op.getDialect()) || isa<ProgramOp>(op)) {
      return op.emitError("(C2) is no op of a flow.program's body");
    }
    if (failed(lanes.visit(&op))) {
      return failure();
    }
  }
  return verifyPlaces(getBody().front());
}

} // namespace orrery::flow
