// flow.program -> the same with places: the pass around Allocator.
//
// Method: what lasts (weights, tables, KV) is placed first and in op order, so
// that every program of a set gets the same map; temporaries follow by first
// fit over their lifetimes. Cost: about linear in ops times blocks a slice.
#include "compiler/Passes.h"

#include "compiler/allocate/SpreadSpill.h"
#include "machine/Timing.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace orrery {

#define GEN_PASS_DEF_ALLOCATE
#include "compiler/Passes.h.inc"

namespace {

using allocate::Request;
using allocate::Use;

// What an op reads and writes, in SRAM.
SmallVector<std::pair<Value, Use>> usesOf(mlir::Operation &op) {
  SmallVector<std::pair<Value, Use>> out;
  auto add = [&](ValueRange values, Use use) {
    for (Value v : values) {
      if (!isa<flow::LoadedType>(v.getType())) {
        out.push_back({v, use});
      }
    }
  };
  if (auto o = dyn_cast<flow::VectorOp>(op)) {
    add(o.getInputs(), Use::Read);
    add(o.getOuts(), Use::Write);
  } else if (auto o = dyn_cast<flow::MatmulOp>(op)) {
    add(o.getWeights(), Use::Read);
    add(o.getOut(), Use::Write);
  } else if (auto o = dyn_cast<flow::PermuteOp>(op)) {
    add(o.getInput(), Use::Read);
    add(o.getOuts(), Use::Write);
  } else if (auto o = dyn_cast<flow::TransposeOp>(op)) {
    add(o.getInput(), Use::Read);
    add(o.getOut(), Use::Write);
  } else if (auto o = dyn_cast<flow::LinkReceiveOp>(op)) {
    add(o.getOuts(), Use::Write);
  } else if (auto o = dyn_cast<flow::ReceiveOp>(op)) {
    add(o.getOut(), Use::Write);
  } else if (!isa<flow::AllocOp, flow::RegionOp>(op)) {
    add(op.getOperands(), Use::Read);
  }
  return out;
}

// Programs of a set differ in T, and what comes after must not move.
constexpr uint32_t kHeldLength = 32;

struct AllocatePass : impl::AllocateBase<AllocatePass> {
  using AllocateBase::AllocateBase;

  void runOnOperation() override {
    flow::ProgramOp program = getOperation();
    Expected<Machine> machine = loadMachine(program.getMachine().str());
    if (!machine) {
      program.emitError(machine.error().message);
      return signalPassFailure();
    }
    ChipLayout layout(*machine);
    spillWidth = uint32_t(layout.kvWidth);
    narrowWidth = 0;
    for (uint32_t w = 1; w < spillWidth && w + 4 <= uint32_t(layout.dataSlices);
         ++w) {
      narrowWidth = layout.lanes % int32_t(w) == 0 ? w : narrowWidth;
    }
    collect(program, uint32_t(layout.planesPerHemisphere));
    bool spread = allocate::spreadSpill(*machine, layout, requests);
    std::optional<allocate::Allocator> allocator;
    auto failed = allocator.emplace(*machine, layout).place(requests);
    // Denser: what finds no other place spills. Only where it is lasting memory
    // that lacks room, so that programs of a set agree.
    if (failed && spread && requests[*failed].dies == allocate::kForever) {
      for (Request &request : requests) {
        request.spills = false;
      }
      failed = allocator.emplace(*machine, layout).place(requests);
    }
    if (failed) {
      program->setAttr(kLacksRoomAttr, UnitAttr::get(&getContext()));
      report(program, *machine, layout, *failed,
             allocator->nearest(requests[*failed]));
      return signalPassFailure();
    }
    for (auto [index, place] : llvm::enumerate(allocator->places)) {
      auto attr = flow::PlaceAttr::get(&getContext(), place.slice, place.bank,
                                       place.base);
      values[index].getDefiningOp()->setAttr("place", attr);
      if (place.width != requests[index].width) {
        auto tiles = cast<flow::TilesType>(values[index].getType());
        values[index].setType(flow::TilesType::get(
            &getContext(), tiles.getTiles(), tiles.getFormat(), tiles.getRows(),
            place.width));
      }
    }
  }

private:
  // Lasting memory first, then temporaries but for those held, each in op
  // order.
  void collect(flow::ProgramOp program, uint32_t planes) {
    requests.clear();
    values.clear();
    number.clear();
    Block &body = program.getBody().front();
    // Weights before KV: they may spill into the data slices. What is held
    // before KV too: caches in all banks would leave it none beside them.
    auto regions = [&](bool weights) {
      for (flow::RegionOp op : body.getOps<flow::RegionOp>()) {
        if ((op.getKind() == flow::Kind::Weight) == weights) {
          add(op.getMemory(), op.getName(), op.getSide(), weights, true);
        }
      }
    };
    auto temporaries = [&](bool held) {
      for (flow::AllocOp op : body.getOps<flow::AllocOp>()) {
        if (op.getHeld() == held) {
          add(op.getBuffer(), "temporary", op.getSide(), false, false);
          uint32_t &length = requests.back().length;
          length = held ? std::max(length, kHeldLength) : length;
        }
      }
    };
    regions(true);
    temporaries(true);
    regions(false);
    temporaries(false);
    uint32_t index = 0;
    for (mlir::Operation &op : body) {
      link(op, index++);
    }
    takeTurns(body, planes);
  }

