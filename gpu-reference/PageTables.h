// The page tables of a step's sequences in device memory, row by row: copied
// there when they are not what is there already. At fixed addresses, so that a
// recorded step finds those of whatever sequences it is replayed for.
#pragma once

#include "gpu-reference/Buffer.h"
#include "models/KvPages.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace orrery::gpu::ORRERY_GPU {

class PageTables {
public:
  /// Room for `sequences` tables of `entries` pages.
  static Expected<PageTables> allocate(int64_t sequences, int64_t entries) {
    PageTables tables;
    tables.entries = entries;
    const auto count = size_t(sequences * entries);
    // The device's first: it has an error for sizes that are out of reach.
    Expected<Buffer<int32_t>> made =
        Buffer<int32_t>::allocate(count, "the KV page tables");
    if (!made) {
      return made.error();
    }
    tables.buffer = std::move(*made);
    tables.shown.assign(count, 0);
    if (Status ok = tables.copy(0, count); !ok) {
      return ok.error();
    }
    return Expected<PageTables>(std::move(tables));
  }

  /// Row i is the table of sequences[i]. No step may be under way.
  Status show(const models::KvPages &pages,
              std::span<const models::KvPages::Sequence> sequences) {
    // From the first entry that changes to behind the last: one copy.
    size_t first = shown.size(), end = 0;
    for (size_t row = 0; row < sequences.size(); ++row) {
      // A sequence may have been given more pages than steps read.
      const auto given = pages.table(sequences[row]);
      const auto table = given.first(std::min(given.size(), size_t(entries)));
      const size_t start = row * size_t(entries);
      for (size_t i = 0; i < table.size(); ++i) {
        if (shown[start + i] != table[i]) {
          shown[start + i] = table[i];
          first = std::min(first, start + i);
          end = start + i + 1;
        }
      }
    }
    if (end == 0) {
      return Success();
    }
    const Status copied = copy(first, end);
    if (!copied) {
      shown.assign(shown.size(), kUnknown);
    }
    return copied;
  }

  const int32_t *data() const { return buffer.data(); }
  /// From one row to the next.
  int32_t stride() const { return int32_t(entries); }
  size_t bytes() const { return buffer.bytes(); }

private:
  /// Entries first .. end-1 of `shown`.
  Status copy(size_t first, size_t end) {
    const auto changed = std::span(std::as_const(shown)).subspan(first);
    if (Status ok = buffer.upload(changed.first(end - first), first); !ok) {
      return Error{"the KV page tables: " + ok.error().message};
    }
    // Steps run on a stream that does not wait for such copies.
    return cudaStatus(cudaDeviceSynchronize(),
                      "cudaDeviceSynchronize behind the KV page tables");
  }

  static constexpr int32_t kUnknown = -1; ///< no page: to be copied again
  int64_t entries = 0;
  std::vector<int32_t> shown; ///< what the device has, as far as is known
  Buffer<int32_t> buffer;
};

} // namespace orrery::gpu::ORRERY_GPU
