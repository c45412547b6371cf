// Bytes and ticks of any run of a model's sections, each costed once. How runs
// are dealt to stages: DealStages.h.
#pragma once

#include "compiler/partition/Partition.h"

namespace orrery::partition {

/// Where stages may end.
enum class Cuts : uint8_t {
  Sublayers, ///< behind an attention or a feed-forward network
  Sections   ///< also between the two halves of a feed-forward network
};

/// Consecutive pieces of a model, as its cuts make them.
struct Run {
  int64_t first = 0, count = 0;
  int64_t end() const { return first + count; }
  bool operator==(const Run &) const = default;
};

class StageCosts {
public:
  StageCosts(const Machine &machine, const StepShape &shape, int64_t tp,
             bool ring, Products products = Products::Chosen);

  /// What stages are dealt.
  int64_t pieces(Cuts cuts) const;
  /// One of each piece, and one of the head alone.
  int64_t mostStages(Cuts cuts) const { return pieces(cuts) + 1; }
  /// A stage of these pieces, `users` KV caches each; one that starts at piece
  /// 0 has the embedding, the last one the head.
  StagePlan stage(Run run, bool last, int64_t users, Cuts cuts) const;
  /// Room that a stage lacks; 0: none.
  Bytes lack(const StagePlan &plan) const {
    return room.shortageOf(plan.bytes).bytes();
  }
  /// The first run of the same sections among layers that are all alike: of
  /// the same bytes and, but for embedding and head, the same ticks.
  Run likeOf(Run run, Cuts cuts) const;
  Tick embeddingTicks() const { return embedding.total(); }
  /// No deal takes less in a ring, in which each of a layer's two products of
  /// shards takes a crossing for each further rank.
  static Tick leastTicksInRing(const Machine &machine, const StepShape &shape,
                               int64_t tp) {
    return 2 * Tick(shape.layers.size()) * (tp - 1) * machine.link.latency;
  }
  /// No deal of the whole model takes less.
  Tick leastTicks() const {
    return embedding.total() + ticksBefore.back().total() + head.total();
  }

private:
  /// The section that piece `k` begins with.
  static int64_t beginOf(int64_t k, Cuts cuts);

  const Machine &machine;
  ChipRoom room;
  int64_t sections;
  // Sums over sections [0, i).
  std::vector<StageBytes> bytesBefore;
  std::vector<StageTicks> ticksBefore;
  std::vector<StageTicks> between; ///< behind section i
  /// Of each layer: of the layers around it that are alike, the first and the
  /// one behind the last.
  std::vector<std::pair<int64_t, int64_t>> alike;
  StageBytes fixedBytes, headBytes;
  StageTicks embedding, head;
};

} // namespace orrery::partition
