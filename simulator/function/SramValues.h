// The bytes of the slices in time: reads and writes of one slice happen in the
// order of their own cycles, vector by vector, however long their bursts are.
#pragma once

#include "machine/SramImage.h"
#include "simulator/function/BufferPool.h"
#include "simulator/function/BurstValues.h"
#include "simulator/timing/MemAccess.h"

#include <vector>

namespace orrery::sim {

class SramValues;

/// What a read puts on its streams. Memory that is never written is not
/// copied: the bytes of the image are the values.
class ReadValues final : public BurstValues {
public:
  ReadValues(SramValues &sram, const MemAccess &access, bool constant);

  void require(uint64_t vector, uint32_t stream) override;
  const uint8_t *plane(uint64_t vector, uint32_t stream) const override;
  const ReadValues *asRead() const override { return this; }

  bool isConstant() const { return constant; }
  const MemAccess &memory() const { return access; }

private:
  friend class SramValues;
  void copy(uint64_t vector, uint32_t k);

  SramValues &sram;
  MemAccess access;
  bool constant;
  std::vector<uint64_t> done; ///< vectors copied, by slice of the range
  Buffer copies;              ///< [vector][slice of the range][lane]
};

class SramValues {
public:
  SramValues(SramImage &image, BufferPool &pool, int32_t lanes, int32_t slices)
      : image(image), pool(pool), lanes(lanes), pending(size_t(slices)) {}

  std::shared_ptr<ReadValues> read(const MemAccess &access, bool constant);
  void write(const MemAccess &access, Operands operands);

  /// Lets everything happen that slice `slice` does up to cycle `tick`.
  void advance(int32_t slice, Tick tick);
  /// Lets the access happen whose last cycle has come.
  void finish(const MemAccess &access);

private:
  friend class ReadValues;
  struct Writer {
    MemAccess access;
    Operands operands;
  };
  /// A burst on one slice that has not all happened yet.
  struct Pending {
    std::shared_ptr<ReadValues> reader; ///< or
    std::shared_ptr<const Writer> writer;
    uint32_t k; ///< which slice of the range
    BurstTicks ticks;
    Tick due;          ///< of vector `next`
    uint64_t next = 0; ///< < ticks.count()
  };
  void apply(const Pending &p);
  /// Lets vectors of `p` happen that are due up to `tick`; true if all have.
  bool proceed(Pending &p, Tick tick);

  SramImage &image;
  BufferPool &pool;
  int32_t lanes;
  std::vector<std::vector<Pending>> pending; ///< by slice
};

} // namespace orrery::sim
