// The builder behind ProgramBuilder.h: what its files share.
#pragma once

#include "machine/Timing.h"
#include "tests/simulator/check/Gang.h"
#include "tests/simulator/check/ProgramBuilder.h"
#include "tests/simulator/check/SramPlan.h"

#include <string>
#include <utility>
#include <vector>

namespace orrery::test {

/// Thrown when a gang finds no room; the builder drops the gang.
struct NoRoom {};

Machine randomMachine(Random &r);
/// Tokens, bucket and context of a step.
void drawStep(Program &program, const Machine &m, Random &r);

/// Vectors that one send takes and one receive brings: several values of these
/// types side by side.
struct Message {
  std::vector<StreamType> types;
  uint32_t count;
};
Message anyMessage(Random &r);
/// What a part does besides its own chip's work.
struct PartLinks {
  bool fromHost = true, logits = true;
  int exchanges = 0; ///< links 1 .. exchanges lead to ranks of the same part
  int next = 0;      ///< the link to and from other stages, 0: there are none
  std::vector<Message> fromBefore, toNext;
};
/// What a link has been told to do so far.
struct LinkState {
  Tick free = 0; ///< when it has carried all it sends
  Tick lastSend = -1, lastReceive = -1;
};

/// What a plane has been told to do so far.
struct PlaneState {
  Tick lastInstall = -1;                 ///< last cycle of the last tile
  Tick lastStart = -1;                   ///< of the last pass
  Tick freedBefore = -1, freedLast = -1; ///< last rows of the last two passes
  std::vector<Tick> lastUse;             ///< of each activation entry
};

class Builder {
public:
  explicit Builder(uint64_t seed)
      : r(seed), m(randomMachine(r)), g(m.geometry()), plan(m),
        planes(g.planes()) {
    program.modelName = "random " + std::to_string(seed);
    program.modelHash = seed;
    drawStep(program, m, r);
    program.inputVectors = uint32_t(r.between(1, 3));
    prepare();
  }
  /// A part of a system on machine `machine`, of the step that `step` says.
  Builder(uint64_t seed, const Machine &machine, const Program &step,
          const PartLinks &links)
      : r(seed), m(machine), g(m.geometry()), plan(m), program(step),
        planes(g.planes()), links(links), linkStates(m.link.ports + 1) {
    program.inputVectors = links.fromHost ? uint32_t(r.between(1, 3)) : 0;
    prepare();
  }

  BuiltProgram build() {
    addTables();
    if (links.fromHost) {
      attempt("receive", [&](Gang &gang) { receive(gang); }, true);
    }
    receiveAll(links.fromBefore, links.next);
    attempt("append", [&](Gang &gang) { append(gang); });
    attempt("transpose", [&](Gang &gang) { transpose(gang); });
    int gangs = int(r.between(6, 24));
    for (int i = 0; i < gangs; ++i) {
      addGang();
      retireSome();
      exchange();
    }
    sendAll(links.toNext, links.next);
    if (links.logits) {
      attempt("logits", [&](Gang &gang) { logits(gang); }, true);
    }
    finish();
    return {m, program};
  }

private:
  void prepare() {
    for (PlaneState &p : planes) {
      p.lastUse.assign(m.matrix.activationVectors, -1);
    }
    program.machineJson = formatMachine(m);
    program.locations = {"unknown"};
  }
  /// Whether the gang has been placed.
  template <class F> bool attempt(const char *name, F make, bool must = false) {
    for (int tries = 0; tries < (must ? 400 : 6); ++tries) {
      SramPlan before = plan;
      Gang gang;
      vectorProgramsBefore = program.vectorPrograms.size();
      valuesBefore = values.size();
      try {
        make(gang);
        if (place(gang, name)) {
          return true;
        }
      } catch (NoRoom) {
        placing.clear();
      }
      plan = before;
      values.resize(valuesBefore);
      program.vectorPrograms.resize(vectorProgramsBefore);
    }
    if (must) {
      std::fprintf(stderr, "program builder: no room for %s\n", name);
      std::abort();
    }
    return false;
  }
  bool place(Gang &gang, const char *name);
  void addTables();
  bool addGang();
  void retireSome();
  void finish();
  void drawQueue();
  void addText();
  void fetchText();

