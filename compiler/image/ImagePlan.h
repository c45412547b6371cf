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
};
/// An f32 table: a vector of the model, or a RoPE table.
struct TableFill {
  std::string tensor;
  flow::PlaceAttr place;
  AxisLayout rows;
  uint32_t vectors;
  double ropeTheta;
  int32_t ropeDim;
  bool ropeHalf;
};

struct ImagePlan {
  std::vector<TileFill> tiles;
  std::vector<TableFill> tables;
};

/// The plan of a placed program.
ImagePlan imagePlan(flow::ProgramOp program, const Machine &machine);

/// Fills an image. Fails for a weight that the source does not have, or has in
/// another shape or format than the plan was made for.
Status fillImage(const ImagePlan &plan, const Machine &machine,
                 const models::WeightSource &weights, SramImage &image);

} // namespace orrery
