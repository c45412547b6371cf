#include "compiler/schedule/ScheduleFetch.h"

#include "compiler/schedule/BusyTimes.h"
#include "compiler/schedule/FetchJobs.h"
#include "machine/Encoding.h"
#include "machine/Timing.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>

namespace orrery::schedule {

namespace {

constexpr QueueId kIcu{QueueId::Kind::Fetch, 0};

Bytes roundUp(Bytes bytes, Bytes unit) {
  return (bytes + unit - 1) / unit * unit;
}

//===-- Places by bank ----------------------------------------------------===//

/// Free places for chunks, by bank, and when the banks can be read.
class FreePlaces {
public:
  FreePlaces(const Program &program, const Machine &machine,
             const std::vector<ChunkPlace> &places);

  /// Takes a place that can be read from `tick` on. Without one, `tick` moves
  /// on to when there may be.
  std::optional<ChunkPlace> take(Tick &tick);
  void giveBack(const ChunkPlace &place) { columnOf(place).push_back(place); }
  /// Those left, by slice, bank and address.
  std::vector<ChunkPlace> rest() const;

private:
  void occupy(const Program &program);
  std::vector<ChunkPlace> &columnOf(const ChunkPlace &p) {
    return columns[size_t(p.slice) * banks + p.bank];
  }

  const Machine &machine;
  Geometry geometry;
  size_t banks;
  std::vector<std::vector<ChunkPlace>> columns; ///< [slice * banks + bank]
  std::vector<BusyTimes> ports;                 ///< of reading, by slice
  std::vector<BusyTimes> writes;                ///< as columns
  std::vector<size_t> order;                    ///< in which columns are asked
};

FreePlaces::FreePlaces(const Program &program, const Machine &machine,
                       const std::vector<ChunkPlace> &places)
    : machine(machine), geometry(machine.geometry()),
      banks(size_t(machine.sram.banks)),
      columns(size_t(geometry.slices()) * banks),
      ports(size_t(geometry.slices())), writes(columns.size()) {
  for (const ChunkPlace &p : places) {
    columnOf(p).push_back(p);
  }
  occupy(program);
}

/// A read holds its port, and a write its bank, from the first vector to the
/// last, gaps included.
void FreePlaces::occupy(const Program &program) {
  auto eachSlice = [&](const auto &op, Direction d, Tick tick, auto add) {
    for (int32_t s = op.slice; s < op.slice + op.width; ++s) {
      Tick apart = geometry.ofSlice(s) - geometry.ofSlice(op.slice);
      Tick first = d == Direction::East ? tick + apart : tick - apart;
      add(size_t(s), first, first + op.shape.span());
    }
  };
  for (const Instruction &i : program.instructions) {
    if (auto *read = std::get_if<ReadOp>(&i.operation)) {
      eachSlice(*read, read->out.ref.direction, i.tick,
                [&](size_t slice, Tick first, Tick last) {
                  ports[slice].add(first, last);
                });
    } else if (auto *write = std::get_if<WriteOp>(&i.operation)) {
      eachSlice(*write, write->in.direction, i.tick,
                [&](size_t slice, Tick first, Tick last) {
                  writes[slice * banks + write->bank].add(first, last);
                });
    }
  }
  for (auto *times : {&ports, &writes}) {
    for (BusyTimes &each : *times) {
      each.sort();
    }
  }
  // The busiest ports first, when they are free: places behind idle ones are
  // for the stretches in which weights take the others.
  std::vector<Tick> busy;
  for (size_t c = 0; c < columns.size(); ++c) {
    busy.push_back(ports[c / banks].sum());
  }
  order.resize(columns.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return busy[a] != busy[b] ? busy[a] > busy[b] : a < b;
  });
}

std::optional<ChunkPlace> FreePlaces::take(Tick &tick) {
  Tick length = machine.fetchVectors;
  Tick soonest = std::numeric_limits<Tick>::max();
  for (size_t c : order) {
    if (columns[c].empty()) {
      continue;
    }
    Tick at = std::max(ports[c / banks].freeFrom(tick, length),
                       writes[c].freeFrom(tick, length));
    if (at == tick) {
      ChunkPlace place = columns[c].back();
      columns[c].pop_back();
      return place;
    }
    soonest = std::min(soonest, at);
  }
  tick = soonest;
  return std::nullopt;
}

std::vector<ChunkPlace> FreePlaces::rest() const {
  std::vector<ChunkPlace> all;
  for (const auto &column : columns) {
    all.insert(all.end(), column.begin(), column.end());
  }
  std::sort(all.begin(), all.end(),
            [](const ChunkPlace &a, const ChunkPlace &b) {
              return std::tuple(a.slice, a.bank, a.address) <
                     std::tuple(b.slice, b.bank, b.address);
            });
  return all;
}

//===-- The ICU's own text ------------------------------------------------===//

/// Fetches in the order of time, and what of their text the ICU has.
class IcuText {
public:
  IcuText(const Machine &machine, Tick end)
      : machine(machine), chunk(machine.fetchBytes()),
        brought(heldChunks(machine)), longest(longestFetch(machine, end)) {
    Tick away = (fetchArrival(machine, 0) + machine.fetchVectors - 1) /
                machine.fetchVectors;
    reserve = longest * (away + 2);
  }

