// How the elements of a tensor axis lie in the lanes of vectors.
//
// Dense: element j * lanes + l in lane l of vector j.
//
// Heads: attention works on one KV head per *slot*, a run of lanes that holds
// head_dim elements and zeros up to a multiple of 32 (a block never straddles
// two heads). A vector has lanes / slot slots. KV vector v holds KV heads
// v * slots .. ; the query vector (v, g) holds, in slot k, the g-th query head
// of KV head v * slots + k, so that a query stands in the lanes of its keys.
#pragma once

#include "dialects/flow/Flow.h"

#include <algorithm>
#include <cstdint>

namespace orrery {

struct AxisLayout {
  int32_t elements = 0;
  int32_t lanes = 0;
  // Heads layout; 0 heads means dense. KV axes have heads == kvHeads.
  int32_t heads = 0, kvHeads = 0, headDim = 0;

  static AxisLayout dense(int32_t elements, int32_t lanes) {
    return {elements, lanes};
  }
  static AxisLayout ofHeads(int32_t heads, int32_t kvHeads, int32_t headDim,
                            int32_t lanes) {
    return {heads * headDim, lanes, heads, kvHeads, headDim};
  }
  static AxisLayout of(flow::AxisAttr attr, int32_t lanes) {
    return {int32_t(attr.getElements()), lanes, int32_t(attr.getHeads()),
            int32_t(attr.getKvHeads()), int32_t(attr.getHeadDim())};
  }
  flow::AxisAttr attr(mlir::MLIRContext *context) const {
    return flow::AxisAttr::get(context, uint32_t(elements), uint32_t(heads),
                               uint32_t(kvHeads), uint32_t(headDim));
  }

  bool operator==(const AxisLayout &) const = default;

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
  int32_t vectors() const {
    return isDense() ? (elements + lanes - 1) / lanes : kvVectors() * group();
  }
  /// Lanes of vector j that hold elements or the padding of a slot.
  int32_t used(int32_t j) const {
    return isDense() ? std::min(lanes, elements - j * lanes)
                     : slotsIn(j / group()) * slot();
  }
  /// The element in a lane, or -1 for padding.
  int32_t source(int32_t j, int32_t lane) const {
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
