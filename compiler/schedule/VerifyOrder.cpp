#include "compiler/schedule/VerifyOrder.h"

#include "machine/Timing.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

namespace orrery::schedule {

namespace {

/// A read or write of SRAM at its tick.
struct Access {
  uint32_t slice, width;
  Direction direction;
  const AddressPattern *address;
  const BurstShape *shape;
  bool writes;
  Tick tick;
};

/// Somebody's tick, for the error.
struct Event {
  uint32_t gang = 0;
  Tick tick = -1;
};

class OrderCheck {
public:
  OrderCheck(const Problem &problem, const Schedule &schedule)
      : problem(problem), schedule(schedule), m(*problem.machine),
        g(m.geometry()), written(problem.shares.size()),
        lives(problem.shares.size()), caches(problem.caches),
        planes(size_t(g.planes())) {
    for (Plane &plane : planes) {
      plane.entries.resize(size_t(m.matrix.activationVectors));
    }
  }

  Status run();

private:
  struct Life {
    Tick born = std::numeric_limits<Tick>::max(), dies = 0;
  };
  struct Cache {
    Event written, read;
  };
  struct Entry {
    uint32_t load = kNoLoad;
    Event came, used;
  };
  struct Plane {
    std::vector<Entry> entries;
    Event installed, multiplied; ///< ends
    Event freed[2];              ///< the last two tiles, older first
  };

  std::optional<Access> accessOf(const Member &member, Tick start) const;
  Tick skew(const Access &access, uint32_t k) const {
    Position apart =
        g.ofSlice(int32_t(access.slice + k)) - g.ofSlice(int32_t(access.slice));
    return access.direction == Direction::East ? apart : -apart;
  }
  std::pair<Tick, Tick> spanOf(const Access &access) const;
  void memory(const Member &member, const Access &access);
  void temporary(uint32_t region, const Access &access);
  void cache(uint32_t number, const Access &access);
  void load(const LoadOp &op, Tick tick, uint32_t base);
  void tiles(const InstallOp &install, Tick at, const MatmulOp &matmul,
             Tick from);
  void rows(const MatmulOp &op, Tick tick, uint32_t base);
  void planesOfGang(const Gang &gang, Tick start);
  void shared();

  // The first thing that is wrong stays.
  void expect(bool right, const std::string &what, Tick tick,
              const Event &other) {
    if (!right && !error) {
      error = Error{what + " of gang " + std::to_string(gang) + " at tick " +
                    std::to_string(tick) + " is too early for gang " +
                    std::to_string(other.gang) + " at tick " +
                    std::to_string(other.tick)};
    }
  }

