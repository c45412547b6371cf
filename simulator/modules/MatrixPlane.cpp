#include "simulator/modules/MatrixPlane.h"

#include "machine/Timing.h"

namespace orrery::sim {

MatrixPlane::MatrixPlane(sc_core::sc_module_name name, ChipClock &clock,
                         Step &step, int32_t plane)
    : sc_module(name), step(step), plane(plane),
      position(step.geometry.ofPlane(plane)), self{this},
      activations(step.machine.matrix.activationVectors,
                  step.machine.timing.load),
      loads(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issueLoad(number, now); });
          },
          nullptr),
      installs(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issueInstall(number, now); });
          },
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { beginTile(number, now); });
          }),
      matmuls(
          clock, step,
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { issueMatmul(number, now); });
          },
          [this](uint32_t number, Tick now) {
            this->step.checked(number, [&] { matmulMoment(now); });
          }) {}

const std::vector<MatrixPlane *> &MatrixPlane::planesFor(WeightFormat format,
                                                         Tick due) const {
  if (format != WeightFormat::F16) {
    return self;
  }
  if (pair.front() != this) {
    throw Illegal(due, "f16 on a plane that is not the first of its pair");
  }
  return pair;
}

void MatrixPlane::checkColumns(uint32_t low, uint32_t high, Tick due) const {
  if (low >= high || high > uint32_t(step.machine.lanes)) {
    throw Illegal(due, "columns [" + std::to_string(low) + ", " +
                           std::to_string(high) + ") of " +
                           std::to_string(step.machine.lanes));
  }
}

void MatrixPlane::checkAllUsed() const {
  if (weights.unused() > 0 && weights.next().plane == plane) {
    const Tile &tile = weights.next();
    step.fail(tile.instruction, tile.start,
              "run " + std::to_string(tile.run) +
                  ": no pass has used this tile when the step ends");
  }
}

//===-- Load --------------------------------------------------------------===//

void MatrixPlane::issueLoad(uint32_t number, Tick now) {
  const auto &op = step.op<LoadOp>(number);
  BurstTicks ticks = ticksOf(now, op.shape);
  uint64_t count = ticks.count();
  if (op.base + count > activations.entries()) {
    throw Illegal(now, ActivationBuffer::name(op.base + uint32_t(count) - 1) +
                           " of " + std::to_string(activations.entries()));
  }
  loadQueue.book(ticks.first, ticks.last(), number, now);
  Operands operands;
  step.take({away(), op.stream}, 2, position, ticks, operands);
  for (uint32_t n = 0; n < count; ++n) {
    activations.load(op.base + n, {ticks.at(n), number, loadCount, n, op.f16});
  }
  ++loadCount;
  if (step.functional) {
    loaded.push_back(std::move(operands));
  }
  step.book(step.units.load(plane), number, count, ticks.first, ticks.last(),
            count);
  step.done(number, now, ticks.last() + step.machine.timing.load,
            ticks.last() + 1);
}

//===-- Install -----------------------------------------------------------===//

void MatrixPlane::checkInstall(const InstallOp &op, Tick now) const {
  checkColumns(op.low, op.high, now);
  uint32_t rows = uint32_t(op.high - op.low);
  bool scaled = op.format == WeightFormat::Q8 || op.format == WeightFormat::Q4;
  if (scaled && rows % 16 != 0) {
    throw Illegal(now, std::to_string(rows) +
                           " rows of a block format, expected a multiple of "
                           "16");
  }
  if (op.width < 1 || op.width > step.machine.matrix.installStreams) {
    throw Illegal(now, std::to_string(op.width) + " install streams of " +
                           std::to_string(step.machine.matrix.installStreams));
  }
  uint32_t cycles = tileCycles(op.format, rows, op.width);
  if (op.shape.length < cycles) {
    throw Illegal(now, "a tile of " + std::to_string(cycles) +
                           " cycles in a run of " +
                           std::to_string(op.shape.length));
  }
}

