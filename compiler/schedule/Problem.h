// The scheduling problem: gangs of instructions at fixed offsets, in an order
// that respects meaning, for one chip. Knows neither how it will be solved
// (ListSchedule.h) nor MLIR.
//
// A *gang* is what one flow op becomes: reads, a unit, writes, whose ticks
// differ by the way their vectors travel. Only its start and its stream
// numbers are unknown.
#pragma once

#include "machine/Instruction.h"
#include "machine/Machine.h"
#include "machine/Program.h"

#include <string>
#include <vector>

namespace orrery::schedule {

/// A group of streams that a gang drives. Stream k of the group carries the
/// burst on diagonal start + `diagonal`, from position `from + k * fromStep`
/// (exclusive) to `stop`.
struct StreamUse {
  Direction direction;
  uint8_t width;
  Tick diagonal;
  BurstShape shape;
  Position from;
  Position fromStep;
  Position stop;
};

/// What an access's memory is to the step's order.
enum class Memory : uint8_t {
  None,
  Constant,  ///< weights, tables: never written
  Kv,        ///< ordered as a whole, by region
  Temporary, ///< ordered address by address
};

/// One instruction of a gang. Its stream fields hold indices into
/// Gang::streams until they are resolved.
struct Member {
  Tick offset;
  Operation operation;
  Memory memory = Memory::None;
  /// WriteOp: its first stream, from the group's.
  uint8_t streamOffset = 0;
  /// Kv: number of the cache; Temporary: number of the program's region.
  uint32_t region = 0;
};

/// Activation rows that a gang puts into the planes of one hemisphere, or uses
/// there: a number per flow.load.
constexpr uint32_t kNoLoad = ~0u;

struct Gang {
  uint32_t location = 0;
  std::vector<StreamUse> streams;
  std::vector<Member> members;
  uint32_t loads = kNoLoad; ///< the load it performs
  uint32_t uses = kNoLoad;  ///< the load its matmul reads
};

/// Entries of the activation buffers that a load takes.
struct LoadEntries {
  int32_t side;
  uint32_t entries;
  uint32_t users; ///< matmul gangs that read it
};

struct Problem {
  const Machine *machine;
  std::vector<VectorProgram> vectorPrograms;
  std::vector<Gang> gangs;
  std::vector<LoadEntries> loads;
  uint32_t caches = 0; ///< KV regions
  /// Links inside the tensor-parallel group, whose chips all run this problem's
  /// solution: what a chip receives on a link up to this one, another has sent
  /// on the link of that number at the tick at which this one sends. Greater
  /// numbers lead to other stages.
  uint32_t groupLinks = 0;
  /// Per program region: the temporaries that share addresses with it. A write
  /// waits for the last access of those that earlier gangs used.
  std::vector<std::vector<uint32_t>> shares;
};

/// A solution: per gang, its start tick and the first stream of each group;
/// per load, its first activation entry.
struct Schedule {
  std::vector<Tick> start;
  std::vector<std::vector<uint8_t>> streams;
  std::vector<uint16_t> entryBase;
};

/// The gang's instructions at their ticks, streams and entries filled in.
std::vector<Instruction>
instructionsOf(const Problem &problem, const Schedule &schedule, uint32_t gang);

/// One port, or unit, or (slice, bank) that instructions occupy exclusively.
struct Reservation {
  uint32_t resource;
  Tick offset;
  BurstShape shape;
};
/// What an instruction occupies, offsets from its tick. Resources are numbered
/// densely from 0 to resourceCount - 1; resourceName gives their names.
std::vector<Reservation> reservationsOf(const Problem &problem,
                                        const Operation &operation);
uint32_t resourceCount(const Machine &machine);
std::string resourceName(const Machine &machine, uint32_t resource);

} // namespace orrery::schedule
