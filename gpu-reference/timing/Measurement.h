// What is measured on a device, and the document that says what was found. The
// reader of its "decode" part is latency/Measurements.h.
#pragma once

#include "gpu-reference/KernelTimes.h"
#include "models/ModelConfig.h"

#include <map>
#include <string>
#include <vector>

namespace orrery::gpu {

/// One decode step to time.
struct DecodeCase {
  models::ModelConfig config;
  StoredFormat weights = StoredFormat::Q8_0;
  models::KvFormat kv = models::KvFormat::Q8;
  int64_t context = 0; ///< each sequence's token is the last of so many
  int64_t batch = 1;   ///< sequences
};

struct GemvTimes {
  GemvCase shape;
  StepTimes times;
};

struct DecodeTimes {
  DecodeCase shape;
  StepTimes times;
};

struct Measurement {
  DeviceInfo device;
  /// Words that the caller knows: "driver", "date", "clocks", "bits", "commit".
  std::map<std::string, std::string> about;
  StepTimes copy;
  std::vector<GemvTimes> gemv;
  std::vector<DecodeTimes> decode;

  /// Bytes read and written a second by a plain copy.
  double copyBytesPerSecond() const {
    return double(copy.bytes) / copy.medianUs * 1e6;
  }
  /// Part of the copy's bandwidth that `times` reach.
  double partOfCopy(const StepTimes &times) const {
    return double(times.bytes) / times.medianUs * 1e6 / copyBytesPerSecond();
  }
};

/// "q8_0", "q4_0", "f16".
std::string formatName(StoredFormat format);
std::string formatName(models::KvFormat format);

/// The JSON document, ended by a newline. "driver" and "date" must be known.
std::string toJson(const Measurement &measurement);
/// One line a figure, for people.
std::string toText(const Measurement &measurement);

} // namespace orrery::gpu
