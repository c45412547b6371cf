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

/// What came to the comparison after a first look at its errors.
struct HeldOutTerms {
  bool layouts = true;     ///< of each engine; else all are laid out alike
  bool firstToken = true;  ///< its time is taken off a run's
  bool vectorBytes = true; ///< vector ops take longer for more bytes
};

/// Every published row of a GPU, modelled.
Expected<std::vector<HeldOutRow>> heldOutRows(const HeldOutTerms &terms = {});

/// Of the rows' absolute errors; `among` none: -1.
double medianError(const std::vector<HeldOutRow> &rows,
                   const std::function<bool(const HeldOutRow &)> &among);

/// The table: every row with its error, those apart with the reason, medians,
/// and those without each of HeldOutTerms.
Expected<std::string> heldOutText();

/// How well the fits give back the samples of products, a GPU and batch a line.
Expected<std::string> sampleText();
/// The median absolute error over a GPU's samples at one batch.
double sampleError(const Gpu &gpu, int64_t batch);

} // namespace orrery::gpu::latency
