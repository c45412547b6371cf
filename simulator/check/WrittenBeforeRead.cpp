// Rules uninitialised, hazard, stale and logits: a read comes `write` ticks
// after the writes it depends on.
//
// Over the addresses that a read and a write have in common, the time from the
// write to the read is linear, so that "written in time", "still being
// written" and "written only later" are intervals of addresses.
#include "simulator/check/Memory.h"

#include <algorithm>

namespace orrery::check {

namespace {

/// A read's addresses that one write covers, and whether in time.
struct Piece {
  int64_t low, high;
  uint16_t laneLow, laneHigh;
  bool early;
  uint32_t writer;
};

/// The a in [low, high] with d + (a - low) * k >= bound, as [first, last].
std::pair<int64_t, int64_t> whereAtLeast(Tick d, Tick k, Tick bound,
                                         int64_t low, int64_t high) {
  Tick lack = bound - d;
  if (k == 0) {
    return lack <= 0 ? std::pair(low, high) : std::pair(low, low - 1);
  }
  if (k > 0) {
    int64_t steps = lack <= 0 ? 0 : (lack + k - 1) / k;
    return {std::min(low + steps, high + 1), high};
  }
  if (lack > 0) {
    return {low, low - 1};
  }
  return {low, std::min(high, low + lack / k)};
}

class RegionCheck {
public:
  RegionCheck(Examination &exam, Complaints &complaints,
              const SramRegion &region, int slice, RegionAccesses &accesses)
      : exam(exam), complaints(complaints), region(region), slice(slice),
        writes(accesses.writes), reads(accesses.reads) {}

  void run() {
    std::sort(writes.begin(), writes.end(),
              [](const Access &a, const Access &b) {
                return a.cell.low < b.cell.low;
              });
    for (const Access &w : writes) {
      int64_t before = greatestHigh.empty() ? -1 : greatestHigh.back();
      greatestHigh.push_back(std::max(before, w.cell.high()));
    }
    for (const Access &read : reads) {
      check(read);
    }
  }

private:
  void check(const Access &read) {
    pieces.clear();
    proven = true;
    auto end = std::upper_bound(
        writes.begin(), writes.end(), read.cell.high(),
        [](int64_t a, const Access &w) { return a < w.cell.low; });
    for (size_t i = end - writes.begin();
         i-- > 0 && greatestHigh[i] >= read.cell.low;) {
      compare(read, writes[i]);
    }
    if (region.kind == RegionKind::Temporary) {
      cover(read);
    }
    exam.report.readsProven += proven;
  }

  void fail(Rule rule, const Access &read, int64_t address,
            const std::string &found) {
    proven = false;
    std::string where = " address " + std::to_string(address) + " of slice " +
                        std::to_string(slice) + " bank " +
                        std::to_string(region.bank) + " (region " +
                        region.name + ")";
    if (read.instruction == kNoInstruction) {
      complaints.fail(Rule::Logits, kNoInstruction, 0,
                      "the host reads" + where + ": " + found);
    } else {
      complaints.fail(rule, read.instruction, read.cell.at(address),
                      "reads" + where + ": " + found);
    }
  }

  void compare(const Access &read, const Access &write);
  void cover(const Access &read);
  void judge(const Access &read, int64_t address, const std::vector<Piece> &at);

