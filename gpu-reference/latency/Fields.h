// Reading the JSON objects of this folder strictly: known keys, ranges, one
// line for the first thing that is wrong.
#pragma once

#include "machine/DescriptionText.h"
#include "machine/FirstProblem.h"

#include <nlohmann/json.hpp>

#include <string>

namespace orrery::gpu::latency {

/// One object and where it stands; what is wrong goes to `problem`, which is
/// shared, and every function says whether all is well.
class Fields {
public:
  using Json = nlohmann::json;

  Fields(std::string path, const Json &value, FirstProblem &problem)
      : path(std::move(path)), value(value), problem(problem) {}

  bool keys(const description::Keys &needed,
            const description::Keys &allowed = {}) {
    return description::checkKeys(path, value, needed, allowed, problem);
  }

  bool number(const char *key, double &out, double low, double high) {
    const Json &v = value.at(key);
    if (!v.is_number() || !(v.get<double>() >= low) ||
        !(v.get<double>() <= high)) {
      return problem.fail(at(key),
                          "a number from " + plain(low) + " to " + plain(high),
                          description::shown(v));
    }
    out = v.get<double>();
    return true;
  }

  bool whole(const char *key, int64_t &out, int64_t low, int64_t high) {
    const Json &v = value.at(key);
    if (!v.is_number_integer() || v.is_number_float()) {
      return problem.fail(at(key), "a whole number", description::shown(v));
    }
    out = v.get<int64_t>();
    return problem.within(at(key), out, low, high);
  }

  bool text(const char *key, std::string &out) {
    const Json &v = value.at(key);
    if (!v.is_string() || v.get_ref<const std::string &>().empty()) {
      return problem.fail(at(key), "a text", description::shown(v));
    }
    out = v.get<std::string>();
    return true;
  }

  /// An array that is not empty.
  bool array(const char *key) {
    const Json &v = value.at(key);
    return (v.is_array() && !v.empty()) ||
           problem.fail(at(key), "an array with something in it",
                        v.is_array() ? "an empty one" : description::shown(v));
  }

  /// Whether the object has it; for keys that may be left out.
  bool has(const char *key) const { return value.contains(key); }
  const Json &operator[](const char *key) const { return value.at(key); }
  std::string at(const char *key) const {
    return description::joined(path, key);
  }
  std::string at(const char *key, size_t index) const {
    return at(key) + "[" + std::to_string(index) + "]";
  }
  bool fail(const char *key, const std::string &words) {
    return problem.fail(at(key) + ": " + words);
  }

private:
  static std::string plain(double number) { return Json(number).dump(); }

  std::string path;
  const Json &value;
  FirstProblem &problem;
};

} // namespace orrery::gpu::latency
