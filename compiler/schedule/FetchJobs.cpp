#include "compiler/schedule/FetchJobs.h"

#include "machine/Timing.h"

namespace orrery::schedule {

std::vector<FetchJob> fetchJobs(const std::vector<QueueText> &texts,
                                const Program &program,
                                const Machine &machine) {
  Bytes bytes = machine.fetchBytes();
  Tick latency = fetchArrival(machine, 0);
  std::vector<FetchJob> jobs;
  for (const QueueText &text : texts) {
    // Both only move on: bounds of one chunk are not below those before.
    size_t user = 0, consumed = 0;
    for (int64_t c = heldChunks(machine); c < text.chunks; ++c) {
      while (text.entries[user].end <= c * bytes) {
        ++user;
      }
      Bytes mustBeGone = (c + 1) * bytes - machine.queueBytes;
      Tick from = 0;
      if (mustBeGone > 0) {
        while (consumed < text.entries.size() - 1 &&
               text.entries[consumed].end < mustBeGone) {
          ++consumed;
        }
        from = text.entries[consumed].tick + 1;
      }
      const TextEntry &first = text.entries[user];
      jobs.push_back({text.queue, text.firstChunk + c, from,
                      first.tick - latency, first.tick,
                      program.instructions[first.instruction].location});
    }
  }
  return jobs;
}

} // namespace orrery::schedule
