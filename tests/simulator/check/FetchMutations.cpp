// Breaking what brings the instructions.
#include "tests/simulator/check/FetchPlan.h"
#include "tests/simulator/check/MutationMakers.h"

namespace orrery::test {

/// Null when the program has none.
static Instruction *anyFetch(Program &p, Random &r) {
  std::vector<Instruction *> all;
  for (Instruction &i : p.instructions) {
    if (opOf<FetchOp>(i)) {
      all.push_back(&i);
    }
  }
  return all.empty() ? nullptr : r.of(all);
}

/// The chunk is needed: by now nobody fetches more than a text has. The next
/// fetch for the queue, if there is one, reads the wrong chunk.
bool dropFetch(Program &p, const Machine &, Random &r) {
  Instruction *i = anyFetch(p, r);
  if (i) {
    p.instructions.erase(p.instructions.begin() + (i - p.instructions.data()));
  }
  return i != nullptr;
}

/// One tick too late for the first instruction in the chunk, and no earlier
/// than the next fetch of the queue.
bool delayFetch(Program &p, const Machine &m, Random &r) {
  Instruction *i = anyFetch(p, r);
  if (!i) {
    return false;
  }
  QueueId queue = opOf<FetchOp>(*i)->target;
  int64_t chunk = heldChunks(m);
  bool isLast = true;
  for (const Instruction &other : p.instructions) {
    auto *op = std::get_if<FetchOp>(&other.operation);
    if (op && op->target == queue) {
      chunk += other.tick < i->tick;
      isLast &= other.tick <= i->tick;
    }
  }
  for (const QueueText &text : queueTexts(p, m)) {
    for (const TextEntry &e : text.entries) {
      if (text.queue == queue && e.end > chunk * m.fetchBytes()) {
        i->tick = e.tick - (m.fetchVectors - 1) - m.timing.fetch + 1;
        // The ICU's own text changes when its fetches change places.
        return isLast && queue.kind != QueueId::Kind::Fetch;
      }
    }
  }
  return false;
}

/// Of a queue that has text to come or not: the place is not its next one.
bool fetchForAnother(Program &p, const Machine &m, Random &r) {
  Instruction *i = anyFetch(p, r);
  if (!i) {
    return false;
  }
  auto &op = *opOf<FetchOp>(*i);
  QueueId before = op.target;
  std::vector<QueueText> texts = queueTexts(p, m);
  op.target = r.of(texts).queue;
  return op.target != before;
}

bool fetchElsewhere(Program &p, const Machine &m, Random &r) {
  Instruction *i = anyFetch(p, r);
  if (!i) {
    return false;
  }
  auto &op = *opOf<FetchOp>(*i);
  FetchOp before = op;
  op.slice = uint16_t(r.chance(50) ? op.slice
                                   : r.between(0, m.geometry().slices() - 1));
  op.bank = uint8_t(r.between(0, m.sram.banks - 1));
  op.address = uint32_t(
      r.chance(50) ? op.address
                   : r.between(0, m.sram.vectorsPerBank - m.fetchVectors));
  return !(op == before);
}

/// To the tick at which the instruction that makes the room is issued. Then the
/// bytes are not gone yet.
bool fetchIntoFull(Program &p, const Machine &m, Random &r) {
  Instruction *i = anyFetch(p, r);
  if (!i) {
    return false;
  }
  QueueId queue = opOf<FetchOp>(*i)->target;
  Bytes brought = heldChunks(m) * m.fetchBytes();
  Tick before = -1;
  for (const Instruction &other : p.instructions) {
    auto *op = std::get_if<FetchOp>(&other.operation);
    if (op && op->target == queue && other.tick <= i->tick) {
      brought += m.fetchBytes();
      before = other.tick < i->tick ? other.tick : before;
    }
  }
  for (const QueueText &text : queueTexts(p, m)) {
    for (const TextEntry &e : text.entries) {
      if (text.queue == queue && e.end >= brought - m.queueBytes) {
        i->tick = e.tick;
        // It stays the same fetch of the queue, after the one before.
        return brought > m.queueBytes && e.tick > before &&
               queue.kind != QueueId::Kind::Fetch;
      }
    }
  }
  return false;
}

/// By the last chunk that it holds: what was held must be fetched now.
bool shrinkBuffer(Program &p, Machine &m, Random &) {
  int64_t held = heldChunks(m) - 1;
  m.queueBytes = int32_t(held * m.fetchBytes());
  p.machineJson = formatMachine(m);
  return held > 0 &&
         std::ranges::any_of(queueTexts(p, m), [&](const QueueText &text) {
           return text.chunks > held;
         });
}

} // namespace orrery::test
