// The instruction buffers of a chip's queues: an instruction is there when it
// is due, and a fetch brings what its queue needs next, where it lies, into a
// buffer that has room.
#pragma once

#include "machine/InstructionText.h"
#include "simulator/timing/Illegal.h"

#include <optional>

namespace orrery::sim {

class InstructionBuffers {
public:
  InstructionBuffers(const Program &program, const Machine &machine);

  /// Instruction `number` is issued in cycle `now`, the first in which one of
  /// its queues does. Each queue of a wide one has it in a cycle of its own:
  /// the next such cycle that cannot be judged yet comes back. Illegal when a
  /// queue's bytes are not there by then.
  std::optional<Tick> issue(uint32_t number, Tick now);
  /// Looks again at what `issue` left open.
  std::optional<Tick> checkAgain(uint32_t number, Tick now) const;

  /// A fetch is issued; the cycle in which its bytes are in the buffer.
  Tick fetch(const FetchOp &op, Tick now);

private:
  /// An instruction in a queue that does not hold all its text from the start.
  struct Copy {
    uint32_t instruction;
    uint32_t queue; ///< index into `queues`
    Tick tick;
    Bytes end;
  };
  struct Issued {
    Tick tick;
    Bytes end;
  };
  struct Queue {
    QueueId id;
    int64_t firstChunk, chunks;
    std::vector<Tick> arrivals; ///< of the chunks fetched so far
    std::vector<Issued> issued; ///< after what `gone` counts, in any order
    Bytes gone = 0;             ///< issued before the last fetch
  };

  std::optional<Tick> check(const Copy &copy, Tick now) const;
  Queue *find(QueueId id);

  Machine machine;
  int64_t held;
  ChunkPlaces places;
  std::vector<Queue> queues; ///< by QueueId
  std::vector<Copy> copies;  ///< by instruction
};

} // namespace orrery::sim
