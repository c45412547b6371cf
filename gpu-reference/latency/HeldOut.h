// The latency model beside published rates of whole models, and beside the
// kernel samples it comes from.
#pragma once

#include "gpu-reference/latency/Published.h"

#include <functional>
#include <string>
#include <vector>

namespace orrery::gpu::latency {

struct HeldOutRow {
  PublishedRow published;
  double modelUs = 0;
  /// Of the model's step time over the published one, less 1.
  double error() const { return modelUs / published.usPerStep - 1; }
  bool heldOut() const { return published.apart.empty(); }
};

/// Every published row of a GPU, modelled. `usualStructure`: as if every engine
/// were laid out alike.
Expected<std::vector<HeldOutRow>> heldOutRows(bool usualStructure = false);

/// Of the rows' absolute errors; `among` none: -1.
double medianError(const std::vector<HeldOutRow> &rows,
                   const std::function<bool(const HeldOutRow &)> &among);

/// The table: every row with its error, those apart with the reason, medians.
std::string heldOutText(const std::vector<HeldOutRow> &rows,
                        const std::vector<HeldOutRow> &usual);

/// How well the fits give back the samples of products, a GPU and batch a line.
Expected<std::string> sampleText();
/// The median absolute error over a GPU's samples at one batch.
double sampleError(const Gpu &gpu, int64_t batch);

} // namespace orrery::gpu::latency
