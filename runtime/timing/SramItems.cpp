#include "runtime/timing/SramItems.h"

#include "compiler/lower/ChipLayout.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

namespace orrery::runtime {

Bytes BankUse::capacity() const {
  return std::accumulate(bytes.begin(), bytes.end(), free);
}

Bytes SramItems::free(bool data) const {
  Bytes sum = 0;
  for (const BankUse &bank : banks) {
    sum += bank.data == data ? bank.free : 0;
  }
  return sum;
}

Bytes SramItems::used(bool data, RegionKind kind) const {
  Bytes sum = 0;
  for (const BankUse &bank : banks) {
    sum += bank.data == data ? bank.bytes[size_t(kind)] : 0;
  }
  return sum;
}

namespace {

/// "blk.0.ffn_up.weight[0,48]" is a piece of "blk.0.ffn_up.weight", "kv.0.k.1"
/// one of "kv.0.k".
std::string tensorOf(const SramRegion &region) {
  const std::string &name = region.name;
  if (region.kind == RegionKind::Instructions) {
    return "program text";
  }
  if (region.kind != RegionKind::Kv) {
    return name.substr(0, name.find('['));
  }
  size_t end = name.find_last_not_of("0123456789");
  bool numbered = end + 1 < name.size() && end > 0 && name[end] == '.';
  return numbered ? name.substr(0, end) : name;
}

void addLasting(const Machine &machine,
                std::span<const Program *const> programs, SramItems &items) {
  std::map<std::pair<RegionKind, std::string>, Bytes> sums;
  for (const Program *program : programs) {
    for (const SramRegion &r : program->regions) {
      bool text = r.kind == RegionKind::Instructions;
      if (text ||
          (r.kind != RegionKind::Temporary && program == programs.front())) {
        sums[{r.kind, tensorOf(r)}] += r.bytes(machine.lanes);
      }
    }
  }
  for (auto &[key, bytes] : sums) {
    items.lasting.push_back({key.second, key.first, bytes});
  }
  std::ranges::sort(items.lasting, {}, [](const SramItem &item) {
    return std::tuple(-item.bytes, item.name, item.kind);
  });
}

/// Addresses of one (slice, bank), each counted once: the first owner's.
class BankCells {
public:
  explicit BankCells(const Machine &machine)
      : depth(size_t(machine.sram.vectorsPerBank)), taken(depth, false) {}

