// The built-in GPUs, and files.
#include "gpu-reference/latency/Gpu.h"
#include "machine/DescriptionText.h"
#include "machine/WholeFile.h"

namespace orrery::gpu::latency {
namespace {

struct BuiltIn {
  const char *name;
  const char *json;
};
constexpr BuiltIn kGpus[] = {
#include "Gpus.inc"
};

} // namespace

std::vector<std::string> gpuNames() {
  std::vector<std::string> names;
  for (const BuiltIn &gpu : kGpus) {
    names.emplace_back(gpu.name);
  }
  return names;
}

Expected<Gpu> loadGpu(const std::string &nameOrPath) {
  std::string names;
  for (const BuiltIn &gpu : kGpus) {
    if (nameOrPath == gpu.name) {
      return parseGpu(gpu.json, nameOrPath);
    }
    names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  }
  auto bytes = readWholeFile(nameOrPath, description::kMaxBytes);
  if (!bytes) {
    return Error{"gpu `" + nameOrPath + "`: neither a known GPU (" + names +
                 ") nor a readable file: " + bytes.error().message};
  }
  std::string_view text(reinterpret_cast<const char *>(bytes->data()),
                        bytes->size());
  return parseGpu(text, nameOrPath);
}

} // namespace orrery::gpu::latency
