// What the host sends with a step: embeddings, and the RoPE rows of positions.
#include "compiler/image/ImagePlan.h"

#include "machine/numerics.h"

namespace orrery {

// An element of a head: the cosine or the signed sine of its pair; elements
// that do not turn have 1 and 0.
static float ropeEntry(const HostRows &rows, const numerics::RopeTable &row,
                       int32_t d) {
  bool cosine = rows.kind == HostRows::Kind::Cosine;
  if (d >= rows.ropeDim) {
    return cosine ? 1.0f : 0.0f;
  }
  int32_t half = rows.ropeDim / 2;
  int32_t pair = rows.ropeHalf ? d % half : d / 2;
  bool first = rows.ropeHalf ? d < half : d % 2 == 0;
  float sine = row.sin[size_t(pair)];
  return cosine ? row.cos[size_t(pair)] : first ? -sine : sine;
}

static void appendRope(const HostRows &rows, int32_t lanes, uint32_t tokens,
                       uint32_t position, std::vector<float> &out) {
  const AxisLayout &axis = rows.rows;
  auto frequencies = numerics::ropeFrequencies(rows.ropeDim, rows.ropeTheta);
  for (uint32_t t = 0; t < tokens; ++t) {
    auto row = numerics::ropeTable(frequencies, int64_t(position) + t, 1);
    for (int32_t lane = 0; lane < lanes; ++lane) {
      int32_t d = lane % axis.slot();
      bool used = lane / axis.slot() < axis.slots() && d < axis.headDim;
      out.push_back(used ? ropeEntry(rows, row, d) : 0.0f);
    }
  }
}

static void appendEmbeddings(const AxisLayout &axis, int32_t lanes,
                             uint32_t tokens, std::span<const float> rows,
                             int32_t rank, std::vector<float> &out) {
  auto width = size_t(axis.count());
  for (uint32_t t = 0; t < tokens; ++t) {
    bool valid = (t + 1) * width <= rows.size();
    for (int32_t j = 0; j < axis.vectors(); ++j) {
      for (int32_t lane = 0; lane < lanes; ++lane) {
        int32_t from = valid ? axis.source(j, lane, rank) : -1;
        out.push_back(from < 0 ? 0.0f : rows[t * width + size_t(from)]);
      }
    }
  }
}

std::vector<float> hostVectors(const ImagePlan &plan, int32_t lanes,
                               uint32_t tokens, uint32_t position,
                               std::span<const float> embeddings,
                               int32_t rank) {
  std::vector<float> out;
  for (const HostRows &rows : plan.host) {
    if (rows.kind == HostRows::Kind::Embedding) {
      appendEmbeddings(rows.rows, lanes, tokens, embeddings, rank, out);
    } else {
      appendRope(rows, lanes, tokens, position, out);
    }
  }
  return out;
}

} // namespace orrery
