// Where the predicted ticks of a step go, by what they are spent on and by
// layer.
//
// Each tick counts once, as in TimeSpent.h: the ops of all stages are put in
// the order in which their last effects are there, and the ticks between two
// such ends belong to the later op. Here the ends are the compiler's own, which
// simulated ones equal (Receipt.h), so nothing need have run.
#pragma once

#include "compiler/Compile.h"

#include <array>
#include <string_view>
#include <vector>

namespace orrery::runtime {

enum class StepPart : uint8_t {
  Matrix,
  Attention,
  Vectors,
  Collectives,
  Hops,
  Host,
  Other
};
inline constexpr std::array<const char *, 7> kStepPartNames = {
    "weights (matrix unit)",
    "attention",
    "vector chains",
    "collectives (links)",
    "next stage (links)",
    "host link",
    "other"};

/// Of the ticks of a part, those in which something was under way on the chips
/// of its stage; for whichever op, so that these may overlap.
struct PartTicks {
  Tick ticks = 0;
  Tick installing = 0; ///< a plane takes weights, or keys or values
  Tick vectors = 0;    ///< the VXM takes vectors
  Tick crossing = 0;   ///< a link to another chip carries some

  PartTicks &operator+=(const PartTicks &other);
};

struct StepParts {
  static constexpr size_t kCount = kStepPartNames.size();
  Tick ticks = 0; ///< of the step
  std::array<PartTicks, kCount> step = {};
  /// By layer of the model; what is of no layer is in `step` alone.
  std::vector<std::array<Tick, kCount>> layers;

  /// Of all layers together.
  std::array<Tick, kCount> inLayers() const;
  bool addsUp() const;
};

StepParts stepParts(const CompiledStep &step, const Machine &machine);

/// What the op of a location's name is for. The ends of a pipeline stage are
/// links, but for the first stage's begin and the last stage's end.
StepPart partOf(std::string_view location, bool firstStage, bool lastStage);
/// "layer 3 attn_q" is 3; -1: of no layer.
int64_t layerOf(std::string_view location);

} // namespace orrery::runtime
