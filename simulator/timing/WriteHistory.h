// When each address of SRAM was last written: a read comes `write` ticks after
// it at the earliest, and a temporary is written before it is read.
#pragma once

#include "simulator/timing/MemAccess.h"
#include "simulator/timing/RegionMap.h"

#include <array>
#include <memory>
#include <vector>

namespace orrery::sim {

class WriteHistory {
public:
  explicit WriteHistory(const Machine &machine);

  /// Forgets what earlier steps wrote; `regions` names this step's.
  void beginStep(const RegionMap &regions);

  /// Checks a read of mutable memory against the writes known so far. True
  /// when some vector is not written yet and may still be: then
  /// `checkAgain(access)` decides when the burst is over.
  bool read(const MemAccess &access, uint32_t region, Tick now);
  void checkAgain(const MemAccess &access, uint32_t region) const;
  /// Records a write and checks it against the reads that are under way.
  void wrote(const MemAccess &access, uint32_t region, Tick now);

private:
  static constexpr Tick kNever = INT64_MIN / 2;
  /// Ticks on the clock of all steps. A burst may write an address more than
  /// once (lane by lane): `first` to `last` are of the latest such burst.
  struct Stamp {
    Tick first = kNever, last = kNever, previous = kNever;
    uint32_t instruction = 0, region = 0, previousRegion = 0;
  };
  /// The stamps of a bank, in pages that are made when written: a timing-only
  /// run of many chips has no room for all of each.
  class Bank {
  public:
    Stamp read(int64_t address) const {
      size_t page = size_t(address) / kPage;
      return page < pages.size() && pages[page]
                 ? (*pages[page])[size_t(address) % kPage]
                 : Stamp();
    }
    Stamp &write(int64_t address) {
      size_t page = size_t(address) / kPage;
      if (page >= pages.size()) {
        pages.resize(page + 1);
      }
      if (!pages[page]) {
        pages[page] = std::make_unique<Page>();
      }
      return (*pages[page])[size_t(address) % kPage];
    }

  private:
    static constexpr size_t kPage = 64;
    using Page = std::array<Stamp, kPage>;
    std::vector<std::unique_ptr<Page>> pages;
  };
  struct PendingRead {
    MemAccess access;
    uint32_t k; ///< which slice of the access
  };
  enum class State { Valid, TooSoon, NotWritten, Foreign };

  size_t index(int32_t slice, int32_t bank) const {
    return size_t(slice) * size_t(banks) + size_t(bank);
  }
  State stateAt(int32_t slice, int32_t bank, int64_t address, Tick tick,
                uint32_t region, bool temporary) const;
  void checkReader(const MemAccess &write, uint32_t k,
                   const PendingRead &reader) const;
  void put(Stamp &stamp, Tick tick, uint32_t instruction,
           uint32_t region) const;
  [[noreturn]] void fail(State state, int32_t slice, int64_t address, Tick tick,
                         uint32_t region, int32_t bank) const;

  int32_t banks;
  Tick latency;
  Tick origin = 0; ///< of this step, on a clock that runs through all steps
  Tick latest = 0; ///< latest stamp so far, on that clock
  const RegionMap *regions = nullptr;
  std::vector<Bank> stamps;                      ///< by index()
  std::vector<Tick> lastWrite;                   ///< by index(), on the clock
  std::vector<std::vector<PendingRead>> pending; ///< by slice
};

} // namespace orrery::sim