  Examination &exam;
  Complaints &complaints;
  const SramRegion &region;
  int slice;
  std::vector<Access> &writes;
  const std::vector<Access> &reads;
  std::vector<int64_t> greatestHigh; ///< of writes 0 .. i
  std::vector<Piece> pieces;
  bool proven = true;
};

void RegionCheck::compare(const Access &read, const Access &write) {
  int64_t low = std::max(read.cell.low, write.cell.low);
  int64_t high = std::min(read.cell.high(), write.cell.high());
  if (low > high) {
    return;
  }
  Tick ready = exam.machine.timing.write;
  Tick d = read.cell.at(low) - write.cell.at(low);
  Tick k = read.cell.perAddress - write.cell.perAddress;
  auto [readyLow, readyHigh] = whereAtLeast(d, k, ready, low, high);
  auto [startedLow, startedHigh] = whereAtLeast(d, k, 0, low, high);
  auto whole = [](int64_t a, int64_t b) { return a <= b; };
  if (startedHigh - startedLow > readyHigh - readyLow) {
    int64_t at =
        k < 0 && whole(readyLow, readyHigh) ? readyHigh + 1 : startedLow;
    // An append that may go elsewhere only makes the read unsafe.
    fail(write.uncertain ? Rule::Stale : Rule::Hazard, read, at,
         exam.describe(write.instruction) + " took it at tick " +
             std::to_string(write.cell.at(at)) + " and needs " +
             std::to_string(ready) + " ticks");
  }
  bool later = startedHigh - startedLow < high - low;
  int64_t laterLow =
      k < 0 && whole(startedLow, startedHigh) ? startedHigh + 1 : low;
  if (region.kind == RegionKind::Kv) {
    if (later) {
      fail(Rule::Stale, read, laterLow,
           exam.describe(write.instruction) +
               " of the same step may write it only at tick " +
               std::to_string(write.cell.at(laterLow)));
    }
    return;
  }
  if (write.uncertain) {
    return;
  }
  Piece piece{readyLow,       readyHigh, write.laneLow,
              write.laneHigh, true,      write.instruction};
  if (whole(readyLow, readyHigh)) {
    pieces.push_back(piece);
  }
  if (later) {
    piece.early = false;
    piece.low = laterLow;
    piece.high = laterLow + (high - low) - (startedHigh - startedLow + 1);
    pieces.push_back(piece);
  }
}

/// Every address of the read, cut where the set of pieces changes.
void RegionCheck::cover(const Access &read) {
  for (const Piece &p : pieces) {
    if (p.early && p.laneLow == 0 && p.laneHigh == exam.machine.lanes &&
        p.low <= read.cell.low && p.high >= read.cell.high()) {
      return;
    }
  }
  std::vector<int64_t> cuts = {read.cell.low};
  for (const Piece &p : pieces) {
    cuts.push_back(p.low);
    if (p.high < read.cell.high()) {
      cuts.push_back(p.high + 1);
    }
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  for (int64_t address : cuts) {
    std::vector<Piece> at;
    for (const Piece &p : pieces) {
      if (p.low <= address && address <= p.high) {
        at.push_back(p);
      }
    }
    judge(read, address, at);
  }
}

/// Lanes that no write ever defines may be read (padding); lanes that the
/// step defines, but only later, may not.
void RegionCheck::judge(const Access &read, int64_t address,
                        const std::vector<Piece> &at) {
  std::vector<bool> written(exam.machine.lanes);
  bool any = false;
  for (const Piece &p : at) {
    if (p.early) {
      any = true;
      std::fill(written.begin() + p.laneLow, written.begin() + p.laneHigh,
                true);
    }
  }
  if (!any) {
    std::string by =
        at.empty() ? std::string("nothing in this step writes it")
                   : exam.describe(at.front().writer) + " writes it only later";
    return fail(Rule::Uninitialised, read, address, by);
  }
  for (const Piece &p : at) {
    auto from = written.begin() + p.laneLow, to = written.begin() + p.laneHigh;
    if (!p.early && std::find(from, to, false) != to) {
      return fail(Rule::Uninitialised, read, address,
                  "lanes " + std::to_string(p.laneLow) + "-" +
                      std::to_string(p.laneHigh - 1) +
                      " are written only later, by " + exam.describe(p.writer));
    }
  }
}

} // namespace

void checkWrittenBeforeRead(Examination &exam, Complaints &complaints,
                            const SramRegion &region, int slice,
                            RegionAccesses &accesses) {
  RegionCheck(exam, complaints, region, slice, accesses).run();
}

} // namespace orrery::check
