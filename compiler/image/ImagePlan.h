// What the host must put into SRAM before the first step, and doing it.
//
// A plan is read off a placed flow.program; it is the same for every program
// of a set, because what lasts is placed first and in the same order.
#pragma once

#include "compiler/lower/AxisLayout.h"
#include "dialects/flow/Flow.h"
#include "machine/Machine.h"
#include "machine/SramImage.h"
#include "models/WeightSource.h"

#include <span>
#include <string>
#include <vector>

namespace orrery {

/// Tiles of lanes [low, low + rowsPerTile) of output vectors first, first + 1,
/// … of a weight matrix.
struct TileFill {
  std::string tensor;
  flow::PlaceAttr place;
  AxisLayout rows, columns;
  WeightFormat format;
  uint32_t tiles, rowsPerTile, width, first, low;
  /// Rows of the whole matrix, of which `rows` is the share of one rank in
  /// `replicas`; 0: all of them.
  uint32_t shardOf = 0, replicas = 1;
  /// Columns of the whole matrix, of which `columns` is the share of one rank;
  /// 0: all of them.
  uint32_t columnsOf = 0;
  /// The rows are those of the rank `behind` before the own one of `ofRanks`.
  uint32_t behind = 0, ofRanks = 1;
};
/// An f32 table: a vector of the model, or what the greedy choice over the
/// shards of a vocabulary needs (argmax.base, argmax.mask).
struct TableFill {
  std::string tensor;
  flow::PlaceAttr place;
  AxisLayout rows;
  uint32_t vectors;
  uint32_t shardOf = 0;
};
/// Rows that the host sends, one a token: embeddings, or the cosines or signed
/// sines of the token's position.
struct HostRows {
  enum class Kind : uint8_t { Embedding, Cosine, Sine };
  Kind kind;
  AxisLayout rows;
  double ropeTheta = 0;
  int32_t ropeDim = 0;
  bool ropeHalf = false;
};

/// Whose image it is: the chip's rank in its tensor-parallel group, and how
/// many layers its stage lies behind the one the plan was made for.
struct ChipShare {
  int32_t rank = 0;
  int64_t layers = 0;
};

struct ImagePlan {
  std::vector<TileFill> tiles;
  std::vector<TableFill> tables;
  std::vector<HostRows> host; ///< in the order in which they are sent
};

/// The plan of a placed program.
ImagePlan imagePlan(flow::ProgramOp program, const Machine &machine);

/// Fills the image of one chip. Fails for a weight that the source does not
/// have, or has in another shape or format than the plan was made for.
Status fillImage(const ImagePlan &plan, const Machine &machine,
                 const models::WeightSource &weights, SramImage &image,
                 ChipShare share = {});

/// What the host sends to the chip of a rank for a step of `tokens` tokens, the
/// first at `position`: [vectors][lanes], in the order of `plan.host`.
/// `embeddings` are the rows of the valid tokens, [valid][hidden]; the others
/// are zero.
std::vector<float> hostVectors(const ImagePlan &plan, int32_t lanes,
                               uint32_t tokens, uint32_t position,
                               std::span<const float> embeddings,
                               int32_t rank = 0);

/// "blk.3.attn_q.weight" as `layers` layers further on; other names as they
/// are.
std::string tensorOfLayer(const std::string &name, int64_t layers);

} // namespace orrery
