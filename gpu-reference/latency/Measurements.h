// What gpu-reference/measure wrote on a machine with a GPU: the reader of those
// files. Kept ones are in gpu-reference/measurements/ and built into the
// binaries; none is ever made up, so that there may be none.
//
//   {"device": "NVIDIA H200", "driver": "580.95", "date": "2026-11-29",
//    "memory_bytes": 150754820096,
//    "copy_bandwidth_bytes_per_s": 4.1e12,
//    "decode": [{"model": "llama-2-7b", "weights": "q8_0", "kv": "q8",
//                "context": 4096, "batch": 1, "tp": 1, "median_us": 3000.5,
//                "p10_us": 2998.1, "p90_us": 3010.7, "bytes": 8110538752}]}
//
// "tp" may be left out (1). `bytes` is what a step of one GPU must read. Other
// keys at the top belong to other parts of measure's report and are not read
// here; unknown ones inside "decode" are errors.
#pragma once

#include "gpu-reference/latency/Gpu.h"

#include <string>
#include <string_view>
#include <vector>

namespace orrery::gpu::latency {

/// A decode step as it was timed on a device.
struct MeasuredStep {
  std::string file, device, driver, date;
  int64_t memoryBytes = 0; ///< of the device, as its driver says
  double copyBytesPerUs =
      0; ///< measured copy bandwidth, bytes read and written
  std::string model;
  WeightKind weights = WeightKind::F16;
  KvKind kv = KvKind::F16;
  int64_t context = 0, batch = 0, gpus = 1;
  double medianUs = 0, p10Us = 0, p90Us = 0;
  int64_t bytes = 0;

  /// Whether the device is that GPU: its name in the device's, memory of the
  /// size, and no word of a variant with another bandwidth (PCIe, NVL, MIG).
  /// "NVIDIA H200" is h200, "NVIDIA A100-SXM4-40GB" is not a100.
  bool isOn(const Gpu &gpu) const;
};

/// Errors are one line; `where` names the file in them and in the steps.
Expected<std::vector<MeasuredStep>> parseMeasurements(std::string_view json,
                                                      const std::string &where);

/// Those built in.
Expected<std::vector<MeasuredStep>> keptMeasurements();
/// Those of a folder's *.json files, in the order of their names.
Expected<std::vector<MeasuredStep>> readMeasurements(const std::string &folder);

} // namespace orrery::gpu::latency