  /// Bytes of the longest fetch in a step that ends at `end`.
  static Bytes longestFetch(const Machine &machine, Tick end);

  Bytes bytesOf(const FetchOp &op, Tick tick) const {
    return roundUp(encodedDelta(tick - last) + encodedRest(op),
                   machine.instructionBytes);
  }
  /// Whether the text goes on behind what was brought, if `more` fetches come.
  bool mayGoOn(size_t more) const {
    return used + Bytes(more) * longest > brought * chunk;
  }
  bool hasRoom() const {
    return (brought + 1) * chunk - used <= machine.queueBytes;
  }
  /// Whether what is left may not last until a chunk fetched now is there.
  bool isLow() const { return brought * chunk - used < reserve; }
  /// The first tick at which the next fetch, of `bytes`, is in the buffer; none
  /// if nobody brings it.
  std::optional<Tick> thereFrom(Bytes bytes) const;
  void add(const FetchOp &op, Tick tick, uint32_t location);
  /// Takes back fetches of own chunks that turned out to be behind the end.
  std::vector<ChunkPlace> dropUnused();
  /// Own fetches get the location of the fetch that needs them.
  void locate();
  int64_t chunks() const { return (used + chunk - 1) / chunk; }

  std::vector<Instruction> fetches;

private:
  void recount();

  const Machine &machine;
  Bytes chunk;
  int64_t brought; ///< chunks held or fetched
  Bytes longest, reserve;
  Bytes used = 0;            ///< of all fetches
  Tick last = 0;             ///< tick of the last one
  std::vector<Tick> arrived; ///< of the chunks fetched
};

Bytes IcuText::longestFetch(const Machine &machine, Tick end) {
  Geometry g = machine.geometry();
  FetchOp op;
  op.target = {QueueId::Kind::Fetch, uint16_t(g.slices())};
  op.slice = uint16_t(g.slices());
  op.bank = uint8_t(machine.sram.banks);
  op.address = uint32_t(machine.sram.vectorsPerBank);
  return roundUp(encodedDelta(end) + encodedRest(op), machine.instructionBytes);
}

std::optional<Tick> IcuText::thereFrom(Bytes bytes) const {
  int64_t needed = (used + bytes - 1) / chunk;
  if (needed >= brought) {
    return std::nullopt;
  }
  int64_t held = heldChunks(machine);
  return needed < held ? 0 : arrived[size_t(needed - held)];
}

void IcuText::add(const FetchOp &op, Tick tick, uint32_t location) {
  used += bytesOf(op, tick);
  last = tick;
  fetches.push_back({tick, location, op});
  if (op.target == kIcu) {
    ++brought;
    arrived.push_back(fetchArrival(machine, tick));
  }
}

void IcuText::recount() {
  std::vector<Instruction> all = std::move(fetches);
  fetches.clear();
  used = last = 0;
  arrived.clear();
  brought = heldChunks(machine);
  for (const Instruction &i : all) {
    add(std::get<FetchOp>(i.operation), i.tick, i.location);
  }
}

// Without the last one the text is no longer: what comes after it grows by a
// unit at most, for its delta. So the chunk before is the last one still.
std::vector<ChunkPlace> IcuText::dropUnused() {
  std::vector<ChunkPlace> freed;
  while (brought > heldChunks(machine) && brought > chunks()) {
    auto own = std::find_if(
        fetches.rbegin(), fetches.rend(), [](const Instruction &i) {
          return std::get<FetchOp>(i.operation).target == kIcu;
        });
    const auto &op = std::get<FetchOp>(own->operation);
    freed.push_back({op.slice, op.bank, op.address});
    fetches.erase(std::next(own).base());
    recount();
  }
  return freed;
}

void IcuText::locate() {
  std::vector<size_t> own;
  std::vector<Bytes> ends;
  Bytes end = 0;
  Tick before = 0;
  for (size_t i = 0; i < fetches.size(); ++i) {
    const auto &op = std::get<FetchOp>(fetches[i].operation);
    end += encodedBytes(fetches[i], before, machine);
    before = fetches[i].tick;
    ends.push_back(end);
    if (op.target == kIcu) {
      own.push_back(i);
    }
  }
  for (size_t k = own.size(); k-- > 0;) {
    Bytes begin = (heldChunks(machine) + int64_t(k)) * chunk;
    auto user = std::upper_bound(ends.begin(), ends.end(), begin);
    fetches[own[k]].location = fetches[size_t(user - ends.begin())].location;
  }
}

//===-- The algorithm -----------------------------------------------------===//

struct NeededLater {
  bool operator()(const FetchJob &a, const FetchJob &b) const {
    return std::pair(a.until, a.chunk) > std::pair(b.until, b.chunk);
  }
};

class FetchScheduler {
public:
  FetchScheduler(Program &program, const Machine &machine)
      : program(program), machine(machine), texts(queueTexts(program, machine)),
        jobs(fetchJobs(texts, program, machine)),
        icu(machine, program.predictedTicks) {}

