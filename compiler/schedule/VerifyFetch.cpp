#include "compiler/schedule/VerifyFetch.h"

#include "machine/Encoding.h"
#include "machine/InstructionText.h"
#include "machine/Timing.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace orrery::schedule {

namespace {

struct Fetch {
  Tick tick;
  ChunkPlace place;
};
using Fetches = std::map<QueueId, std::vector<Fetch>>; ///< by tick

std::string at(QueueId queue, Tick tick) {
  return queueName(queue) + " at tick " + std::to_string(tick) + ": ";
}

/// Bytes of `text` that were issued before `tick`.
Bytes issuedBefore(const QueueText &text, Tick tick) {
  auto first = std::partition_point(
      text.entries.begin(), text.entries.end(),
      [&](const TextEntry &entry) { return entry.tick < tick; });
  return first == text.entries.begin() ? 0 : std::prev(first)->end;
}

Status verifyQueue(const QueueText &text, const std::vector<Fetch> &fetches,
                   const ChunkPlaces &places, const Machine &machine) {
  int64_t held = heldChunks(machine);
  for (size_t k = 0; k < fetches.size(); ++k) {
    int64_t chunk = held + int64_t(k);
    const Fetch &fetch = fetches[k];
    if (chunk >= text.chunks) {
      return Error{at(text.queue, fetch.tick) +
                   "a fetch past the end of its text"};
    }
    ChunkPlace due = places[text.firstChunk + chunk];
    if (due != fetch.place) {
      return Error{at(text.queue, fetch.tick) + "a fetch from " +
                   placeName(fetch.place) + ", expected " + placeName(due)};
    }
    Bytes inBuffer =
        (chunk + 1) * machine.fetchBytes() - issuedBefore(text, fetch.tick);
    if (inBuffer > machine.queueBytes) {
      return Error{at(text.queue, fetch.tick) + "a fetch that makes " +
                   std::to_string(inBuffer) + " B in a buffer of " +
                   std::to_string(machine.queueBytes) + " B"};
    }
  }
  for (const TextEntry &entry : text.entries) {
    int64_t chunk = (entry.end - 1) / machine.fetchBytes();
    auto k = size_t(std::max<int64_t>(0, chunk - held));
    bool fetched = k < fetches.size() &&
                   fetchArrival(machine, fetches[k].tick) <= entry.tick;
    if (chunk >= held && !fetched) {
      return Error{at(text.queue, entry.tick) +
                   "its instruction is not in its buffer"};
    }
  }
  return Success{};
}

/// A fetch, a read's hold of a port, or a write's of a bank.
struct Hold {
  uint32_t resource;
  Tick first, last;
  bool fetch;
};

class Holds {
public:
  Holds(const Program &program, const Machine &machine)
      : machine(machine), geometry(machine.geometry()) {
    for (const Instruction &i : program.instructions) {
      std::visit([&](const auto &op) { add(op, i.tick); }, i.operation);
    }
    std::sort(holds.begin(), holds.end(), [](const Hold &a, const Hold &b) {
      return std::tie(a.resource, a.first) < std::tie(b.resource, b.first);
    });
  }

  Status verify() const {
    Tick last = -1;
    for (size_t i = 0; i < holds.size(); ++i) {
      bool fresh = i == 0 || holds[i].resource != holds[i - 1].resource;
      bool fetch = holds[i].fetch || (!fresh && holds[i - 1].fetch);
      if (!fresh && fetch && holds[i].first <= last) {
        return Error{"a fetch at tick " + std::to_string(holds[i].first) +
                     " finds its port, its bank or the icu taken"};
      }
      last = fresh ? holds[i].last : std::max(last, holds[i].last);
    }
    return Success{};
  }

private:
  uint32_t port(int32_t slice) const { return uint32_t(slice); }
  uint32_t bank(int32_t slice, int32_t bank) const {
    return uint32_t(geometry.slices() * (1 + bank) + slice);
  }
  uint32_t icu() const { return bank(0, machine.sram.banks); }

  void add(const auto &, Tick) {}
  void add(const ReadOp &op, Tick tick) {
    for (int32_t s = op.slice; s < op.slice + op.width; ++s) {
      hold(port(s), skewed(op.slice, s, op.out.ref.direction, tick), op.shape,
           false);
    }
  }
  void add(const WriteOp &op, Tick tick) {
    for (int32_t s = op.slice; s < op.slice + op.width; ++s) {
      hold(bank(s, op.bank), skewed(op.slice, s, op.in.direction, tick),
           op.shape, false);
    }
  }
  void add(const FetchOp &op, Tick tick) {
    for (uint32_t resource : {port(op.slice), bank(op.slice, op.bank), icu()}) {
      hold(resource, tick, fetchShape(machine), true);
    }
  }
  Tick skewed(int32_t first, int32_t slice, Direction d, Tick tick) const {
    Tick apart = geometry.ofSlice(slice) - geometry.ofSlice(first);
    return d == Direction::East ? tick + apart : tick - apart;
  }
  void hold(uint32_t resource, Tick first, const BurstShape &shape,
            bool fetch) {
    holds.push_back({resource, first, first + shape.span(), fetch});
  }

  const Machine &machine;
  Geometry geometry;
  std::vector<Hold> holds;
};

} // namespace

Status verifyFetch(const Program &program, const Machine &machine) {
  std::vector<QueueText> texts = queueTexts(program, machine);
  ChunkPlaces places(program, machine);
  if (places.count() < chunkCount(texts)) {
    return Error{"places for " + std::to_string(places.count()) +
                 " chunks of text, expected " +
                 std::to_string(chunkCount(texts))};
  }
  Fetches fetches;
  for (const Instruction &i : program.instructions) {
    if (auto *op = std::get_if<FetchOp>(&i.operation)) {
      fetches[op->target].push_back(
          {i.tick, {op->slice, op->bank, op->address}});
    }
  }
  for (const QueueText &text : texts) {
    if (Status ok = verifyQueue(text, fetches[text.queue], places, machine);
        !ok) {
      return ok;
    }
    fetches.erase(text.queue);
  }
  if (!fetches.empty()) {
    return Error{
        at(fetches.begin()->first, fetches.begin()->second.front().tick) +
        "a fetch for a queue without instructions"};
  }
  return Holds(program, machine).verify();
}

} // namespace orrery::schedule