  // Pieces of gangs.
  uint8_t stream(int width) {
    return uint8_t(r.between(0, m.streamsPerDirection - width));
  }
  int addRegion(const char *name, RegionKind kind, int width, int length,
                int low, int high, bool anywhere = false) {
    auto region = plan.add(r, name, kind, width, length, low, high, anywhere);
    if (!region) {
      throw NoRoom();
    }
    return *region;
  }
  BurstShape rewritten(BurstShape s);
  BurstShape anyShape(uint32_t count, uint32_t least = 1);
  AddressPattern anyRead(uint32_t base, uint32_t length, uint32_t count);
  AddressPattern permutation(uint32_t base, uint32_t length);
  const Value &anyValue(std::vector<StreamType> types);
  /// Reads `count` vectors of a value so that vector 0 is at `to` at `tick`.
  Flow read(Gang &gang, const Value &value, Position to, Tick tick,
            const BurstShape &shape, const AddressPattern &address,
            int width = 0);
  Flow read(Gang &gang, const Value &value, Position to, Tick tick,
            BurstShape shape);
  Flow flowOf(Gang &gang, size_t producer, int output, StreamOut &out,
              int width, Position from, Tick first, const BurstShape &shape);
  /// Writes what flows to a new Temporary (or several), as `type`.
  void store(Gang &gang, const Flow &flow, StreamType type);
  int storeOnce(Gang &gang, const Flow &flow, int slot, int width,
                BurstShape shape, Tick diagonal, uint64_t count);
  size_t write(Gang &gang, const Flow &flow, int slot, int width,
               const BurstShape &shape, Tick diagonal, int region,
               const AddressPattern &address);
  std::pair<int, int> downstream(const Flow &flow) const;
  uint16_t anyProgram(int inputs, bool reduce, std::vector<StreamType> types);
  uint16_t sumsProgram();
  Flow pass(Gang &gang, const Flow &in, StreamType to);

  // Gangs.
  void receive(Gang &gang);
  void append(Gang &gang);
  void transpose(Gang &gang);
  void copy(Gang &gang);
  void vector(Gang &gang);
  void permute(Gang &gang);
  void matmul(Gang &gang);
  void send(Gang &gang);
  void patch(Gang &gang);
  void logits(Gang &gang);
  void vectorInto(Gang &gang, uint16_t index, uint32_t count, bool toLogits);

  // LinkGangs.cpp: what goes to and comes from other chips.
  void exchange();
  bool sendOver(const Message &message, int link, bool must);
  void receiveOver(const Message &message, int link,
                   const std::vector<Tick> &arrivals);
  void sendAll(const std::vector<Message> &messages, int link);
  void receiveAll(const std::vector<Message> &messages, int link);
  void linkSend(Gang &gang, const Message &message, int link);
  void linkReceive(Gang &gang, const Message &message, int link,
                   const std::vector<Tick> &arrivals);

  // Parts of the matmul gang.
  struct Tiles {
    InstallOp install;
    MatmulOp matmul;
    Tick installTick, matmulTick;
  };
  Tiles planTiles(int plane);
  void installWeights(Gang &gang, const Tiles &t);
  void loadActivations(Gang &gang, const Tiles &t);
  void requirePlane(Gang &gang, const Tiles &t);
  void enterPlane(const Tiles &t, Tick shift);
  std::vector<int> planesOf(int plane, bool f16) const;

  Random r;
  Machine m;
  Geometry g;
  SramPlan plan;
  Board board;
  Program program = {};
  std::vector<Value> values;
  std::vector<PlaneState> planes;
  std::vector<Tiles> placing = {}; ///< the matmul of the gang being placed
  size_t vectorProgramsBefore = 0, valuesBefore = 0;
  int logitsRegion = -1;
  PartLinks links;
  std::vector<LinkState> linkStates; ///< by link number
};

} // namespace orrery::test
