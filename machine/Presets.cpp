// The built-in machines, and descriptions that extend one.
#include "machine/DescriptionText.h"
#include "machine/Machine.h"
#include "machine/WholeFile.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace orrery {

namespace {

using description::checkKeys;
using description::joined;
using description::shown;
using nlohmann::json;

struct Preset {
  const char *name;
  const char *json;
};
constexpr Preset kPresets[] = {
#include "Presets.inc"
};

const Preset *findPreset(std::string_view name) {
  auto found = std::ranges::find(kPresets, name, &Preset::name);
  return found == std::end(kPresets) ? nullptr : found;
}

std::string listed(const std::vector<std::string> &names) {
  std::string list;
  for (const std::string &name : names) {
    list += (list.empty() ? "" : ", ") + name;
  }
  return list;
}

bool extends(const json &root) {
  return root.is_object() && root.contains("extends");
}

/// The presets that stand on their own: those to extend.
std::vector<std::string> wholePresets() {
  std::vector<std::string> names = presetNames();
  std::erase_if(names, [](const std::string &name) {
    return extends(*description::parse(findPreset(name)->json));
  });
  return names;
}

/// A description that extends a preset, made whole.
class Extension {
public:
  explicit Extension(const json &root) : root(root) {}

  Expected<json> run() {
    if (!checkKeys("", root, {"extends", "name"}, {"c2c", "system"}, problem) ||
        !readBase() || (root.contains("c2c") && !replaceLinkNumbers())) {
      return Error{problem.message()};
    }
    for (const char *key : {"name", "system"}) {
      if (root.contains(key)) {
        whole[key] = root.at(key);
      }
    }
    return std::move(whole);
  }

private:
  bool readBase() {
    const json &base = root.at("extends");
    auto bases = wholePresets();
    if (!base.is_string() ||
        !std::ranges::count(bases, base.get<std::string>())) {
      return problem.fail("extends", "one of the presets " + listed(bases),
                          shown(base));
    }
    whole = *description::parse(findPreset(base.get<std::string>())->json);
    return true;
  }

  /// A number is replaced together with its source.
  bool replaceLinkNumbers() {
    const json &links = root.at("c2c");
    json &base = whole.at("c2c");
    description::Keys known, replaced;
    for (const auto &[key, ignored] : base.items()) {
      known.insert(key);
    }
    if (!checkKeys("c2c", links, {"source"}, known, problem)) {
      return false;
    }
    for (const auto &[key, ignored] : links.items()) {
      replaced.insert(key);
    }
    replaced.erase("source");
    if (!checkKeys("c2c.source", links.at("source"), replaced, {}, problem)) {
      return false;
    }
    for (std::string_view each : replaced) {
      std::string key(each);
      base[key] = links.at(key);
      base["source"][key] = links.at("source").at(key);
    }
    return true;
  }

  const json &root;
  json whole;
  FirstProblem problem;
};

Expected<Machine> parseExtended(std::string_view text,
                                const std::string &where) {
  auto root = description::parse(text);
  if (!root || !extends(*root)) {
    return parseMachine(text, where);
  }
  auto whole = Extension(*root).run();
  return whole ? parseMachine(whole->dump(), where)
               : Error{"machine `" + where + "`: " + whole.error().message};
}

} // namespace

std::vector<std::string> presetNames() {
  std::vector<std::string> names;
  for (const Preset &preset : kPresets) {
    names.emplace_back(preset.name);
  }
  std::ranges::sort(names);
  return names;
}

Expected<Machine> loadMachine(const std::string &nameOrPath) {
  if (const Preset *preset = findPreset(nameOrPath)) {
    return parseExtended(preset->json, nameOrPath);
  }
  auto bytes = readWholeFile(nameOrPath, description::kMaxBytes);
  if (!bytes) {
    return Error{"machine `" + nameOrPath + "`: neither a preset (" +
                 listed(presetNames()) +
                 ") nor a readable file: " + bytes.error().message};
  }
  std::string_view text(reinterpret_cast<const char *>(bytes->data()),
                        bytes->size());
  return parseExtended(text, nameOrPath);
}

} // namespace orrery
