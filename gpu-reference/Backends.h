// What each of the two builds of the kernels offers to plain C++. Defined in
// Decoder*.cu and Device.cu, which are compiled into both namespaces.
#pragma once

#include "gpu-reference/Reference.h"

namespace orrery::gpu {

/// A model and options that have been checked, numbers in the place of zeros,
/// pages in the place of none.
struct ReferencePlan {
  models::ModelConfig config; ///< its layers are those that are kept
  ReferenceOptions options;

  StoredFormat formatOf(const std::string &tensor) const {
    auto found = options.tensorFormats.find(tensor);
    return found == options.tensorFormats.end() ? options.weights
                                                : found->second;
  }
};

namespace emulated {
Expected<std::unique_ptr<Reference>>
openReference(const models::WeightSource &weights, const ReferencePlan &plan);
} // namespace emulated

/// Only linked where the build found CUDA.
namespace device {
Expected<std::unique_ptr<Reference>>
openReference(const models::WeightSource &weights, const ReferencePlan &plan);
Expected<DeviceInfo> findDevice();
} // namespace device

} // namespace orrery::gpu
