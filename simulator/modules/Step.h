// What the units of a chip share during one step: the program, the rules, the
// values and the books. No SystemC here.
#pragma once

#include "simulator/Simulator.h"
#include "simulator/function/SramValues.h"
#include "simulator/function/TileCache.h"
#include "simulator/report/Trace.h"
#include "simulator/timing/InstructionBuffers.h"
#include "simulator/timing/RegionMap.h"
#include "simulator/timing/SlicePorts.h"
#include "simulator/timing/StreamFabric.h"
#include "simulator/timing/WriteHistory.h"

#include <span>

namespace orrery::sim {

/// A broken rule with everything the user needs to find it, one line.
struct Violation {
  std::string message;
};

/// What outlives a step.
struct Memory {
  explicit Memory(const Machine &machine)
      : history(machine), tiles(machine.lanes) {}
  std::unique_ptr<SramImage> image; ///< null: timing only
  WriteHistory history;
  TileCache tiles;
  BufferPool buffers;
};

/// What one chip is to do in a step.
struct StepTask {
  const Machine &machine;
  const Program &program;
  uint32_t position, validTokens;
  /// [T * inputVectors][lanes] f32; not looked at in a timing-only run.
  std::span<const float> hostVectors;
  Memory &memory;
  Tick start = 0;        ///< of the chip's tick 0, on the system's clock
  std::string name = {}; ///< of the chip, in errors; empty: there is but one
  uint32_t chip = 0;     ///< its number in the system
  Trace *trace = nullptr;
};

class Step {
public:
  Step(const StepTask &task, StepResult &result);

  const Machine &machine;
  const Program &program;
  const std::span<const float> hostVectors;
  const Tick start;
  const std::string name;
  const Geometry geometry;
  const StepRegisters registers;
  const bool functional;
  const UnitIndex units;
  Memory &memory;
  StepResult &result;
  StreamFabric fabric;
  SlicePorts ports;
  RegionMap regions;
  InstructionBuffers buffers;
  SramValues *sram = nullptr; ///< null: timing only

  const Instruction &instruction(uint32_t number) const {
    return program.instructions[number];
  }
  template <class Op> const Op &op(uint32_t number) const {
    return *std::get_if<Op>(&program.instructions[number].operation);
  }

  /// Puts a burst on the streams from one position.
  BurstSlot drive(uint32_t number, const StreamOut &out, uint32_t streams,
                  Position from, Tick first, const BurstShape &shape, Tick now);
  /// Puts a wide read on the streams.
  BurstSlot driveRead(const MemAccess &access, const StreamOut &out, Tick now);
  void setValues(BurstSlot slot, std::shared_ptr<BurstValues> values);

  /// Takes `streams` streams at a position; appends to `operands` in a
  /// functional run.
  void take(const StreamRef &ref, uint32_t streams, Position position,
            const BurstTicks &ticks, Operands &operands);
  /// Takes what each slice of a write takes.
  void takeWrite(const MemAccess &access, const StreamRef &ref,
                 Operands &operands);

  /// Books an instruction's use of a queue: vectors in [first, last], `busy`
  /// ticks of work.
  void book(size_t unit, uint32_t number, uint64_t vectors, Tick first,
            Tick last, uint64_t busy);
  /// The unit issued the instruction in cycle `executed`; its last effect is
  /// there at `completed`, and the step does not end before `end`.
  void done(uint32_t number, Tick executed, Tick completed, Tick end);
  Tick end() const { return endTick; }
  /// Moves the books of fabric and memory into the result.
  void finish();

  /// Runs f; a rule it breaks becomes a Violation naming instruction `number`.
  template <class F> void checked(uint32_t number, F f) {
    try {
      f();
    } catch (const Illegal &illegal) {
      fail(number, illegal.due, illegal.found);
    } catch (const BadValue &bad) {
      fail(bad.instruction, bad.due, bad.found);
    }
  }
  [[noreturn]] void fail(uint32_t number, Tick due,
                         const std::string &found) const {
    failOn(name, number, due, found);
  }
  /// The same for chip `chip`, which runs the same program.
  [[noreturn]] void failOn(const std::string &chip, uint32_t number, Tick due,
                           const std::string &found) const;

private:
  void take(Direction direction, uint32_t stream, Position position,
            const BurstTicks &ticks, Operands &operands);
  std::string unitName(uint32_t number) const;

  std::unique_ptr<SramValues> sramValues;
  std::vector<std::shared_ptr<BurstValues>> values; ///< by slot
  std::vector<Position> positions;                  ///< workspace
  uint32_t chip;
  Trace *trace;
  Tick endTick = 0;
};

} // namespace orrery::sim
