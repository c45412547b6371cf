#include "gpu-reference/latency/Measurements.h"

#include "gpu-reference/latency/Fields.h"
#include "machine/WholeFile.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <utility>

namespace orrery::gpu::latency {
namespace {

using nlohmann::json;

struct BuiltIn {
  const char *name;
  const char *json;
};
/// Ends with null, as there may be none.
constexpr BuiltIn kKept[] = {
#include "Measurements.inc"
    {nullptr, nullptr}};

constexpr double kTiny = 1e-3, kHuge = 1e15;

class MeasurementReader {
public:
  MeasurementReader(const json &root, const std::string &where)
      : root(root), top("", root, problem) {
    common.file = where;
  }

  Expected<std::vector<MeasuredStep>> run() {
    if (!readTop() || !readSteps()) {
      return Error{problem.message()};
    }
    return std::move(steps);
  }

private:
  bool readTop() {
    if (!root.is_object()) {
      return problem.fail("description", "an object", description::shown(root));
    }
    for (const char *key : {"device", "driver", "date", "memory_bytes",
                            "copy_bandwidth_bytes_per_s", "decode"}) {
      if (!top.has(key)) {
        return problem.fail(key, "a value", "nothing");
      }
    }
    double bandwidth = 0;
    if (!top.text("device", common.device) ||
        !top.text("driver", common.driver) || !top.text("date", common.date) ||
        !top.whole("memory_bytes", common.memoryBytes, 1, int64_t(1) << 50) ||
        !top.number("copy_bandwidth_bytes_per_s", bandwidth, 1, kHuge)) {
      return false;
    }
    common.copyBytesPerUs = bandwidth / 1e6;
    return top["decode"].is_array() ||
           problem.fail("decode", "an array",
                        description::shown(top["decode"]));
  }

  bool readSteps() {
    for (size_t i = 0; i < top["decode"].size(); ++i) {
      if (!readStep(Fields(top.at("decode", i), top["decode"][i], problem))) {
        return false;
      }
    }
    return true;
  }

  bool readStep(Fields fields) {
    MeasuredStep step = common;
    std::string weights, kv;
    if (!fields.keys({"model", "weights", "kv", "context", "batch", "median_us",
                      "p10_us", "p90_us", "bytes"},
                     {"tp"}) ||
        !fields.text("model", step.model) || !fields.text("weights", weights) ||
        !fields.text("kv", kv) ||
        !fields.whole("context", step.context, 1, 1 << 30) ||
        !fields.whole("batch", step.batch, 1, 1 << 20) ||
        (fields.has("tp") && !fields.whole("tp", step.gpus, 1, 1 << 20)) ||
        !fields.number("p10_us", step.p10Us, kTiny, kHuge) ||
        !fields.number("median_us", step.medianUs, step.p10Us, kHuge) ||
        !fields.number("p90_us", step.p90Us, step.medianUs, kHuge) ||
        !fields.whole("bytes", step.bytes, 1, int64_t(1) << 50)) {
      return false;
    }
    auto weightKind = weightKindNamed(weights);
    auto kvKind = kvKindNamed(kv);
    if (!weightKind || !kvKind) {
      return fields.fail(
          weightKind ? "kv" : "weights",
          (weightKind ? kvKind.error() : weightKind.error()).message);
    }
    step.weights = *weightKind;
    step.kv = *kvKind;
    steps.push_back(std::move(step));
    return true;
  }

  const json &root;
  FirstProblem problem;
  Fields top;
  MeasuredStep common;
  std::vector<MeasuredStep> steps;
};

} // namespace

bool MeasuredStep::isOn(const Gpu &gpu) const {
  // Whole words: "GH200" is not an H200.
  std::set<std::string> words;
  std::string word;
  for (char c : device + " ") {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      word += char(std::tolower(static_cast<unsigned char>(c)));
    } else {
      words.insert(std::exchange(word, ""));
    }
  }
  for (const char *variant : {"pcie", "nvl", "mig"}) {
    if (words.contains(variant)) {
      return false;
    }
  }
  // Drivers say up to 7 % more than the round number of a data sheet (GiB, for
  // A100 and H100), or a little less.
  const double size = double(memoryBytes) / double(gpu.hbmBytes);
  return words.contains(gpu.name) && size > 0.9 && size < 1.1;
}

Expected<std::vector<MeasuredStep>>
parseMeasurements(std::string_view text, const std::string &where) {
  auto root = description::parse(text);
  if (!root) {
    return Error{where + ": " + root.error().message};
  }
  auto steps = MeasurementReader(*root, where).run();
  return steps ? std::move(steps) : Error{where + ": " + steps.error().message};
}

Expected<std::vector<MeasuredStep>> keptMeasurements() {
  std::vector<MeasuredStep> all;
  for (const BuiltIn *file = kKept; file->name; ++file) {
    auto steps = parseMeasurements(file->json, file->name);
    if (!steps) {
      return steps;
    }
    all.insert(all.end(), steps->begin(), steps->end());
  }
  return all;
}

Expected<std::vector<MeasuredStep>>
readMeasurements(const std::string &folder) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (std::filesystem::directory_iterator at(folder, error), end;
       !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") {
      files.push_back(at->path());
    }
  }
  if (error) {
    return Error{folder + ": cannot list: " + error.message()};
  }
  std::ranges::sort(files);
  std::vector<MeasuredStep> all;
  for (const std::filesystem::path &path : files) {
    auto bytes = readWholeFile(path.string(), description::kMaxBytes);
    if (!bytes) {
      return Error{path.string() + ": " + bytes.error().message};
    }
    std::string_view text(reinterpret_cast<const char *>(bytes->data()),
                          bytes->size());
    auto steps = parseMeasurements(text, path.string());
    if (!steps) {
      return steps;
    }
    all.insert(all.end(), steps->begin(), steps->end());
  }
  return all;
}

} // namespace orrery::gpu::latency
