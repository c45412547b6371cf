#include "tests/simulator/check/Builder.h"

#include "tests/simulator/check/FetchPlan.h"

#include <cstdio>
#include <cstdlib>

namespace orrery::test {

/// Takes any text here whole.
constexpr int32_t kAmpleQueue = 1 << 20;

/// Small enough for brute force, odd enough to matter.
Machine randomMachine(Random &r) {
  Machine m = *loadMachine("lpu-small");
  m.name = "random";
  m.lanes = int(32 * r.between(1, 3));
  m.streamsPerDirection = int(r.of<int64_t>({16, 24, 32}));
  m.alusPerLane = int(r.between(1, 4));
  m.sram.slicesPerHemisphere = int(r.between(6, 14));
  m.sram.banks = int(r.of<int64_t>({2, 2, 4}));
  m.sram.vectorsPerBank = int(r.of<int64_t>({256, 512, 1024}));
  m.matrix.planesPerHemisphere = int(r.between(1, 2));
  m.matrix.installStreams = int(r.of<int64_t>({4, 8, 16}));
  m.matrix.activationVectors = int(r.between(16, 64));
  m.matrix.f16TicksPerRow = int(r.between(1, 3));
  m.queueBytes = kAmpleQueue;
  TimingParameters &t = m.timing;
  for (Tick *p : {&t.read, &t.write, &t.load, &t.install, &t.alu}) {
    *p = r.between(1, 6);
  }
  for (Tick *p :
       {&t.matmul, &t.special, &t.cross, &t.reduce, &t.permute, &t.transpose}) {
    *p = r.between(1, 20);
  }
  t.host = r.between(1, 40);
  t.hostVector = r.between(1, 5);
  return m;
}

void drawStep(Program &program, const Machine &m, Random &r) {
  program.tokens = uint32_t(r.between(1, 4));
  program.context = uint32_t(r.between(program.tokens, 3 * m.lanes));
  program.bucket = uint32_t(r.between(program.tokens, program.context));
}

bool Builder::place(Gang &gang, const char *name) {
  std::vector<BoardCell> cells;
  for (Instruction &i : gang.instructions) {
    auto own = cellsOf(i, program, m);
    cells.insert(cells.end(), own.begin(), own.end());
    gang.require(earliestTick(i, m), 0);
  }
  Board alone;
  if (!alone.take(cells, 0)) {
    placing.clear();
    return false;
  }
  Tick shift = gang.shift;
  for (int tries = 0; !board.isFree(cells, shift); ++shift, ++tries) {
    if (tries > 4000) {
      placing.clear();
      return false;
    }
  }
  board.take(cells, shift);
  program.locations.push_back(std::string(name) + " " +
                              std::to_string(program.locations.size()));
  for (Instruction &i : gang.instructions) {
    i.tick += shift;
    i.location = uint32_t(program.locations.size() - 1);
    plan.enter(i);
    program.instructions.push_back(i);
  }
  for (const Tiles &t : placing) {
    enterPlane(t, shift);
  }
  placing.clear();
  return true;
}

void Builder::retireSome() {
  for (size_t v = 0; v < values.size(); ++v) {
    PlannedRegion &region = plan.regions[values[v].region];
    if (region.region.kind == RegionKind::Temporary && r.chance(15)) {
      region.retired = true;
      std::erase_if(values, [&](const Value &other) {
        return plan.regions[other.region].retired;
      });
      return;
    }
  }
}

void Builder::finish() {
  Tick end = 0;
  for (const Instruction &i : program.instructions) {
    end = std::max(end, endOf(i, program, m));
  }
  program.predictedTicks = end;
  sortByTick(program.instructions);
  drawQueue();
  addText();
  plan.finish(program);
  fetchText();
  if (!links.logits) {
    return;
  }
  const SramRegion &l = plan.regions[logitsRegion].region;
  uint32_t vectors = l.length / program.tokens;
  program.logits = {l.slice, l.bank, l.base, vectors,
                    vectors * uint32_t(m.lanes) - 3};
}

/// What a fetch brings and a queue holds: little, of a chip that stands alone.
void Builder::drawQueue() {
  if (linkStates.empty()) {
    m.fetchVectors = int32_t(r.of<int64_t>({1, 1, 1, 2, 3}));
    m.queueBytes = int32_t(m.fetchBytes() * r.of<int64_t>({1, 2, 2, 3}) +
                           m.instructionBytes * r.between(1, 4));
    m.timing.fetch = r.between(1, 12);
  }
}

/// Room for the text, for that of the fetches that may come, and for tables.
void Builder::addText() {
  auto texts = int64_t(queueTexts(program, m).size());
  int64_t left = 2 * chunkCount(queueTexts(program, m)) + texts +
                 tableBytes(program, m) / m.fetchBytes();
  for (int length = 60; left > 0;) {
    auto region = plan.add(r, "text", RegionKind::Instructions, 1, length, 0,
                           g.slices() - 1);
    if (region) {
      left -= length / m.fetchVectors;
    } else if ((length /= 2) == 0) {
      std::fprintf(stderr, "program builder: no room for instructions\n");
      std::abort();
    }
  }
}

/// With larger buffers until no queue runs dry.
void Builder::fetchText() {
  Program without = program;
  while (!addFetches(program, m, board)) {
    m.queueBytes *= 2;
    program = without;
  }
  program.machineJson = formatMachine(m);
}

BuiltProgram buildProgram(uint64_t seed) { return Builder(seed).build(); }

Tick endTickOf(const Program &program, const Machine &machine) {
  Tick end = 0;
  for (const Instruction &i : program.instructions) {
    end = std::max(end, endOf(i, program, machine));
  }
  return end;
}

} // namespace orrery::test
