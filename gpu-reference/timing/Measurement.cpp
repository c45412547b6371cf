#include "gpu-reference/timing/Measurement.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace orrery::gpu {

using Json = nlohmann::ordered_json;

std::string formatName(StoredFormat format) {
  switch (format) {
  case StoredFormat::Q8_0:
    return "q8_0";
  case StoredFormat::Q4_0:
    return "q4_0";
  case StoredFormat::F16:
    break;
  }
  return "f16";
}

std::string formatName(models::KvFormat format) {
  switch (format) {
  case models::KvFormat::Q8:
    return "q8";
  case models::KvFormat::Q4:
    return "q4";
  case models::KvFormat::F16:
    break;
  }
  return "f16";
}

static void addTimes(Json &to, const StepTimes &times) {
  to["median_us"] = times.medianUs;
  to["p10_us"] = times.p10Us;
  to["p90_us"] = times.p90Us;
  to["bytes"] = times.bytes;
}

std::string toJson(const Measurement &m) {
  Json out = {{"device", m.device.name},
              {"driver", m.about.at("driver")},
              {"date", m.about.at("date")},
              {"compute", m.device.compute},
              {"cuda_driver", m.device.driver},
              {"cuda_runtime", m.device.runtime},
              {"memory_bytes", m.device.memoryBytes}};
  for (const auto &[key, value] : m.about) {
    if (!out.contains(key)) {
      out[key] = value;
    }
  }
  out["copy_bandwidth_bytes_per_s"] = m.copyBytesPerSecond();
  addTimes(out["copy"], m.copy);
  out["gemv"] = Json::array();
  for (const GemvTimes &g : m.gemv) {
    Json one = {{"rows", g.shape.rows},
                {"k", g.shape.k},
                {"weights", formatName(g.shape.weights)},
                {"batch", g.shape.batch}};
    addTimes(one, g.times);
    one["part_of_copy_bandwidth"] = m.partOfCopy(g.times);
    out["gemv"].push_back(std::move(one));
  }
  // Its reader takes these keys and no others.
  out["decode"] = Json::array();
  for (const DecodeTimes &d : m.decode) {
    Json one = {{"model", d.shape.config.name},
                {"weights", formatName(d.shape.weights)},
                {"kv", formatName(d.shape.kv)},
                {"context", d.shape.context},
                {"batch", d.shape.batch}};
    addTimes(one, d.times);
    out["decode"].push_back(std::move(one));
  }
  return out.dump(2) + "\n";
}

static std::string timesText(const Measurement &m, const StepTimes &t) {
  char line[160];
  std::snprintf(line, sizeof line,
                "%10.2f us (%.2f to %.2f)  %8.1f GB/s  %5.1f %% of the copy\n",
                t.medianUs, t.p10Us, t.p90Us,
                double(t.bytes) / t.medianUs / 1e3, 100 * m.partOfCopy(t));
  return line;
}

static std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string toText(const Measurement &m) {
  constexpr size_t kName = 56;
  std::string out = m.device.name + ", driver " + m.about.at("driver") +
                    ", CUDA " + m.device.runtime + ", " + m.about.at("date") +
                    "\n";
  out += padded("copy within device memory", kName) + timesText(m, m.copy);
  for (const GemvTimes &g : m.gemv) {
    out += padded("gemv " + std::to_string(g.shape.rows) + " x " +
                      std::to_string(g.shape.k) + " " +
                      formatName(g.shape.weights) + ", batch " +
                      std::to_string(g.shape.batch),
                  kName) +
           timesText(m, g.times);
  }
  for (const DecodeTimes &d : m.decode) {
    out += padded("step of " + d.shape.config.name + " " +
                      formatName(d.shape.weights) + ", kv " +
                      formatName(d.shape.kv) + ", context " +
                      std::to_string(d.shape.context) + ", batch " +
                      std::to_string(d.shape.batch),
                  kName) +
           timesText(m, d.times);
  }
  return out;
}

} // namespace orrery::gpu
