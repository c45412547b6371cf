// Rules operand, dropped, stop, conflict, type: what producers put on streams
// and consumers find there.
//
// On one stream of one direction a burst is a set of runs of diagonals over a
// range of positions. Runs are sorted by their first diagonal and swept; the
// runs still alive at a diagonal are the only ones that a later run can meet
// or a consumer's first vector can belong to. The rest of a consumer's burst
// is then compared with that producer's shape, run by run.
#include "simulator/check/Bursts.h"
#include "simulator/check/Examination.h"

#include <algorithm>
#include <set>

namespace orrery::check {

namespace {

/// One run of one driven stream, on positions [low, high].
struct Lane {
  Run diagonals;
  Position low, high;
  uint32_t drive;
  uint8_t slot;
  uint64_t firstVector;
};
/// The first vector of one stream of a consumer.
struct Query {
  Tick diagonal;
  uint32_t take;
  uint8_t slot;
};
/// Where a consumer's stream found its first vector.
struct Match {
  uint32_t drive;
  uint8_t slot;
  uint64_t vector;
  bool found;
};
struct Stream {
  std::vector<Lane> lanes;
  std::vector<Query> queries;
};
/// What consumers took of one driven stream.
struct Use {
  uint64_t first, count;
};

class StreamCheck {
public:
  explicit StreamCheck(Examination &exam)
      : exam(exam), g(exam.geometry), drives(exam.streams.drives),
        takes(exam.streams.takes),
        streams(2 * size_t(exam.machine.streamsPerDirection)) {}

  void run() {
    collect();
    for (Stream &s : streams) {
      sweep(s);
    }
    for (uint32_t t = 0; t < takes.size(); ++t) {
      checkTake(t);
    }
    for (uint32_t d = 0; d < drives.size(); ++d) {
      checkDrive(d);
    }
  }

private:
  Stream &streamOf(Direction d, int stream) {
    return streams[size_t(d) * exam.machine.streamsPerDirection + stream];
  }
  static std::string name(Direction d, int stream) {
    return directionName(d) + "ward stream " + std::to_string(stream);
  }

  void collect();
  void sweep(Stream &stream);
  void meet(const Lane &a, const Lane &b);
  void answer(const Query &q, const std::vector<Lane> &alive);
  void checkTake(uint32_t index);
  bool checkBurst(const Take &take, int slot, const Match &match);
  void checkType(const Take &take, const std::vector<Match> &found);
  void checkDrive(uint32_t index);
  void failOperand(const Take &take, int slot);
  std::string nearestProducer(const Take &take, int slot);

