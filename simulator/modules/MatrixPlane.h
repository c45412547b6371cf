// Stands for one plane of the matrix unit: load port, install port, two weight
// buffers, activation buffer and array. Leaves out the stagger of rows and
// columns inside the array (it is part of the `matmul` latency). Wakes at each
// load, install and matmul, at each tile of an install and each pass.
#pragma once

#include "simulator/function/MatmulValues.h"
#include "simulator/modules/InstructionQueue.h"
#include "simulator/modules/Step.h"
#include "simulator/timing/ActivationBuffer.h"
#include "simulator/timing/UnitQueue.h"
#include "simulator/timing/WeightBuffers.h"

#include <deque>
#include <vector>

namespace orrery::sim {

class MatrixPlane : public sc_core::sc_module {
public:
  MatrixPlane(sc_core::sc_module_name name, ChipClock &clock, Step &step,
              int32_t plane);

  void addLoad(uint32_t number) { loads.add(number, tickOf(number)); }
  void addInstall(uint32_t number) { installs.add(number, tickOf(number)); }
  void addMatmul(uint32_t number) { matmuls.add(number, tickOf(number)); }
  /// The planes of the hemisphere, this one among them: f16 takes them all.
  void setPair(std::vector<MatrixPlane *> planes) { pair = std::move(planes); }

  /// After the last cycle: a tile that no pass used breaks the next step.
  void checkAllUsed() const;

private:
  /// A pass under way or still to be computed.
  struct Pass {
    TileSource source;
    uint32_t index; ///< n * inner + k
    Tick tick;
    uint32_t rowsDone = 0;
  };
  /// The matmul that has the array.
  struct Job {
    uint32_t number = 0;
    const MatmulOp *op = nullptr;
    Tick tick = 0;
    uint32_t ticksPerRow = 1;
    uint32_t nextPass = 0;
    std::shared_ptr<MatmulValues> values;
    std::vector<Pass> passes;
    std::vector<EntryLoad>
        entries; ///< [inner][rows] what the first N tile used

    uint32_t passCount() const { return op->tiles * op->inner; }
    Tick passTick(uint32_t index) const {
      return tick + Tick(index) * op->period;
    }
    Tick lastRow(Tick pass) const {
      return pass + Tick(op->rows - 1) * ticksPerRow;
    }
  };

  Tick tickOf(uint32_t number) const { return step.instruction(number).tick; }
  /// The planes an instruction of this format takes.
  const std::vector<MatrixPlane *> &planesFor(WeightFormat format,
                                              Tick due) const;
  Direction away() const {
    return outward(step.geometry.hemisphereOfPlane(plane));
  }
  void checkColumns(uint32_t low, uint32_t high, Tick due) const;

  void issueLoad(uint32_t number, Tick now);
  void issueInstall(uint32_t number, Tick now);
  void checkInstall(const InstallOp &op, Tick now) const;
  void beginTile(uint32_t number, Tick now);
  void issueMatmul(uint32_t number, Tick now);
  void checkMatmul(const MatmulOp &op, Tick now) const;
  void startPass(Tick now);
  void matmulMoment(Tick now);
  /// Computes rows of passes until output vector `vector` is there.
  void computeThrough(uint64_t vector);
  void computeRows(Pass &pass, uint32_t endRow);
  /// Checks the entry that row m of a pass uses; its values go to `rows`.
  void useEntry(const Pass &pass, uint32_t m,
                std::vector<MatmulValues::Entry> &rows);
  void finishPasses();

  Step &step;
  int32_t plane;
  Position position;
  std::vector<MatrixPlane *> pair, self;
  UnitQueue loadQueue, installQueue, array;
  WeightBuffers weights;
  ActivationBuffer activations;

  uint32_t installing = 0, nextRun = 0; ///< install under way, its next tile
  std::shared_ptr<const Operands> installOperands;
  std::deque<TileSource> sources; ///< of the tiles in `weights`
  uint32_t loadCount = 0;
  std::vector<Operands> loaded; ///< by load, in their order
  Job job;
  std::vector<MatmulValues::Entry> spareRows; ///< storage for computeRows

  InstructionQueue loads, installs, matmuls;
};

} // namespace orrery::sim
