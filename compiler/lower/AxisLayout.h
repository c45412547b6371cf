// How the elements of a tensor axis lie in the lanes of vectors.
//
// Dense: element j * lanes + l in lane l of vector j.
//
// Heads: attention works on one KV head per *slot*, a run of lanes that holds
// head_dim elements and zeros up to a multiple of 32 (a block never straddles
// two heads). A vector has lanes / slot slots. KV vector v holds KV heads
// v * slots .. ; the query vector (v, g) holds, in slot k, the g-th query head
// of KV head v * slots + k, so that a query stands in the lanes of its keys.
//
// Gathered: the shards of `ranks` tensor-parallel ranks, each dense or heads.
// Place s is that of the rank s before the own one, so that the layout is the
// same on every rank. Vector j of a shard, of which `shardUsed(j)` lanes are in
// use, shares a vector with as many others of its number as fit: a vector of
// few lanes would cost the matrix unit as much as a full one.
#pragma once

#include "dialects/flow/Flow.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace orrery {

struct AxisLayout {
  int32_t elements = 0; ///< of the shard, where the axis is gathered
  int32_t lanes = 0;
  // Heads layout; 0 heads means dense. KV axes have heads == kvHeads.
  int32_t heads = 0, kvHeads = 0, headDim = 0;
  int32_t ranks = 1;
  int32_t total = 0; ///< gathered: elements of all shards but for padding

  static AxisLayout dense(int32_t elements, int32_t lanes) {
    return {elements, lanes};
  }
  static AxisLayout ofHeads(int32_t heads, int32_t kvHeads, int32_t headDim,
                            int32_t lanes) {
    return {heads * headDim, lanes, heads, kvHeads, headDim};
  }
  static AxisLayout of(flow::AxisAttr attr, int32_t lanes) {
    return {int32_t(attr.getElements()), lanes,
            int32_t(attr.getHeads()),    int32_t(attr.getKvHeads()),
            int32_t(attr.getHeadDim()),  int32_t(attr.getRanks()),
            int32_t(attr.getTotal())};
  }
  flow::AxisAttr attr(mlir::MLIRContext *context) const {
    return flow::AxisAttr::get(context, uint32_t(elements), uint32_t(heads),
                               uint32_t(kvHeads), uint32_t(headDim),
                               uint32_t(ranks), uint32_t(total));
  }
  AxisLayout gathered(int32_t ranks, int32_t total) const {
    AxisLayout out = *this;
    out.ranks = ranks;
    out.total = total;
    return out;
  }
  AxisLayout shard() const {
    AxisLayout out = *this;
    out.ranks = 1;
    out.total = 0;
    return out;
  }

  bool operator==(const AxisLayout &) const = default;

  /// Elements of the tensor's axis.
  int32_t count() const { return ranks > 1 ? total : elements; }
  bool isDense() const { return heads == 0; }
  int32_t slot() const { return (headDim + 31) / 32 * 32; }
  /// KV heads that one vector holds.
  int32_t slots() const { return lanes / slot(); }
  /// Query heads of one KV head.
  int32_t group() const { return heads / kvHeads; }
  int32_t kvVectors() const { return (kvHeads + slots() - 1) / slots(); }
  /// KV heads in KV vector v.
  int32_t slotsIn(int32_t v) const {
    return std::min(slots(), kvHeads - v * slots());
  }

  int32_t shardVectors() const {
    return isDense() ? (elements + lanes - 1) / lanes : kvVectors() * group();
  }
  /// Lanes of a shard's vector j that hold elements or the padding of a slot.
  int32_t shardUsed(int32_t j) const {
    return isDense() ? std::min(lanes, elements - j * lanes)
                     : slotsIn(j / group()) * slot();
  }
  /// Shards whose vector j shares one vector.
  int32_t sharing(int32_t j) const {
    return ranks == 1 ? 1 : std::max(1, lanes / shardUsed(j));
  }

  /// Successive vectors of a shard that lie alike: vector first + i of the
  /// shard in place s is in lanes [lane(s), lane(s) + used) of vector
  /// base + i * step + s / sharing.
  struct Run {
    int32_t first, count, used, sharing, base, step;
    int32_t vector(int32_t place) const { return base + place / sharing; }
    int32_t lane(int32_t place) const { return place % sharing * used; }
  };
  std::vector<Run> runs() const {
    std::vector<Run> out;
    int32_t base = 0;
    for (int32_t j = 0; j < shardVectors(); ++j) {
      int32_t used = shardUsed(j), shared = sharing(j);
      int32_t step = (ranks + shared - 1) / shared;
      if (!out.empty() && out.back().used == used) {
        ++out.back().count;
      } else {
        out.push_back({j, 1, used, shared, base, step});
      }
      base += step;
    }
    return out;
  }
  int32_t vectors() const {
    Run last = runs().back();
    return last.base + last.count * last.step;
  }
  /// Lanes of vector j that hold elements or the padding of a slot.
  int32_t used(int32_t j) const {
    if (ranks == 1) {
      return shardUsed(j);
    }
    auto [run, place, i] = find(j);
    return std::min(run.sharing, ranks - place) * run.used;
  }

  /// The element of the tensor's axis in a lane, or -1 for padding; gathered:
  /// on rank `rank`.
  int32_t source(int32_t j, int32_t lane, int32_t rank = 0) const {
    if (ranks == 1) {
      return shardSource(j, lane);
    }
    auto [run, first, i] = find(j);
    int32_t place = first + lane / run.used;
    if (lane / run.used >= run.sharing || place >= ranks) {
      return -1;
    }
    int32_t own = shardSource(run.first + i, lane % run.used);
    int32_t element = (rank - place + ranks) % ranks * elements + own;
    return own < 0 || element >= total ? -1 : element;
  }

private:
  struct Found {
    Run run;
    int32_t place; ///< the first in this vector
    int32_t i;     ///< of the run
  };
  Found find(int32_t j) const {
    for (const Run &run : runs()) {
      if (j < run.base + run.count * run.step) {
        int32_t at = j - run.base;
        return {run, at % run.step * run.sharing, at / run.step};
      }
    }
    return {};
  }
  int32_t shardSource(int32_t j, int32_t lane) const {
    if (isDense()) {
      int32_t element = j * lanes + lane;
      return element < elements ? element : -1;
    }
    int32_t k = lane / slot(), d = lane % slot();
    int32_t kv = j / group() * slots() + k;
    if (k >= slots() || kv >= kvHeads || d >= headDim) {
      return -1;
    }
    return (kv * group() + j % group()) * headDim + d;
  }
};

} // namespace orrery