  /// How many of the region's addresses nobody had.
  int64_t claim(const SramRegion &region) {
    int64_t fresh = 0;
    for (size_t at = region.base; at < region.base + region.length; ++at) {
      fresh += !taken[at];
      taken[at] = true;
    }
    return fresh;
  }

private:
  size_t depth;
  std::vector<bool> taken;
};

/// The banks of both kinds of slices, all free.
std::vector<BankUse> freeBanks(const Machine &machine,
                               const ChipLayout &layout) {
  std::vector<BankUse> out;
  for (bool data : {false, true}) {
    int32_t slices =
        2 * (data ? layout.dataSlices
                  : layout.slicesPerHemisphere - layout.dataSlices);
    for (int32_t bank = 0; bank < machine.sram.banks; ++bank) {
      out.push_back(
          {data, bank, slices, {}, Bytes(slices) * machine.bankBytes()});
    }
  }
  return out;
}

void addBanks(const Machine &machine, std::span<const Program *const> programs,
              SramItems &items) {
  ChipLayout layout(machine);
  int32_t banks = machine.sram.banks;
  items.banks = freeBanks(machine, layout);
  std::vector<BankCells> cells(size_t(machine.geometry().slices() * banks),
                               BankCells(machine));
  auto claim = [&](const SramRegion &r, int32_t slice) {
    int32_t first = layout.dataFirst(layout.sideOfSlice(slice));
    bool data = slice >= first && slice < first + layout.dataSlices;
    Bytes bytes =
        cells[size_t(slice * banks + r.bank)].claim(r) * machine.lanes;
    BankUse &use = items.banks[size_t((data ? banks : 0) + r.bank)];
    use.bytes[size_t(r.kind)] += bytes;
    use.free -= bytes;
  };
  for (const Program *program : programs) {
    for (const SramRegion &r : program->regions) {
      for (int32_t slice = r.slice; slice < r.slice + r.width; ++slice) {
        claim(r, slice);
      }
    }
  }
  items.temporaryBytes = items.used(false, RegionKind::Temporary) +
                         items.used(true, RegionKind::Temporary);
}

/// Least and greatest address a write reaches, without a dynamic term.
std::pair<int64_t, int64_t> reach(const AddressPattern &address) {
  int64_t low = address.base, high = address.base;
  for (size_t k = 0; k < 3; ++k) {
    int64_t far = int64_t(address.step[k]) * (int64_t(address.extent[k]) - 1);
    (far < 0 ? low : high) += far;
  }
  return {low, high};
}

bool writesTo(const WriteOp &op, const SramRegion &r) {
  auto [low, high] = reach(op.address);
  return op.bank == r.bank && op.slice < r.slice + r.width &&
         r.slice < op.slice + op.width && low < int64_t(r.base + r.length) &&
         high >= int64_t(r.base);
}

/// The op that first writes to a temporary while it lives.
std::string writerOf(const Program &program, const SramRegion &region,
                     Tick skew) {
  auto from = std::ranges::lower_bound(program.instructions, region.born - skew,
                                       {}, &Instruction::tick);
  for (; from != program.instructions.end() && from->tick < region.dies + skew;
       ++from) {
    auto *op = std::get_if<WriteOp>(&from->operation);
    if (op && op->address.dynamic == Dynamic::None && writesTo(*op, region)) {
      return program.locations[from->location];
    }
  }
  return "?";
}

/// The tick from which on most bytes hold a value, and how many.
std::pair<Tick, Bytes> mostLive(const Machine &machine,
                                const Program &program) {
  // Those that die at a tick go before those that are born then.
  std::vector<std::pair<Tick, Bytes>> changes;
  for (const SramRegion &r : program.regions) {
    if (r.kind == RegionKind::Temporary && r.dies > r.born) {
      changes.push_back({r.born, r.bytes(machine.lanes)});
      changes.push_back({r.dies, -r.bytes(machine.lanes)});
    }
  }
  std::ranges::sort(changes);
  std::pair<Tick, Bytes> most = {0, 0};
  Bytes now = 0;
  for (auto [tick, bytes] : changes) {
    now += bytes;
    if (now > most.second) {
      most = {tick, now};
    }
  }
  return most;
}

std::vector<LiveItem> liveAt(const Machine &machine, const Program &program,
                             Tick tick) {
  std::map<std::string, Bytes> ops;
  for (const SramRegion &r : program.regions) {
    if (r.kind == RegionKind::Temporary && r.born <= tick && tick < r.dies) {
      // A wide write's own tick is that of its first slice.
      ops[writerOf(program, r, machine.geometry().slices())] +=
          r.bytes(machine.lanes);
    }
  }
  std::vector<LiveItem> out;
  for (auto &[op, bytes] : ops) {
    out.push_back({op, bytes});
  }
  std::ranges::sort(out, {}, [](const LiveItem &item) {
    return std::pair(-item.bytes, item.op);
  });
  return out;
}

} // namespace

SramItems sramItems(const Machine &machine,
                    std::span<const Program *const> programs) {
  SramItems items;
  addLasting(machine, programs, items);
  addBanks(machine, programs, items);
  for (size_t p = 0; p < programs.size(); ++p) {
    auto [tick, bytes] = mostLive(machine, *programs[p]);
    if (bytes > items.liveBytes) {
      items.liveBytes = bytes;
      items.liveTick = tick;
      items.liveProgram = p;
    }
  }
  items.live = liveAt(machine, *programs[items.liveProgram], items.liveTick);
  return items;
}

int64_t cachesByBytes(const SramItems &part) {
  Bytes each = part.used(true, RegionKind::Kv);
  return each > 0 ? 1 + part.free(true) / each : -1;
}

} // namespace orrery::runtime