  void add(Value value, StringRef name, int32_t side, bool weights,
           bool lasting) {
    Request r;
    r.name = name.str();
    r.side = side;
    r.weights = weights;
    r.born = lasting ? 0 : allocate::kForever;
    r.dies = lasting ? allocate::kForever : 0;
    if (auto buffer = dyn_cast<flow::BufferType>(value.getType())) {
      r.width = uint32_t(streamsOf(flow::machineType(buffer.getType())));
      r.length = buffer.getVectors();
    } else {
      auto tiles = cast<flow::TilesType>(value.getType());
      r.width = tiles.getWidth();
      r.length =
          tiles.getTiles() * tileCycles(flow::machineFormat(tiles.getFormat()),
                                        tiles.getRows(), tiles.getWidth());
      if (weights) {
        auto length = [&](uint32_t width) {
          return width == 0
                     ? 0
                     : tiles.getTiles() *
                           tileCycles(flow::machineFormat(tiles.getFormat()),
                                      tiles.getRows(), width);
        };
        r.spillWidth = spillWidth;
        r.spillLength = length(spillWidth);
        r.narrowWidth = narrowWidth;
        r.narrowLength = length(narrowWidth);
      }
    }
    number[value] = uint32_t(requests.size());
    requests.push_back(std::move(r));
    values.push_back(value);
  }

  // Each plane of a side has groups of its own, one after another.
  void takeTurns(Block &body, uint32_t planes) {
    std::map<uint32_t, uint32_t> regions; // by plane
    for (auto op : body.getOps<flow::MatmulOp>()) {
      auto region = op.getWeights().getDefiningOp<flow::RegionOp>();
      if (region && region.getKind() == flow::Kind::Weight) {
        auto plane = uint32_t(op.getPlane());
        requests[number[op.getWeights()]].turn =
            plane % planes + planes * regions[plane]++;
      }
    }
  }

  // Lifetimes, and who must not share a port with whom.
  void link(mlir::Operation &op, uint32_t index) {
    auto uses = usesOf(op);
    for (auto [value, use] : uses) {
      Request &r = requests[number[value]];
      if (r.dies != allocate::kForever || r.born == allocate::kForever) {
        r.born = std::min(r.born, index);
        r.dies = std::max(r.dies, index);
      }
      for (auto [other, theirs] : uses) {
        if (other != value) {
          r.neighbours.push_back({number[other], theirs, use});
        }
      }
    }
  }

  // By bytes there may well be room: a region needs it in one place.
  static std::string
  nearestText(const std::optional<allocate::Allocator::Nearest> &nearest) {
    if (!nearest) {
      return "each place is too narrow, or on ports in use at the same time";
    }
    const auto &c = nearest->candidate;
    return "the place that lacks least has " + std::to_string(nearest->free) +
           " of " + std::to_string(c.length) + " vectors free in " +
           std::to_string(c.width) + " slices";
  }

  void report(flow::ProgramOp program, const Machine &machine,
              const ChipLayout &layout, uint32_t which,
              const std::optional<allocate::Allocator::Nearest> &nearest) {
    const Request &r = requests[which];
    int64_t weights = 0, lasting = 0, temporary = 0;
    for (const Request &q : requests) {
      int64_t bytes = int64_t(q.width) * q.length * machine.lanes;
      (q.weights                      ? weights
       : q.dies == allocate::kForever ? lasting
                                      : temporary) += bytes;
    }
    int64_t forWeights = 2 * int64_t(layout.groups) * layout.groupWidth *
                         machine.sram.banks * machine.bankBytes();
    int64_t forData = 2 * int64_t(layout.dataSlices) * machine.sram.banks *
                      machine.bankBytes();
    auto location = values[which].getDefiningOp()->getLoc();
    emitError(location) << "no room on " << machine.name << " for " << r.name
                        << " (" << int64_t(r.width) * r.length * machine.lanes
                        << " B: " << r.length << " of the "
                        << machine.sram.vectorsPerBank
                        << " vectors of a bank in each of " << r.width
                        << " slices): weights need " << weights << " B of "
                        << forWeights
                        << " B in the weight slices, tables and KV cache "
                        << lasting << " B and temporaries " << temporary
                        << " B in all of " << forData
                        << " B in the data slices, at a context of "
                        << program.getContext() << " positions and "
                        << program.getTokens() << " tokens a step; "
                        << nearestText(nearest);
  }

  uint32_t spillWidth = 0, narrowWidth = 0;
  std::vector<Request> requests;
  SmallVector<Value> values;
  llvm::DenseMap<Value, uint32_t> number;
};

} // namespace
} // namespace orrery
