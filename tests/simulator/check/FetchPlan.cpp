#include "tests/simulator/check/FetchPlan.h"

#include "machine/Encoding.h"

#include <algorithm>

namespace orrery::test {

namespace {

constexpr QueueId kIcu{QueueId::Kind::Fetch, 0};

class FetchPlan {
public:
  FetchPlan(Program &program, const Machine &machine, Board board)
      : program(program), m(machine), board(std::move(board)),
        places(program, m), texts(queueTexts(program, m)) {
    for (const QueueText &text : texts) {
      next.push_back(std::min(heldChunks(m), text.chunks));
    }
    icuNext = heldChunks(m);
  }

  void run() {
    Tick end = program.instructions.back().tick;
    for (Tick t = 0; t <= end; ++t) {
      fetchOne(t);
    }
    sortByTick(program.instructions);
  }

private:
  Tick needOf(size_t q) const {
    for (const TextEntry &e : texts[q].entries) {
      if (e.end > next[q] * m.fetchBytes()) {
        return e.tick;
      }
    }
    return 0;
  }
  bool hasRoom(size_t q, Tick t) const {
    Bytes issued = 0;
    for (const TextEntry &e : texts[q].entries) {
      issued = e.tick < t ? e.end : issued;
    }
    return (next[q] + 1) * m.fetchBytes() - issued <= m.queueBytes;
  }
  int64_t left() const {
    int64_t sum = 0;
    for (size_t q = 0; q < texts.size(); ++q) {
      sum += texts[q].chunks - next[q];
    }
    return sum;
  }

  void fetchOne(Tick t) {
    Bytes room = icuNext * m.fetchBytes() - icuBytes;
    bool own = room < 3 * m.instructionBytes && left() > 2 &&
               (icuNext + 1) * m.fetchBytes() - icuBytes <= m.queueBytes;
    if (own && add(t, kIcu, chunkCount(texts) + icuNext)) {
      ++icuNext;
      return;
    }
    std::vector<std::pair<Tick, size_t>> wanted;
    for (size_t q = 0; q < texts.size(); ++q) {
      if (next[q] < texts[q].chunks && hasRoom(q, t)) {
        wanted.push_back({needOf(q), q});
      }
    }
    std::ranges::sort(wanted);
    for (auto [need, q] : wanted) {
      if (add(t, texts[q].queue, texts[q].firstChunk + next[q])) {
        ++next[q];
        return;
      }
    }
  }
  bool add(Tick t, QueueId queue, int64_t chunk) {
    if (chunk >= places.count()) {
      return false;
    }
    ChunkPlace p = places[chunk];
    Instruction i{t, 0, FetchOp{queue, p.slice, p.bank, p.address}};
    auto cells = cellsOf(i, program, m);
    Bytes bytes = encodedBytes(i, icuLast, m);
    if (!board.isFree(cells, 0) ||
        icuBytes + bytes > icuNext * m.fetchBytes()) {
      return false;
    }
    board.take(cells, 0);
    icuBytes += bytes;
    icuLast = t;
    program.instructions.push_back(i);
    return true;
  }

  Program &program;
  const Machine &m;
  Board board;
  ChunkPlaces places;
  std::vector<QueueText> texts; ///< without the ICU's
  std::vector<int64_t> next;    ///< chunk of each to be fetched
  int64_t icuNext;
  Bytes icuBytes = 0;
  Tick icuLast = 0;
};

} // namespace

bool fetchesAreRight(const Program &program, const Machine &m) {
  for (const QueueText &text : queueTexts(program, m)) {
    std::vector<Tick> ticks;
    for (const Instruction &i : program.instructions) {
      auto *op = std::get_if<FetchOp>(&i.operation);
      if (op && op->target == text.queue) {
        ticks.push_back(i.tick);
      }
    }
    int64_t held = heldChunks(m);
    if (!ticks.empty() && held + int64_t(ticks.size()) > text.chunks) {
      return false;
    }
    auto broughtBy = [&](Tick t, Tick after) {
      auto fetched = std::ranges::count_if(
          ticks, [&](Tick at) { return at + after <= t; });
      return (held + fetched) * m.fetchBytes();
    };
    for (const TextEntry &e : text.entries) {
      if (e.end > broughtBy(e.tick, m.fetchVectors - 1 + m.timing.fetch)) {
        return false;
      }
    }
    for (Tick t : ticks) {
      Bytes issued = 0;
      for (const TextEntry &e : text.entries) {
        issued = e.tick < t ? e.end : issued;
      }
      if (broughtBy(t, 0) - issued > m.queueBytes) {
        return false;
      }
    }
  }
  return true;
}

bool addFetches(Program &program, const Machine &machine, Board board) {
  FetchPlan(program, machine, std::move(board)).run();
  return fetchesAreRight(program, machine);
}

} // namespace orrery::test