  Expected<int64_t> run(int64_t taken);
  bool lacksRoom = false; ///< why run() failed

private:
  std::optional<int64_t> mostIcuChunks() const;
  Status placeAll(FreePlaces &free);
  Status placeAt(FreePlaces &free, bool own, Tick &now);
  void finish(const FreePlaces &free);
  Error dry(const FetchJob &job) const;
  Error icuDry(Tick tick) const;

  Program &program;
  const Machine &machine;
  std::vector<QueueText> texts;
  std::vector<FetchJob> jobs;
  IcuText icu;
  std::priority_queue<FetchJob, std::vector<FetchJob>, NeededLater> waiting;
  std::vector<std::optional<ChunkPlace>> places; ///< by chunk, the ICU's last
};

Error FetchScheduler::dry(const FetchJob &job) const {
  std::string where = job.location < program.locations.size()
                          ? " (" + program.locations[job.location] + ")"
                          : "";
  return {queueName(job.queue) + " would run dry at tick " +
          std::to_string(job.needed) + where + ": its buffer of " +
          std::to_string(machine.queueBytes) + " B has room for the next " +
          std::to_string(machine.fetchBytes()) + " B from tick " +
          std::to_string(job.from) + " on; they must be fetched by tick " +
          std::to_string(job.until) +
          (job.from > job.until
               ? ""
               : ", up to which the icu or all read ports are taken")};
}

Error FetchScheduler::icuDry(Tick tick) const {
  return {"icu would run dry at tick " + std::to_string(tick) +
          ": its buffer of " + std::to_string(machine.queueBytes) +
          " B has no room for the next " +
          std::to_string(machine.fetchBytes()) + " B"};
}

/// A bound on the chunks of the ICU's own text, which IcuText::mayGoOn keeps;
/// none when each fetch takes more text than it brings.
std::optional<int64_t> FetchScheduler::mostIcuChunks() const {
  Bytes longest = IcuText::longestFetch(machine, program.predictedTicks);
  Bytes chunk = machine.fetchBytes();
  int64_t held = heldChunks(machine), own = 0, chunks = 0;
  auto others = int64_t(jobs.size());
  do {
    own = std::max<int64_t>(0, chunks - held);
    if (own > 100 * (others + 1)) {
      return std::nullopt;
    }
    chunks = ((others + own) * longest + chunk - 1) / chunk;
  } while (std::max<int64_t>(0, chunks - held) > own);
  return chunks;
}

/// Puts the next fetch at `now`, or moves `now` on to when it may go.
Status FetchScheduler::placeAt(FreePlaces &free, bool own, Tick &now) {
  Tick tick = now;
  auto place = free.take(tick);
  if (!place) {
    now = tick;
    return Success{};
  }
  FetchOp op{own ? kIcu : waiting.top().queue, place->slice, place->bank,
             place->address};
  auto there = icu.thereFrom(icu.bytesOf(op, now));
  if (!there || *there > now) {
    free.giveBack(*place);
    now = there.value_or(now);
    return there ? Status(Success{}) : Status(icuDry(now));
  }
  if (own) {
    icu.add(op, now, 0);
    places.push_back(*place);
  } else {
    const FetchJob &job = waiting.top();
    icu.add(op, now, job.location);
    places[size_t(job.chunk)] = place;
    waiting.pop();
  }
  now += machine.fetchVectors;
  return Success{};
}

Status FetchScheduler::placeAll(FreePlaces &free) {
  std::sort(jobs.begin(), jobs.end(), [](const FetchJob &a, const FetchJob &b) {
    return std::pair(a.from, a.chunk) < std::pair(b.from, b.chunk);
  });
  size_t next = 0;
  for (Tick now = 0; next < jobs.size() || !waiting.empty();) {
    while (next < jobs.size() && jobs[next].from <= now) {
      waiting.push(jobs[next++]);
    }
    if (!waiting.empty() && now > waiting.top().until) {
      return dry(waiting.top());
    }
    size_t more = jobs.size() - next + waiting.size();
    bool own =
        icu.mayGoOn(more) && icu.hasRoom() && (waiting.empty() || icu.isLow());
    if (waiting.empty() && !own) {
      now = jobs[next].from;
      continue;
    }
    if (Status ok = placeAt(free, own, now); !ok) {
      return ok;
    }
  }
  return Success{};
}

/// Chunks that are held before tick 0 lie where place is left; then come vector
/// programs and lane maps.
void FetchScheduler::finish(const FreePlaces &free) {
  icu.locate();
  std::vector<ChunkPlace> left = free.rest(), ordered;
  size_t next = 0;
  for (const auto &place : places) {
    ordered.push_back(place ? *place : left[next++]);
  }
  ordered.insert(ordered.end(), left.begin() + std::ptrdiff_t(next),
                 left.end());
  addTextRegions(program, machine, ordered);
  std::vector<Instruction> all;
  all.reserve(program.instructions.size() + icu.fetches.size());
  std::merge(program.instructions.begin(), program.instructions.end(),
             icu.fetches.begin(), icu.fetches.end(), std::back_inserter(all),
             [](const Instruction &a, const Instruction &b) {
               return a.tick < b.tick;
             });
  program.instructions = std::move(all);
}

Expected<int64_t> FetchScheduler::run(int64_t taken) {
  auto own = mostIcuChunks();
  if (!own) {
    return icuDry(0);
  }
  Bytes chunk = machine.fetchBytes();
  int64_t tables = (tableBytes(program, machine) + chunk - 1) / chunk;
  int64_t needed = chunkCount(texts) + *own + tables;
  auto room = textRoom(program, machine, taken, needed);
  if (!room) {
    lacksRoom = true;
    return room.error();
  }
  FreePlaces free(program, machine, *room);
  places.resize(size_t(chunkCount(texts)));
  if (Status ok = placeAll(free); !ok) {
    return ok.error();
  }
  for (const ChunkPlace &place : icu.dropUnused()) {
    free.giveBack(place);
    places.pop_back();
  }
  // The ICU's held chunks come before those it fetched.
  int64_t held = std::min(icu.chunks(), heldChunks(machine));
  places.insert(places.begin() + std::ptrdiff_t(chunkCount(texts)),
                size_t(held), std::nullopt);
  finish(free);
  return needed * machine.fetchVectors;
}

} // namespace

Expected<int64_t> scheduleFetch(Program &program, const Machine &machine,
                                int64_t taken, bool *lacksRoom) {
  FetchScheduler scheduler(program, machine);
  auto text = scheduler.run(taken);
  if (lacksRoom) {
    *lacksRoom = scheduler.lacksRoom;
  }
  return text;
}

} // namespace orrery::schedule
