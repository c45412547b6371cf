// The page tables of a step's sequences in device memory, row by row: copied
// there when they are not what is there already. At fixed addresses, so that a
// recorded step finds those of whatever sequences it is replayed for.
#pragma once

#include "gpu-reference/Buffer.h"
#include "models/KvPages.h"

#include <algorithm>
#include <span>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

class PageTables {
public:
  /// Room for `sequences` tables of `entries` pages.
  static Expected<PageTables> allocate(int64_t sequences, int64_t entries) {
    PageTables tables;
    tables.entries = entries;
    tables.shown.assign(size_t(sequences * entries), 0);
    Expected<Buffer<int32_t>> made =
        Buffer<int32_t>::copyOf(tables.shown, "the KV page tables");
    if (!made) {
      return made.error();
    }
    tables.buffer = std::move(*made);
    return Expected<PageTables>(std::move(tables));
  }

  /// Row i is the table of sequences[i]. No step may be under way.
  Status show(const models::KvPages &pages,
              std::span<const models::KvPages::Sequence> sequences) {
    bool changed = false;
    for (size_t row = 0; row < sequences.size(); ++row) {
      // A sequence may have been given more pages than steps read.
      const auto given = pages.table(sequences[row]);
      const auto table = given.first(std::min(given.size(), size_t(entries)));
      const auto place = shown.begin() + int64_t(row) * entries;
      changed |= !std::equal(table.begin(), table.end(), place);
      std::ranges::copy(table, place);
    }
    if (!changed) {
      return Success();
    }
    if (Status ok = buffer.upload(std::span<const int32_t>(shown)); !ok) {
      shown.assign(shown.size(), -1); // what is there now is not known
      return Error{"the KV page tables: " + ok.error().message};
    }
    // Steps run on a stream that does not wait for such copies.
    return cudaStatus(cudaDeviceSynchronize(),
                      "cudaDeviceSynchronize behind the KV page tables");
  }

  const int32_t *data() const { return buffer.data(); }
  /// From one row to the next.
  int32_t stride() const { return int32_t(entries); }
  size_t bytes() const { return buffer.bytes(); }

private:
  int64_t entries = 0;
  std::vector<int32_t> shown; ///< what the device has
  Buffer<int32_t> buffer;
};

} // namespace orrery::gpu::ORRERY_GPU
