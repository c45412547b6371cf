// Rules fetch and dry: each fetch brings what its queue needs next, from where
// it lies, into a buffer that has room; and every instruction is in its queue's
// buffer when it is due.
//
// A queue's text is walked once beside its fetches. Both are in the order of
// time, and so are the bytes: a fetch's chunk is told by its number.
#include "simulator/check/Examination.h"

#include "machine/Encoding.h"
#include "machine/InstructionText.h"

#include <algorithm>
#include <map>

namespace orrery::check {

namespace {

class FetchCheck {
public:
  explicit FetchCheck(Examination &exam)
      : exam(exam), m(exam.machine), chunkBytes(m.fetchBytes()),
        held(m.queueBytes / chunkBytes), places(exam.program, m) {}

  void run() {
    std::vector<QueueText> texts = queueTexts(exam.program, m);
    const std::vector<Instruction> &all = exam.program.instructions;
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (auto *op = std::get_if<FetchOp>(&all[i].operation)) {
        fetchesOf[op->target].push_back(i);
      }
    }
    for (const QueueText &text : texts) {
      checkFetches(text, fetchesOf[text.queue]);
      checkDry(text, fetchesOf[text.queue]);
      fetchesOf.erase(text.queue);
    }
    for (const auto &[queue, fetches] : fetchesOf) {
      failFetch(fetches.front(), queueName(queue) + " has no instructions");
    }
  }

private:
  Tick tickOf(uint32_t index) const {
    return exam.program.instructions[index].tick;
  }
  void failFetch(uint32_t index, const std::string &found) {
    exam.fail(Rule::Fetch, index, tickOf(index), found);
  }
  /// Whether the fetch found its chunk.
  bool checkPlace(const QueueText &text, int64_t chunk, uint32_t index);
  void checkFetches(const QueueText &text,
                    const std::vector<uint32_t> &fetches);
  void checkDry(const QueueText &text, const std::vector<uint32_t> &fetches);

  Examination &exam;
  const Machine &m;
  Bytes chunkBytes;
  int64_t held;
  ChunkPlaces places;
  std::map<QueueId, std::vector<uint32_t>> fetchesOf; ///< in program order
};

bool FetchCheck::checkPlace(const QueueText &text, int64_t chunk,
                            uint32_t index) {
  const auto &op =
      std::get<FetchOp>(exam.program.instructions[index].operation);
  std::string name = queueName(text.queue);
  if (chunk >= text.chunks) {
    failFetch(index, "all " + std::to_string(text.chunks) +
                         " chunks of the text of " + name +
                         " were brought before");
    return false;
  }
  int64_t number = text.firstChunk + chunk;
  ChunkPlace found{op.slice, op.bank, op.address};
  bool hasPlace = number < places.count();
  if (!hasPlace || found != places[number]) {
    failFetch(index, "it reads " + placeName(found) + ", chunk " +
                         std::to_string(chunk) + " of " + name +
                         (hasPlace ? " is at " + placeName(places[number])
                                   : " has no place"));
    return false;
  }
  return true;
}

void FetchCheck::checkFetches(const QueueText &text,
                              const std::vector<uint32_t> &fetches) {
  Bytes issued = 0;
  size_t next = 0;
  int64_t chunk = held;
  for (uint32_t index : fetches) {
    if (!checkPlace(text, chunk, index)) {
      return; // what follows is out of step
    }
    while (next < text.entries.size() &&
           text.entries[next].tick < tickOf(index)) {
      issued = text.entries[next++].end;
    }
    Bytes inBuffer = ++chunk * chunkBytes - issued;
    if (inBuffer > m.queueBytes) {
      failFetch(index, "with it the buffer of " + queueName(text.queue) +
                           " would hold " + std::to_string(inBuffer) +
                           " bytes, it takes " + std::to_string(m.queueBytes));
      return;
    }
  }
}

void FetchCheck::checkDry(const QueueText &text,
                          const std::vector<uint32_t> &fetches) {
  for (const TextEntry &entry : text.entries) {
    int64_t chunk = (entry.end - 1) / chunkBytes;
    if (chunk < held) {
      continue;
    }
    std::string what = queueName(text.queue) + " needs bytes up to " +
                       std::to_string(entry.end) + " of its text, and ";
    auto k = size_t(chunk - held);
    if (k >= fetches.size()) {
      exam.fail(Rule::Dry, entry.instruction, entry.tick,
                what + "nothing fetches chunk " + std::to_string(chunk));
      return;
    }
    Tick there = tickOf(fetches[k]) + m.fetchVectors - 1 + m.timing.fetch;
    if (there > entry.tick) {
      exam.fail(Rule::Dry, entry.instruction, entry.tick,
                what + exam.describe(fetches[k]) +
                    " brings them only by tick " + std::to_string(there));
      return;
    }
  }
}

} // namespace

void checkFetch(Examination &exam) { FetchCheck(exam).run(); }

} // namespace orrery::check
