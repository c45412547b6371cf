#include "machine/DescriptionText.h"

#include <nlohmann/json.hpp>

#include <vector>

namespace orrery::description {

namespace {

using nlohmann::json;

/// Of text that an error quotes.
constexpr size_t kMaxQuotedBytes = 80;

std::string cut(std::string text) {
  if (text.size() > kMaxQuotedBytes) {
    text.resize(kMaxQuotedBytes);
    text += "...";
  }
  return text;
}

/// Follows the JSON parser to find keys given twice, which it would let pass.
class DuplicateKeys {
public:
  bool operator()(json::parse_event_t event, const json &parsed) {
    switch (event) {
    case json::parse_event_t::object_start:
      levels.emplace_back();
      break;
    case json::parse_event_t::object_end:
      levels.pop_back();
      break;
    case json::parse_event_t::key:
      enter(parsed.get_ref<const std::string &>());
      break;
    default:
      break;
    }
    return true;
  }
  /// The path of the first key given twice; empty without one.
  const std::string &first() const { return found; }

private:
  struct Level {
    std::set<std::string> keys;
    std::string key; ///< the one being read
  };

  void enter(const std::string &key) {
    levels.back().key = key;
    if (!levels.back().keys.insert(key).second && found.empty()) {
      for (const Level &level : levels) {
        found = joined(found, level.key);
      }
    }
  }

  std::vector<Level> levels;
  std::string found;
};

/// Without the library's tag: "[json.exception.…] text".
std::string plain(const json::exception &error) {
  std::string text = error.what();
  size_t tag = text.find("] ");
  return cut(tag == std::string::npos ? text : text.substr(tag + 2));
}

} // namespace

std::string joined(std::string_view object, std::string_view key) {
  return object.empty() ? std::string(key)
                        : std::string(object) + "." + std::string(key);
}

std::string shown(const json &value) {
  if (value.is_object()) {
    return "an object";
  }
  if (value.is_array()) {
    return "an array";
  }
  return cut(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

Expected<json> parse(std::string_view text) {
  if (text.size() > kMaxBytes) {
    return Error{"expected at most " + std::to_string(kMaxBytes) +
                 " bytes, found " + std::to_string(text.size())};
  }
  try {
    DuplicateKeys duplicates;
    json root = json::parse(
        text, [&](int, json::parse_event_t event, const json &parsed) {
          return duplicates(event, parsed);
        });
    if (!duplicates.first().empty()) {
      return Error{cut(duplicates.first()) +
                   ": expected every key once, found it twice"};
    }
    return root;
  } catch (const json::exception &error) {
    return Error{plain(error)};
  }
}

bool checkKeys(std::string_view object, const json &value, const Keys &needed,
               const Keys &allowed, FirstProblem &problem) {
  std::string path(object.empty() ? "description" : object);
  if (!value.is_object()) {
    return problem.fail(path, "an object", shown(value));
  }
  Keys known = needed;
  known.insert(allowed.begin(), allowed.end());
  for (const auto &[key, ignored] : value.items()) {
    if (!known.contains(key)) {
      std::string list;
      for (std::string_view name : known) {
        list += (list.empty() ? "" : ", ") + std::string(name);
      }
      return problem.fail(path,
                          list.empty() ? "no keys" : "only the keys " + list,
                          shown(json(key)));
    }
  }
  for (std::string_view name : needed) {
    if (!value.contains(name)) {
      return problem.fail(joined(object, name), "a value", "nothing");
    }
  }
  return true;
}

bool checkSource(std::string_view object, std::string_view key,
                 const json &sources, FirstProblem &problem) {
  const json &source = sources.at(std::string(key));
  return (source.is_string() &&
          !source.get_ref<const std::string &>().empty()) ||
         problem.fail(joined(joined(object, "source"), key),
                      "a text that says where the number comes from",
                      shown(source));
}

} // namespace orrery::description
