#include "machine/Machine.h"

#include "machine/MachineFields.h"
#include "machine/WholeFile.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace orrery {

namespace {

using nlohmann::json;

constexpr size_t kMaxBytes = 1 << 20;
constexpr size_t kMaxNameBytes = 64;
/// Of text that an error quotes.
constexpr size_t kMaxQuotedBytes = 80;

std::string cut(std::string text) {
  if (text.size() > kMaxQuotedBytes) {
    text.resize(kMaxQuotedBytes);
    text += "...";
  }
  return text;
}

std::string joined(std::string_view object, std::string_view key) {
  return object.empty() ? std::string(key)
                        : std::string(object) + "." + std::string(key);
}

/// A value as an error shows it.
std::string shown(const json &value) {
  if (value.is_object()) {
    return "an object";
  }
  if (value.is_array()) {
    return "an array";
  }
  return cut(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

Error expectedFound(const std::string &path, const std::string &expected,
                    const std::string &found) {
  return {path + ": expected " + expected + ", found " + found};
}

//===-- Text to values ----------------------------------------------------===//

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

Expected<json> parseText(std::string_view text) {
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
      return expectedFound(cut(duplicates.first()), "every key once",
                           "it twice");
    }
    return root;
  } catch (const json::exception &error) {
    return Error{plain(error)};
  }
}

//===-- Values to a machine -----------------------------------------------===//

/// Reads the root object; stops at the first error.
class MachineReader {
public:
  explicit MachineReader(const json &root) : root(root) {}

  Expected<Machine> run() {
    for (std::string_view object : numberObjects()) {
      if (!readObject(object)) {
        return problem;
      }
    }
    if (!readName() || !readKind()) {
      return problem;
    }
    if (Status related = checkRelations(machine); !related) {
      return related.error();
    }
    return std::move(machine);
  }

private:
  bool readObject(std::string_view object);
  bool checkKeys(std::string_view object, const json &value,
                 const std::set<std::string_view> &known);
  bool readNumber(const NumberField &field, const json &object);
  bool readSource(const NumberField &field, const json &sources);
  bool readName();
  bool readKind();

  bool fail(const std::string &path, const std::string &expected,
            const std::string &found) {
    problem = expectedFound(path, expected, found);
    return false;
  }

  const json &root;
  Machine machine{};
  Error problem;
};

bool MachineReader::checkKeys(std::string_view object, const json &value,
                              const std::set<std::string_view> &known) {
  std::string path(object.empty() ? "description" : object);
  if (!value.is_object()) {
    return fail(path, "an object", shown(value));
  }
  for (const auto &[key, ignored] : value.items()) {
    if (!known.contains(key)) {
      std::string list;
      for (std::string_view name : known) {
        list += (list.empty() ? "" : ", ") + std::string(name);
      }
      return fail(path, "only the keys " + list, shown(json(key)));
    }
  }
  for (std::string_view name : known) {
    if (!value.contains(name)) {
      return fail(joined(object, name), "a value", "nothing");
    }
  }
  return true;
}

bool MachineReader::readObject(std::string_view object) {
  std::set<std::string_view> numbers;
  for (const NumberField &field : numberFields()) {
    if (field.object == object) {
      numbers.insert(field.key);
    }
  }
  std::set<std::string_view> keys = numbers;
  keys.insert("source");
  if (object.empty()) {
    keys.insert({"name", "kind"});
    keys.insert(numberObjects().begin() + 1, numberObjects().end());
  }
  const json &value = object.empty() ? root : root.at(std::string(object));
  if (!checkKeys(object, value, keys) ||
      !checkKeys(joined(object, "source"), value.at("source"), numbers)) {
    return false;
  }
  return std::ranges::all_of(numberFields(), [&](const NumberField &field) {
    return field.object != object ||
           (readNumber(field, value) && readSource(field, value.at("source")));
  });
}

bool MachineReader::readNumber(const NumberField &field, const json &object) {
  const json &value = object.at(std::string(field.key));
  bool fits = field.whole() ? value.is_number_integer() : value.is_number();
  if (!fits || !field.allows(value.get<double>())) {
    return fail(field.path(), field.range(), shown(value));
  }
  field.set(machine, value.get<double>());
  return true;
}

bool MachineReader::readSource(const NumberField &field, const json &sources) {
  const json &source = sources.at(std::string(field.key));
  if (!source.is_string() || source.get_ref<const std::string &>().empty()) {
    return fail(joined(joined(field.object, "source"), field.key),
                "a text that says where the number comes from", shown(source));
  }
  machine.numbers.push_back(
      {field.path(), field.get(machine), source.get<std::string>()});
  return true;
}

bool MachineReader::readName() {
  const json &name = root.at("name");
  auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  };
  if (!name.is_string() || name.get_ref<const std::string &>().empty() ||
      name.get_ref<const std::string &>().size() > kMaxNameBytes ||
      !std::ranges::all_of(name.get_ref<const std::string &>(), fine)) {
    return fail("name",
                "1 to " + std::to_string(kMaxNameBytes) +
                    " letters, digits, '-', '_' or '.'",
                shown(name));
  }
  machine.name = name.get<std::string>();
  return true;
}

bool MachineReader::readKind() {
  const json &kind = root.at("kind");
  return kind == "lpu" || fail("kind", "\"lpu\"", shown(kind));
}

//===-- Presets -----------------------------------------------------------===//

struct Preset {
  const char *name;
  const char *json;
};
constexpr Preset kPresets[] = {
#include "Presets.inc"
};

std::string presetList() {
  std::string list;
  for (const std::string &name : presetNames()) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

} // namespace

Expected<Machine> parseMachine(std::string_view text, std::string_view where) {
  auto named = [&](const Error &error) {
    return Error{"machine `" + std::string(where) + "`: " + error.message};
  };
  Expected<json> root = parseText(text);
  if (!root) {
    return named(root.error());
  }
  Expected<Machine> machine = MachineReader(*root).run();
  return machine ? std::move(machine) : named(machine.error());
}

std::string formatMachine(const Machine &machine) {
  nlohmann::ordered_json root;
  root["name"] = machine.name;
  root["kind"] = "lpu";
  for (std::string_view name : numberObjects()) {
    auto &object = name.empty() ? root : root[std::string(name)];
    nlohmann::ordered_json sources;
    for (const NumberField &field : numberFields()) {
      if (field.object != name) {
        continue;
      }
      std::string key(field.key);
      double value = field.get(machine);
      field.whole() ? object[key] = int64_t(value) : object[key] = value;
      auto number = std::ranges::find(machine.numbers, field.path(),
                                      &SourcedNumber::path);
      sources[key] =
          number == machine.numbers.end() ? "assumed" : number->source;
    }
    object["source"] = sources;
  }
  return root.dump(2) + "\n";
}

std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (const Preset &preset : kPresets) {
    names.emplace_back(preset.name);
  }
  std::ranges::sort(names);
  return names;
}

Expected<Machine> loadMachine(const std::string &nameOrPath) {
  for (const Preset &preset : kPresets) {
    if (nameOrPath == preset.name) {
      return parseMachine(preset.json, nameOrPath);
    }
  }
  auto bytes = readWholeFile(nameOrPath, kMaxBytes);
  if (!bytes) {
    return Error{"machine `" + nameOrPath + "`: neither a preset (" +
                 presetList() +
                 ") nor a readable file: " + bytes.error().message};
  }
  std::string_view text(reinterpret_cast<const char *>(bytes->data()),
                        bytes->size());
  return parseMachine(text, nameOrPath);
}

} // namespace orrery
