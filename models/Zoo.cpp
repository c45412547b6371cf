#include "models/Zoo.h"

#include "models/Gguf.h"
#include "models/HuggingFaceConfig.h"
#include "models/MappedFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <span>
#include <tuple>

namespace orrery::models {
namespace {

struct ZooFile {
  const char *name;
  const char *json;
};
constexpr ZooFile kZoo[] = {
#include "Zoo.inc"
};

const ZooFile *find(const std::string &name) {
  for (const ZooFile &file : kZoo) {
    if (name == file.name) {
      return &file;
    }
  }
  return nullptr;
}

// The shape is read strictly; the source is for people and for tests.
Expected<ZooModel> parse(const ZooFile &file) {
  auto config = parseHuggingFaceConfig(file.json, file.name);
  if (!config) {
    return config.error();
  }
  auto json = nlohmann::json::parse(file.json, nullptr, false);
  auto source = json.find("source");
  if (source == json.end() || !source->is_object() ||
      !(*source)["checkpoint"].is_string() || !(*source)["from"].is_array() ||
      !(*source)["parameters"].is_number_integer()) {
    return Error{std::string(file.name) + ": source: expected an object with "
                                          "checkpoint, from and parameters"};
  }
  ZooModel model{std::move(*config),
                 (*source)["checkpoint"].get<std::string>(),
                 {},
                 (*source)["parameters"].get<int64_t>()};
  for (const auto &from : (*source)["from"]) {
    model.sources.push_back(from.is_string() ? from.get<std::string>()
                                             : from.dump());
  }
  return model;
}

/// "llama-3.1" of "llama-3.1-8b"; "mistral" of "mistral-7b-v0.1".
std::string familyOf(const std::string &name) {
  for (size_t at = name.find('-'); at != std::string::npos;
       at = name.find('-', at + 1)) {
    size_t end = name.find('-', at + 1);
    std::string part = name.substr(at + 1, end - at - 1);
    if (part.find_first_of("bmkx") != std::string::npos &&
        std::isdigit(uint8_t(part.front()))) {
      return name.substr(0, at);
    }
  }
  return name;
}

bool isGguf(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = "GGUF";
  return bytes.size() >= kMagic.size() &&
         std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Expected<ModelConfig> readGguf(const std::string &path) {
  auto file = GgufFile::open(path);
  if (!file) {
    return file.error();
  }
  auto config = readModelConfig(*file);
  if (!config) {
    return Error{path + ": " + config.error().message};
  }
  return config;
}

} // namespace

Expected<std::vector<ZooModel>> zooModels() {
  std::vector<ZooModel> models;
  for (const ZooFile &file : kZoo) {
    auto model = parse(file);
    if (!model) {
      return model.error();
    }
    models.push_back(std::move(*model));
  }
  std::ranges::sort(models, {}, [](const ZooModel &model) {
    return std::tuple(familyOf(model.config.name), model.parameters,
                      model.config.name);
  });
  return models;
}

bool isZooName(const std::string &name) { return find(name) != nullptr; }

Expected<ModelConfig> loadShape(const std::string &nameOrPath) {
  if (const ZooFile *file = find(nameOrPath)) {
    return parseHuggingFaceConfig(file->json, nameOrPath);
  }
  auto bytes = MappedFile::open(nameOrPath);
  if (!bytes) {
    return Error{bytes.error().message + ", and no model of the zoo has that "
                                         "name (`orrery zoo` lists them)"};
  }
  return isGguf(bytes->bytes()) ? readGguf(nameOrPath)
                                : readHuggingFaceConfig(nameOrPath);
}

} // namespace orrery::models