void MatrixPlane::issueInstall(uint32_t number, Tick now) {
  // 1. and 2. The instruction that is due, and whether it may be issued.
  const auto &op = step.op<InstallOp>(number);
  checkInstall(op, now);
  BurstTicks ticks = ticksOf(now, op.shape);
  for (MatrixPlane *p : planesFor(op.format, now)) {
    p->installQueue.book(ticks.first, ticks.last(), number, now);
    step.book(step.units.install(p->plane), number, ticks.count(), ticks.first,
              ticks.last(), ticks.count());
  }
  // 3. Values: the tiles' sources.
  auto operands = std::make_shared<Operands>();
  step.take({away(), op.stream}, op.width, position, ticks, *operands);
  installOperands = std::move(operands);
  // 4. Book.
  step.done(number, now, ticks.last() + step.machine.timing.install,
            ticks.last() + 1);
  installing = number;
  nextRun = 0;
  beginTile(number, now);
}

void MatrixPlane::beginTile(uint32_t number, Tick now) {
  const auto &op = step.op<InstallOp>(number);
  Tile tile;
  tile.start = now;
  tile.ready = now + Tick(op.shape.length - 1) * op.shape.stride +
               step.machine.timing.install;
  tile.instruction = number;
  tile.run = nextRun;
  tile.plane = plane;
  tile.format = op.format;
  tile.low = op.low;
  tile.high = op.high;
  for (MatrixPlane *p : planesFor(op.format, now)) {
    p->weights.begin(tile);
  }
  if (step.functional) {
    sources.push_back(
        {&op, installOperands, uint64_t(nextRun) * op.shape.length});
  }
  ++nextRun;
  if (nextRun < op.shape.runs) {
    installs.wakeAt(now + op.shape.period, number);
  }
}

//===-- Matmul ------------------------------------------------------------===//

void MatrixPlane::checkMatmul(const MatmulOp &op, Tick now) const {
  checkColumns(op.low, op.high, now);
  if (op.tiles < 1 || op.inner < 1 || op.rows < 1) {
    throw Illegal(now, "a matmul of no passes or rows");
  }
  Tick perRow = matmulTicksPerRow(step.machine, op.format);
  bool several = op.tiles > 1 || op.inner > 1;
  if (several && Tick(op.period) < Tick(op.rows) * perRow) {
    throw Illegal(now, "passes every " + std::to_string(op.period) +
                           " cycles, but the rows of one take " +
                           std::to_string(Tick(op.rows) * perRow));
  }
  uint64_t last = uint64_t(op.base) + uint64_t(op.inner) * op.rows - 1;
  if (last >= activations.entries()) {
    throw Illegal(now, ActivationBuffer::name(uint32_t(last)) + " of " +
                           std::to_string(activations.entries()));
  }
}

void MatrixPlane::issueMatmul(uint32_t number, Tick now) {
  const auto &op = step.op<MatmulOp>(number);
  checkMatmul(op, now);
  job.passes.clear();
  job.entries.assign(size_t(op.inner) * op.rows, {});
  job.nextPass = 0;
  job.number = number;
  job.op = &op;
  job.tick = now;
  job.ticksPerRow = matmulTicksPerRow(step.machine, op.format);
  Tick last = job.lastRow(job.passTick(job.passCount() - 1));
  uint64_t rows = uint64_t(job.passCount()) * op.rows;
  for (MatrixPlane *p : planesFor(op.format, now)) {
    p->array.book(now, last, number, now);
    step.book(step.units.matmul(p->plane), number, rows, now, last,
              (rows - 1) * job.ticksPerRow + 1);
  }
  uint64_t macs =
      rows * uint64_t(op.high - op.low) * uint64_t(step.machine.lanes);
  Counters &counters = step.result.counters;
  (op.format == WeightFormat::F16 ? counters.f16Macs : counters.int8Macs) +=
      macs;
  // A row's result leaves `matmul` ticks after the row entered in the last of
  // its K passes.
  Tick firstOut = job.passTick(op.inner - 1) + step.machine.timing.matmul;
  BurstShape shape{op.rows, job.ticksPerRow, op.tiles, op.inner * op.period};
  BurstSlot slot = step.drive(number, {{opposite(away()), op.stream}, op.stop},
                              uint32_t(streamsOf(op.result())), position,
                              firstOut, shape, now);
  if (step.functional) {
    job.values = std::make_shared<MatmulValues>(
        op, number, step.machine.lanes, step.memory.buffers,
        [this](uint64_t vector) { computeThrough(vector); });
    step.setValues(slot, job.values);
  }
  Tick lastOut = last + step.machine.timing.matmul;
  step.done(number, now, lastOut, lastOut + 1);
  startPass(now);
}