  Examination &exam;
  Geometry g;
  const std::vector<Drive> &drives;
  const std::vector<Take> &takes;
  std::vector<Stream> streams;
  std::vector<std::vector<Match>> matches;         ///< [take][slot]
  std::vector<std::vector<std::vector<Use>>> uses; ///< [drive][slot]
  std::vector<std::vector<Position>> ends; ///< [drive]: positions of consumers
  std::set<std::pair<uint32_t, uint32_t>> reported;
};

void StreamCheck::collect() {
  matches.resize(takes.size());
  uses.resize(drives.size());
  ends.resize(drives.size());
  for (uint32_t d = 0; d < drives.size(); ++d) {
    const Drive &drive = drives[d];
    uses[d].resize(drive.width);
    std::vector<Run> runs = runsOf(drive.shape, drive.diagonal);
    for (int slot = 0; slot < drive.width; ++slot) {
      Position from = drive.origin(g, slot);
      bool east = drive.direction == Direction::East;
      Position low = east ? from + 1 : drive.stop;
      Position high = east ? drive.stop : from - 1;
      Stream &s = streamOf(drive.direction, drive.stream + slot);
      uint64_t vector = 0;
      for (const Run &run : runs) {
        s.lanes.push_back({run, low, high, d, uint8_t(slot), vector});
        vector += run.length;
      }
    }
    exam.report.vectorsDriven += drive.shape.count() * drive.width;
  }
  for (uint32_t t = 0; t < takes.size(); ++t) {
    matches[t].resize(takes[t].width, Match{0, 0, 0, false});
    for (int slot = 0; slot < takes[t].width; ++slot) {
      streamOf(takes[t].direction, takes[t].stream + slot)
          .queries.push_back({takes[t].diagonal, t, uint8_t(slot)});
    }
  }
}

void StreamCheck::sweep(Stream &stream) {
  std::sort(stream.lanes.begin(), stream.lanes.end(),
            [](const Lane &a, const Lane &b) {
              return a.diagonals.first < b.diagonals.first;
            });
  std::sort(
      stream.queries.begin(), stream.queries.end(),
      [](const Query &a, const Query &b) { return a.diagonal < b.diagonal; });
  std::vector<Lane> alive;
  auto forget = [&](Tick before) {
    std::erase_if(alive,
                  [&](const Lane &l) { return l.diagonals.last() < before; });
  };
  size_t next = 0;
  auto enter = [&](Tick upTo) {
    for (; next < stream.lanes.size() &&
           stream.lanes[next].diagonals.first <= upTo;
         ++next) {
      const Lane &lane = stream.lanes[next];
      forget(lane.diagonals.first);
      for (const Lane &other : alive) {
        meet(other, lane);
      }
      alive.push_back(lane);
    }
  };
  for (const Query &q : stream.queries) {
    enter(q.diagonal);
    forget(q.diagonal);
    answer(q, alive);
  }
  enter(std::numeric_limits<Tick>::max());
}

/// Reports two runs that share a diagonal and a position, once a pair of
/// instructions.
void StreamCheck::meet(const Lane &a, const Lane &b) {
  Position low = std::max(a.low, b.low), high = std::min(a.high, b.high);
  if (low > high) {
    return;
  }
  std::optional<Tick> common = firstCommon(a.diagonals, b.diagonals);
  if (!common) {
    return;
  }
  const Drive &da = drives[a.drive], &db = drives[b.drive];
  auto pair = std::minmax(da.instruction, db.instruction);
  if (!reported.insert(pair).second) {
    return;
  }
  Position first = da.direction == Direction::East ? low : high;
  Tick tick = passes(da.direction, *common, first);
  exam.fail(Rule::Conflict, pair.second, tick,
            "its vector on " + name(da.direction, db.stream + b.slot) +
                " meets one of " + exam.describe(pair.first) + " at position " +
                std::to_string(first));
}

void StreamCheck::answer(const Query &q, const std::vector<Lane> &alive) {
  Position near = takes[q.take].nearest(g, q.slot);
  Position far = takes[q.take].farthest(g, q.slot);
  for (const Lane &lane : alive) {
    if (lane.diagonals.contains(q.diagonal) &&
        std::min(near, far) >= lane.low && std::max(near, far) <= lane.high) {
      uint64_t vector =
          lane.firstVector +
          uint64_t((q.diagonal - lane.diagonals.first) / lane.diagonals.stride);
      matches[q.take][q.slot] = {lane.drive, lane.slot, vector, true};
      return;
    }
  }
}

void StreamCheck::checkTake(uint32_t index) {
  const Take &take = takes[index];
  const std::vector<Match> &found = matches[index];
  bool whole = true;
  for (int slot = 0; slot < take.width && whole; ++slot) {
    if (!found[slot].found) {
      failOperand(take, slot);
      return;
    }
    whole = checkBurst(take, slot, found[slot]);
  }
  for (int slot = 0; slot < take.width; ++slot) {
    const Match &m = found[slot];
    if (m.found) {
      uses[m.drive][m.slot].push_back({m.vector, take.shape.count()});
      ends[m.drive].push_back(take.farthest(g, slot));
    }
  }
  if (whole) {
    exam.report.operandsProven += take.shape.count() * take.width;
    checkType(take, found);
  }
}

bool StreamCheck::checkBurst(const Take &take, int slot, const Match &match) {
  const Drive &drive = drives[match.drive];
  auto differs = firstDifference(drive.shape, match.vector, take.shape);
  if (!differs) {
    return true;
  }
  exam.fail(Rule::Operand, take.instruction,
            tickAt(take, *differs, take.nearest(g, slot)),
            "operand " + std::to_string(take.operand) + " takes " +
                std::to_string(take.shape.count()) + " vectors from " +
                name(take.direction, take.stream + slot) + ", but vector " +
                std::to_string(*differs) + " is not vector " +
                std::to_string(match.vector + *differs) + " of the " +
                std::to_string(drive.shape.count()) + " of " +
                exam.describe(drive.instruction));
  return false;
}

void StreamCheck::failOperand(const Take &take, int slot) {
  Position at = take.nearest(g, slot);
  exam.fail(Rule::Operand, take.instruction, tickAt(take, 0, at),
            "operand " + std::to_string(take.operand) + " vector 0 is not on " +
                name(take.direction, take.stream + slot) + " at position " +
                std::to_string(at) + "; " + nearestProducer(take, slot));
}

/// The producer on that stream whose run is least far in time, for messages.
std::string StreamCheck::nearestProducer(const Take &take, int slot) {
  const Lane *best = nullptr;
  Tick bestGap = 0;
  auto gapOf = [&](const Run &r) {
    return take.diagonal < r.first ? r.first - take.diagonal
           : take.diagonal > r.last()
               ? r.last() - take.diagonal
               : r.first + (take.diagonal - r.first) / r.stride * r.stride -
                     take.diagonal;
  };
  for (const Lane &lane : streamOf(take.direction, take.stream + slot).lanes) {
    Tick gap = gapOf(lane.diagonals);
    if (!best || std::abs(gap) < std::abs(bestGap)) {
      best = &lane;
      bestGap = gap;
    }
  }
  if (!best) {
    return "nothing ever drives that stream";
  }
  return "the nearest is " + exam.describe(drives[best->drive].instruction) +
         ", " + std::to_string(std::abs(bestGap)) + " ticks " +
         (bestGap < 0 ? "early" : "late") + ", on positions " +
         std::to_string(best->low) + "-" + std::to_string(best->high);
}

void StreamCheck::checkType(const Take &take, const std::vector<Match> &found) {
  const Drive &drive = drives[found[0].drive];
  Tick tick = tickAt(take, 0, take.nearest(g, 0));
  auto fail = [&](const std::string &what) {
    exam.fail(Rule::Type, take.instruction, tick,
              "operand " + std::to_string(take.operand) + ": " + what + " of " +
                  exam.describe(drive.instruction));
  };
  if (drive.type && take.type && *drive.type != *take.type) {
    return fail("takes another stream type than the value");
  }
  if (!take.grouped) {
    return;
  }
  for (int slot = 0; slot < take.width; ++slot) {
    const Match &m = found[slot];
    if (m.drive != found[0].drive || m.vector != found[0].vector ||
        m.slot != found[0].slot + slot) {
      return fail("its streams are not neighbours within one vector");
    }
  }
  if (drive.type && (found[0].slot != 0 || take.width != drive.width)) {
    fail("takes streams " + std::to_string(found[0].slot) + "-" +
         std::to_string(found[0].slot + take.width - 1) + " of the " +
         std::to_string(drive.width) + " of a value");
  }
}

void StreamCheck::checkDrive(uint32_t index) {
  const Drive &drive = drives[index];
  for (int slot = 0; slot < drive.width; ++slot) {
    std::vector<Use> &used = uses[index][slot];
    std::sort(used.begin(), used.end(),
              [](const Use &a, const Use &b) { return a.first < b.first; });
    uint64_t next = 0;
    for (const Use &u : used) {
      if (u.first > next) {
        break;
      }
      next = std::max(next, u.first + u.count);
    }
    if (next < drive.shape.count()) {
      exam.fail(Rule::Dropped, drive.instruction,
                tickAt(drive, next, drive.origin(g, slot)),
                "nobody takes vector " + std::to_string(next) + " of " +
                    std::to_string(drive.shape.count()) + " on " +
                    name(drive.direction, drive.stream + slot));
      return;
    }
  }
  bool east = drive.direction == Direction::East;
  Position last =
      east ? *std::max_element(ends[index].begin(), ends[index].end())
           : *std::min_element(ends[index].begin(), ends[index].end());
  if (last != drive.stop) {
    exam.fail(Rule::Stop, drive.instruction, tickAt(drive, 0, drive.position),
              "its vectors stop at position " + std::to_string(drive.stop) +
                  ", their last consumer stands at " + std::to_string(last));
  }
}

} // namespace

void checkStreams(Examination &exam) { StreamCheck(exam).run(); }

} // namespace orrery::check
