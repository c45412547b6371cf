// flow -> tick: the pass around problem, algorithm and verifier.
//
// Input: a placed flow.program. Output: a tick.program in its stead, with
// lifetimes, instructions by tick and the predicted end.
#include "compiler/Passes.h"

#include "compiler/schedule/ListSchedule.h"
#include "compiler/schedule/Outcome.h"
#include "compiler/schedule/ReadFlow.h"
#include "compiler/schedule/ScheduleFetch.h"
#include "compiler/schedule/Verify.h"
#include "compiler/schedule/VerifyFetch.h"
#include "dialects/tick/TickBuilders.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace orrery {

#define GEN_PASS_DEF_SCHEDULETICKS
#include "compiler/Passes.h.inc"

namespace {

using namespace schedule;

struct ScheduleTicksPass : impl::ScheduleTicksBase<ScheduleTicksPass> {
  using ScheduleTicksBase::ScheduleTicksBase;

  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<flow::ProgramOp>());
    for (auto [index, program] : llvm::enumerate(programs)) {
      // The first is "step", those of further kinds of stages have numbers.
      suffix = index == 0 ? "" : "." + std::to_string(index);
      if (failed(scheduleProgram(program))) {
        return signalPassFailure();
      }
    }
  }

private:
  // Collect, solve, verify, rewrite.
  LogicalResult scheduleProgram(flow::ProgramOp op) {
    Expected<Machine> machine = loadMachine(op.getMachine().str());
    if (!machine) {
      return op.emitError(machine.error().message);
    }
    FailureOr<FlowProblem> flow = readFlow(op, *machine);
    if (failed(flow)) {
      return failure();
    }
    Expected<Schedule> solution = listSchedule(flow->problem);
    if (!solution) {
      return op.emitError("no schedule: ") << solution.error().message;
    }
    if (Status ok = verify(flow->problem, *solution); !ok) {
      return op.emitError("schedule does not verify: ") << ok.error().message;
    }
    setLifetimes(flow->problem, *solution, flow->regions);
    return rewrite(op, *machine, *flow, *solution);
  }

  LogicalResult rewrite(flow::ProgramOp op, const Machine &machine,
                        FlowProblem &flow, const Schedule &solution) {
    Program program;
    program.machineJson = formatMachine(machine);
    program.modelName = op.getModel().str();
    program.modelHash = op.getModelHash().value_or(0);
    program.tokens = uint32_t(op.getTokens());
    program.bucket = uint32_t(op.getBucket());
    program.context = uint32_t(op.getContext());
    program.inputVectors = flow.inputVectors;
    program.logits = flow.logits;
    program.regions = std::move(flow.regions);
    program.laneMaps = std::move(flow.laneMaps);
    program.vectorPrograms = flow.problem.vectorPrograms;
    program.instructions = inOrder(flow.problem, solution);
    program.predictedTicks =
        endTick(machine, program.vectorPrograms, program.instructions);
    Expected<Schedule> unlimited =
        listSchedule(flow.problem, {.unlimited = true});
    if (!unlimited) {
      return op.emitError(unlimited.error().message);
    }
    LowerBounds bounds =
        lowerBounds(flow.problem, criticalEnd(machine, flow, *unlimited));
    if (failed(fetchText(op, machine, flow, program))) {
      return failure();
    }
    emit(op, program, flow, bounds);
    return success();
  }

  // Text and its fetches: after all else, which they leave where it is.
  LogicalResult fetchText(flow::ProgramOp op, const Machine &machine,
                          const FlowProblem &flow, Program &program) {
    for (Location location : flow.locations) { // for errors
      program.locations.push_back(tick::textOf(location));
    }
    bool lacksRoom = false;
    auto text = scheduleFetch(
        program, machine, int64_t(op.getTextBase().value_or(0)), &lacksRoom);
    if (lacksRoom) {
      op->setAttr(kLacksRoomAttr, UnitAttr::get(&getContext()));
    }
    if (!text) {
      return op.emitError(text.error().message);
    }
    if (Status ok = verifyFetch(program, machine); !ok) {
      return op.emitError("fetches do not verify: ") << ok.error().message;
    }
    return success();
  }

  // End of the schedule that waits for operands alone.
  static Tick criticalEnd(const Machine &machine, const FlowProblem &flow,
                          const Schedule &unlimited) {
    return endTick(machine, flow.problem.vectorPrograms,
                   inOrder(flow.problem, unlimited));
  }

  // By tick; those of one tick in gang order.
  static std::vector<Instruction> inOrder(const Problem &problem,
                                          const Schedule &solution) {
    std::vector<Instruction> all;
    for (uint32_t gang = 0; gang < problem.gangs.size(); ++gang) {
      for (Instruction &i : instructionsOf(problem, solution, gang)) {
        all.push_back(std::move(i));
      }
    }
    std::vector<uint32_t> order(all.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(all[a].tick, a) < std::pair(all[b].tick, b);
    });
    std::vector<Instruction> sorted;
    for (uint32_t k : order) {
      sorted.push_back(std::move(all[k]));
    }
    return sorted;
  }

  void emit(flow::ProgramOp op, const Program &program, const FlowProblem &flow,
            const LowerBounds &bounds) {
    OpBuilder b(op);
    tick::ProgramOp ticks = tick::createProgram(b, op.getLoc(), program);
    ticks.setSymName((ticks.getSymName() + suffix).str());
    ticks->setAttr(kCriticalPathAttr, b.getI64IntegerAttr(bounds.criticalPath));
    ticks->setAttr(kBusiestAttr, b.getI64IntegerAttr(bounds.busiest));
    ticks->setAttr(kBusiestResourceAttr,
                   b.getStringAttr(bounds.busiestResource));
    b.setInsertionPointToEnd(&ticks.getBodyRegion().front());
    for (const Instruction &i : program.instructions) {
      tick::createInstruction(b, flow.locations[i.location], i.tick,
                              i.operation);
    }
    op.erase();
  }

  std::string suffix;
};

} // namespace
} // namespace orrery
