#include "machine/Machine.h"

#include "machine/DescriptionText.h"
#include "machine/MachineFields.h"
#include "machine/Topology.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace orrery {

namespace {

using description::checkKeys;
using description::checkSource;
using description::joined;
using description::shown;
using nlohmann::json;

constexpr size_t kMaxNameBytes = 64;

//===-- Values to a machine -----------------------------------------------===//

/// Reads the root object; stops at the first error.
class MachineReader {
public:
  explicit MachineReader(const json &root) : root(root) {}

  Expected<Machine> run() {
    auto read = [&](std::string_view object) { return readObject(object); };
    if (!std::ranges::all_of(numberObjects(), read) || !readName() ||
        !readKind()) {
      return Error{problem.message()};
    }
    if (Status related = checkRelations(machine); !related) {
      return related.error();
    }
    if (root.contains("system")) {
      Expected<System> system = readSystem(root.at("system"), machine.link);
      if (!system) {
        return system.error();
      }
      machine.system = std::move(*system);
      addSystemNumbers();
    }
    return std::move(machine);
  }

private:
  bool readObject(std::string_view object);
  bool readNumber(const NumberField &field, const json &object);
  void addSystemNumbers();
  bool readName();
  bool readKind();

  const json &root;
  Machine machine{};
  FirstProblem problem;
};

bool MachineReader::readObject(std::string_view object) {
  description::Keys numbers, system;
  for (const NumberField &field : numberFields()) {
    if (field.object == object) {
      numbers.insert(field.key);
    }
  }
  description::Keys keys = numbers;
  keys.insert("source");
  if (object.empty()) {
    keys.insert({"name", "kind"});
    keys.insert(numberObjects().begin() + 1, numberObjects().end());
    system.insert("system");
  }
  const json &value = object.empty() ? root : root.at(std::string(object));
  if (!checkKeys(object, value, keys, system, problem) ||
      !checkKeys(joined(object, "source"), value.at("source"), numbers, {},
                 problem)) {
    return false;
  }
  return std::ranges::all_of(numberFields(), [&](const NumberField &field) {
    return field.object != object || readNumber(field, value);
  });
}

bool MachineReader::readNumber(const NumberField &field, const json &object) {
  const json &value = object.at(std::string(field.key));
  bool fits = field.whole() ? value.is_number_integer() : value.is_number();
  if (!fits || !field.allows(value.get<double>())) {
    return problem.fail(field.path(), field.range(), shown(value));
  }
  const json &sources = object.at("source");
  if (!checkSource(field.object, field.key, sources, problem)) {
    return false;
  }
  field.set(machine, value.get<double>());
  machine.numbers.push_back(
      {field.path(), field.get(machine),
       sources.at(std::string(field.key)).get<std::string>()});
  return true;
}

/// What the reports count: how many, and how they are linked.
void MachineReader::addSystemNumbers() {
  const System &system = machine.system;
  auto add = [&](const char *key, double value) {
    const json &source = root.at("system").at("source").at(key);
    machine.numbers.push_back(
        {joined("system", key), value, source.get<std::string>()});
  };
  add("chips", system.chips);
  add("node_chips", system.nodeChips);
  add("topology", double(system.links.size()));
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
    return problem.fail("name",
                        "1 to " + std::to_string(kMaxNameBytes) +
                            " letters, digits, '-', '_' or '.'",
                        shown(name));
  }
  machine.name = name.get<std::string>();
  return true;
}

bool MachineReader::readKind() {
  const json &kind = root.at("kind");
  return kind == "lpu" || problem.fail("kind", "\"lpu\"", shown(kind));
}

} // namespace

Expected<Machine> parseMachine(std::string_view text, std::string_view where) {
  auto named = [&](const Error &error) {
    return Error{"machine `" + std::string(where) + "`: " + error.message};
  };
  Expected<json> root = description::parse(text);
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
  std::string text = root.dump(2);
  if (!machine.system.json.empty()) {
    text.resize(text.size() - 2); // "\n}"
    text += ",\n  \"system\": " + machine.system.json + "\n}";
  }
  return text + "\n";
}

} // namespace orrery