  const Problem &problem;
  const Schedule &schedule;
  const Machine &m;
  Geometry g;
  uint32_t gang = 0;
  /// Per region, by (slice, address).
  std::vector<std::map<std::pair<uint32_t, int64_t>, Event>> written;
  std::vector<Life> lives;
  std::vector<Cache> caches;
  std::vector<Plane> planes;
  std::optional<Error> error;
};

} // namespace

std::optional<Access> OrderCheck::accessOf(const Member &member,
                                           Tick start) const {
  Tick tick = start + member.offset;
  if (auto *op = std::get_if<ReadOp>(&member.operation)) {
    return Access{op->slice,    op->width,  op->out.ref.direction,
                  &op->address, &op->shape, false,
                  tick};
  }
  if (auto *op = std::get_if<WriteOp>(&member.operation)) {
    return Access{op->slice,    op->width,  op->in.direction,
                  &op->address, &op->shape, true,
                  tick};
  }
  return std::nullopt;
}

std::pair<Tick, Tick> OrderCheck::spanOf(const Access &access) const {
  Tick other = skew(access, access.width - 1);
  return {access.tick + std::min<Tick>(0, other),
          access.tick + std::max<Tick>(0, other) + access.shape->span()};
}

void OrderCheck::temporary(uint32_t region, const Access &access) {
  auto [first, last] = spanOf(access);
  lives[region].born = std::min(lives[region].born, first);
  lives[region].dies = std::max(lives[region].dies, last + 1);
  for (uint32_t k = 0; k < access.width; ++k) {
    for (uint64_t n = 0; n < access.shape->count(); ++n) {
      Tick tick = access.tick + skew(access, k) + access.shape->at(n);
      auto key = std::pair(access.slice + k, access.address->at(n));
      if (access.writes) {
        Event &event = written[region][key];
        event = tick > event.tick ? Event{gang, tick} : event;
      } else if (auto found = written[region].find(key);
                 found != written[region].end()) {
        expect(tick >= found->second.tick + m.timing.write, "read", tick,
               found->second);
      }
    }
  }
}

void OrderCheck::cache(uint32_t number, const Access &access) {
  auto [first, last] = spanOf(access);
  Cache &cache = caches[number];
  if (access.writes) {
    expect(first > cache.read.tick, "KV write", first, cache.read);
    cache.written =
        last > cache.written.tick ? Event{gang, last} : cache.written;
  } else {
    expect(cache.written.tick < 0 ||
               first >= cache.written.tick + m.timing.write,
           "KV read", first, cache.written);
    cache.read = last > cache.read.tick ? Event{gang, last} : cache.read;
  }
}

void OrderCheck::memory(const Member &member, const Access &access) {
  if (member.memory == Memory::Temporary) {
    temporary(member.region, access);
  } else if (member.memory == Memory::Kv) {
    cache(member.region, access);
  }
}

void OrderCheck::load(const LoadOp &op, Tick tick, uint32_t base) {
  for (uint64_t n = 0; n < op.shape.count(); ++n) {
    Entry &entry = planes[op.plane].entries[base + op.base + n];
    Tick at = tick + op.shape.at(n);
    expect(at > entry.used.tick, "load", at, entry.used);
    entry = {problem.gangs[gang].loads, {gang, at}, {}};
  }
}

void OrderCheck::rows(const MatmulOp &op, Tick tick, uint32_t base) {
  uint32_t perRow = matmulTicksPerRow(m, op.format);
  for (uint32_t pass = 0; pass < op.tiles * op.inner; ++pass) {
    for (uint32_t row = 0; row < op.rows; ++row) {
      uint32_t at = base + op.base + pass % op.inner * op.rows + row;
      Entry &entry = planes[op.plane].entries[at];
      Tick enters = tick + Tick(pass) * op.period + Tick(row) * perRow;
      expect(entry.load == problem.gangs[gang].uses, "row replaced: matmul",
             enters, entry.came);
      expect(enters >= entry.came.tick + m.timing.load, "matmul row", enters,
             entry.came);
      entry.used = enters > entry.used.tick ? Event{gang, enters} : entry.used;
    }
  }
}

void OrderCheck::tiles(const InstallOp &install, Tick at,
                       const MatmulOp &matmul, Tick from) {
  auto per = uint32_t(m.matrix.planesPerHemisphere);
  bool pair = install.format == WeightFormat::F16;
  uint32_t first = pair ? install.plane / per * per : install.plane;
  for (uint32_t p = first; p < first + (pair ? per : 1); ++p) {
    Plane &plane = planes[p];
    expect(at > plane.installed.tick, "install", at, plane.installed);
    expect(from >= plane.multiplied.tick, "matmul", from, plane.multiplied);
    for (uint32_t pass = 0; pass < matmul.tiles * matmul.inner; ++pass) {
      Tick comes = at + install.shape.at(uint64_t(pass) * install.shape.length);
      Tick whole =
          comes + Tick(install.shape.length - 1) * install.shape.stride;
      Tick begins = from + Tick(pass) * matmul.period;
      Tick ends =
          begins + Tick(matmul.rows) * matmulTicksPerRow(m, matmul.format);
      expect(comes >= plane.freed[0].tick, "tile", comes, plane.freed[0]);
      expect(begins >= whole + m.timing.install, "pass", begins, {gang, whole});
      plane.freed[0] = plane.freed[1];
      plane.freed[1] = plane.multiplied = {gang, ends};
      plane.installed = {gang, whole};
    }
  }
}

void OrderCheck::planesOfGang(const Gang &gang, Tick start) {
  uint32_t number = gang.loads != kNoLoad ? gang.loads : gang.uses;
  uint32_t base = number == kNoLoad ? 0 : schedule.entryBase[number];
  const Member *install = nullptr;
  for (const Member &member : gang.members) {
    Tick tick = start + member.offset;
    if (auto *op = std::get_if<LoadOp>(&member.operation)) {
      load(*op, tick, base);
    } else if (std::holds_alternative<InstallOp>(member.operation)) {
      install = &member;
    } else if (auto *op = std::get_if<MatmulOp>(&member.operation)) {
      rows(*op, tick, base);
      if (install) {
        tiles(std::get<InstallOp>(install->operation), start + install->offset,
              *op, tick);
      }
    }
  }
}

// Temporaries in one place live one after another.
void OrderCheck::shared() {
  for (uint32_t a = 0; a < lives.size(); ++a) {
    for (uint32_t b : problem.shares[a]) {
      bool apart =
          lives[a].dies <= lives[b].born || lives[b].dies <= lives[a].born;
      if (!apart && !error) {
        error = Error{"regions " + std::to_string(a) + " and " +
                      std::to_string(b) + " share addresses and live at [" +
                      std::to_string(lives[a].born) + ", " +
                      std::to_string(lives[a].dies) + ") and [" +
                      std::to_string(lives[b].born) + ", " +
                      std::to_string(lives[b].dies) + ")"};
      }
    }
  }
}

// A gang's reads before its writes: its results are not its operands.
Status OrderCheck::run() {
  for (gang = 0; gang < problem.gangs.size() && !error; ++gang) {
    Tick start = schedule.start[gang];
    for (bool writes : {false, true}) {
      for (const Member &member : problem.gangs[gang].members) {
        auto access = accessOf(member, start);
        if (access && access->writes == writes) {
          memory(member, *access);
        }
      }
    }
    planesOfGang(problem.gangs[gang], start);
  }
  shared();
  return error ? Status(*error) : Status(Success{});
}

Status verifyOrder(const Problem &problem, const Schedule &schedule) {
  return OrderCheck(problem, schedule).run();
}

} // namespace orrery::schedule
