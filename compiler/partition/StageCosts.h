// Bytes and ticks of any run of a model's sections, each costed once.
#pragma once

#include "compiler/partition/Partition.h"

namespace orrery::partition {

/// Where stages may end.
enum class Cuts : uint8_t {
  Sublayers, ///< behind an attention or a feed-forward network
  Sections   ///< also between the two halves of a feed-forward network
};

class StageCosts {
public:
  StageCosts(const Machine &machine, const StepShape &shape, int64_t tp,
             bool ring, Products products = Products::Chosen);

  /// The model dealt to `pp` stages, 1 .. mostStages(cuts); KV caches for
  /// `users`.
  Deal deal(int64_t pp, int64_t users, Cuts cuts) const;
  /// One of each piece between cuts, and one of the head alone.
  int64_t mostStages(Cuts cuts) const;
  /// Fewer have not the bytes, whatever goes where.
  int64_t leastStages() const;

private:
  StagePlan stage(int64_t first, int64_t count, bool last, int64_t users) const;
  Deal dealWithLast(int64_t pp, int64_t last, int64_t users, Cuts cuts) const;
  /// Pieces of the model, and the section that piece `k` begins with.
  int64_t pieces(Cuts cuts) const;
  static int64_t beginOf(int64_t k, Cuts cuts);

  const Machine &machine;
  int64_t sections;
  // Sums over sections [0, i).
  std::vector<StageBytes> bytesBefore;
  std::vector<StageTicks> ticksBefore;
  std::vector<StageTicks> between; ///< behind section i
  StageBytes fixedBytes, headBytes;
  StageTicks embedding, head;
};

} // namespace orrery::partition