void MatrixPlane::startPass(Tick now) {
  const MatmulOp &op = *job.op;
  uint32_t index = job.nextPass++;
  Pass pass{{}, index, now};
  for (MatrixPlane *p : planesFor(op.format, now)) {
    p->weights.consume(plane, op.format, op.low, op.high, now,
                       job.lastRow(now));
  }
  if (step.functional) {
    pass.source = std::move(sources.front());
    sources.pop_front();
  }
  job.passes.push_back(std::move(pass));
  if (op.rows == 1) {
    finishPasses();
  }
  // Next: the following pass, or the last row of the last one.
  if (job.nextPass < job.passCount()) {
    matmuls.wakeAt(job.passTick(job.nextPass), job.number);
  } else if (op.rows > 1) {
    matmuls.wakeAt(job.lastRow(now), job.number);
  }
}

void MatrixPlane::matmulMoment(Tick now) {
  finishPasses(); // all rows of the passes before this moment have entered
  if (job.nextPass < job.passCount()) {
    startPass(now);
  }
}

void MatrixPlane::finishPasses() {
  for (Pass &pass : job.passes) {
    computeRows(pass, job.op->rows);
  }
  job.passes.clear();
}

void MatrixPlane::computeThrough(uint64_t vector) {
  uint32_t endRow = uint32_t(vector % job.op->rows) + 1;
  for (Pass &pass : job.passes) {
    if (pass.index / job.op->inner == vector / job.op->rows) {
      step.checked(job.number, [&] { computeRows(pass, endRow); });
    }
  }
}

void MatrixPlane::useEntry(const Pass &pass, uint32_t m,
                           std::vector<MatmulValues::Entry> &rows) {
  const MatmulOp &op = *job.op;
  uint32_t slot = pass.index % op.inner * op.rows + m;
  Tick tick = pass.tick + Tick(m) * job.ticksPerRow;
  EntryLoad entry =
      activations.use(op.base + slot, tick, op.format == WeightFormat::F16);
  if (pass.index < op.inner) {
    job.entries[slot] = entry;
  } else if (!(entry == job.entries[slot])) {
    throw Illegal(tick, ActivationBuffer::name(op.base + slot) +
                            " was overwritten by instruction " +
                            std::to_string(entry.instruction) +
                            " while this matmul still uses it");
  }
  if (step.functional) {
    const Operands &planes = loaded[entry.load];
    planes[0].require(entry.vector);
    planes[1].require(entry.vector);
    rows.push_back(
        {{planes[0].plane(entry.vector), planes[1].plane(entry.vector)}});
  }
}

void MatrixPlane::computeRows(Pass &pass, uint32_t endRow) {
  const MatmulOp &op = *job.op;
  uint32_t firstRow = pass.rowsDone;
  if (firstRow >= endRow) {
    return;
  }
  // Moved, as what a row needs may come back here for an earlier row.
  std::vector<MatmulValues::Entry> rows = std::move(spareRows);
  rows.clear();
  for (uint32_t m = firstRow; m < endRow; ++m) {
    useEntry(pass, m, rows);
  }
  pass.rowsDone = endRow;
  if (!step.functional) {
    return;
  }
  Tick due = pass.tick + Tick(firstRow) * job.ticksPerRow;
  job.values->addRows(step.memory.tiles.get(pass.source), firstRow, rows, due);
  spareRows = std::move(rows);
  if (pass.index % op.inner + 1 == op.inner) {
    job.values->finishRows(pass.index / op.inner, firstRow, endRow, due);
  }
}

} // namespace orrery::sim
