// Checks what is asked for, and hands over to one of the two builds of the
// kernels.
#include "gpu-reference/Reference.h"

#include "gpu-reference/Backends.h"
#include "models/NotModelled.h"

#include <algorithm>

namespace orrery::gpu {

static Status checkNumbers(const models::ModelConfig &config,
                           const ReferenceOptions &options) {
  const auto range = [&](const char *what, int64_t value, int64_t most) {
    return value >= 1 && value <= most
               ? Status(Success())
               : Status(Error{config.name + ": expected 1 to " +
                              std::to_string(most) + " " + what + ", found " +
                              std::to_string(value)});
  };
  // Positions are counted in 32 bits, and rows in fewer (Fault.h).
  constexpr int64_t kMostPositions = int64_t(1) << 30;
  constexpr int64_t kMostTokens = int64_t(1) << 16;
  if (Status ok = range("layers", options.layers, config.layers); !ok) {
    return ok;
  }
  if (Status ok = range("positions", options.context, kMostPositions); !ok) {
    return ok;
  }
  if (Status ok = range("positions a page", options.pagePositions, kMostTokens);
      !ok) {
    return ok;
  }
  if (Status ok = range("sequences a step", options.batch, kMostSequences);
      !ok) {
    return ok;
  }
  return range("tokens a step", options.chunk, kMostTokens);
}

static Status checkFormats(const models::ModelConfig &config,
                           const ReferenceOptions &options) {
  const std::vector<models::TensorShape> tensors =
      models::expectedTensors(config);
  for (const auto &[name, format] : options.tensorFormats) {
    const bool known = std::ranges::any_of(
        tensors, [&name = name](const models::TensorShape &tensor) {
          return tensor.name == name;
        });
    if (!known) {
      return Error{config.name + ": no tensor is called " + name};
    }
  }
  return Success();
}

static std::string textOf(const models::KvLayout &layout) {
  return std::to_string(layout.layers) + " layers, " +
         std::to_string(layout.kvHeads) + " KV heads of " +
         std::to_string(layout.headDim) + " elements of " +
         std::to_string(layout.bits()) + " bits";
}

/// Pages for the model, or a check that those given are.
static Status providePages(const models::ModelConfig &config,
                           ReferenceOptions &options) {
  if (options.pages) {
    options.pagePositions = options.pages->layout().pagePositions;
  }
  const models::KvLayout layout =
      models::kvLayout(config, options.kv, options.pagePositions);
  if (options.pages) {
    return options.pages->layout() == layout
               ? Status(Success())
               : Status(Error{config.name + ": expected KV pages of " +
                              textOf(layout) + ", found those of " +
                              textOf(options.pages->layout())});
  }
  const int64_t ofSequence =
      (options.context + options.pagePositions - 1) / options.pagePositions;
  auto made = models::KvPages::create(layout, options.batch * ofSequence);
  if (!made) {
    return made.error();
  }
  options.pages = std::make_shared<models::KvPages>(std::move(*made));
  return Success();
}

static Expected<ReferencePlan> planOf(const models::ModelConfig &config,
                                      ReferenceOptions options) {
  if (Status ok = models::verifyConfig(config); !ok) {
    return ok.error();
  }
  if (Status ok = models::verifyCompiled(config); !ok) {
    return ok.error();
  }
  options.context = options.context ? options.context : config.contextLength;
  options.layers = options.layers ? options.layers : config.layers;
  options.chunk = std::min(options.chunk, options.context);
  if (Status ok = checkFormats(config, options); !ok) {
    return ok.error();
  }
  if (Status ok = checkNumbers(config, options); !ok) {
    return ok.error();
  }
  ReferencePlan plan{config, std::move(options)};
  plan.config.layers = plan.options.layers;
  if (Status ok = providePages(plan.config, plan.options); !ok) {
    return ok.error();
  }
  return plan;
}

Expected<std::unique_ptr<Reference>>
Reference::open(const models::WeightSource &weights,
                const ReferenceOptions &options, Backend backend) {
  const Expected<ReferencePlan> plan = planOf(weights.config(), options);
  if (!plan) {
    return plan.error();
  }
  if (backend == Backend::Emulated) {
    return emulated::openReference(weights, *plan);
  }
  if (Expected<DeviceInfo> device = findDevice(); !device) {
    return device.error();
  }
#ifdef ORRERY_GPU_DEVICE
  return device::openReference(weights, *plan);
#else
  return Error{"built without CUDA"};
#endif
}

Expected<DeviceInfo> findDevice() {
#ifdef ORRERY_GPU_DEVICE
  return device::findDevice();
#else
  return Error{"no GPU: built without CUDA (CMake found no nvcc)"};
#endif
}

std::string backendText(Backend backend) {
  if (backend == Backend::Emulated) {
    return "emulated on the host";
  }
  const Expected<DeviceInfo> device = findDevice();
  return device ? device->name : "no device";
}

} // namespace orrery::gpu
