// orrery kv: what the KV caches of models take, by format: as a closed form,
// and as the compiler lays them out in the vectors of a machine.
#include "compiler/partition/ShardSizes.h"
#include "compiler/partition/StageBytes.h"
#include "models/NotModelled.h"
#include "models/Zoo.h"
#include "runtime/command/Json.h"
#include "runtime/command/OpenModel.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using llvm::formatv;

namespace orrery::command {
namespace {

using models::KvFormat;
using models::ModelConfig;

/// The cache of one model in one format.
struct Cache {
  KvFormat format;
  Bytes perPosition; ///< of the model, each KV head once
  Bytes ofARank;     ///< a position on one rank
  Bytes ofAllRanks;  ///< a position; a head that is held twice counts twice
  /// On one rank at all positions, with the padding of the machine, if it has
  /// a place for the heads.
  std::optional<Bytes> stored;
};

struct Model {
  ModelConfig config;
  int64_t positions;
  partition::HeadShard heads;
  std::string noPlace = {}; ///< why the machine has none for it
  std::vector<Cache> caches = {};

  bool pastItsContext() const { return positions > config.contextLength; }
};

/// Without padding, which a layout multiplies it by: a machine's lanes at most,
/// so that no sum overflows.
constexpr Bytes kMostBytes = Bytes(1) << 46;

// Layouts count in 32 bits, and step through vectors.
std::string whyNoPlace(const ModelConfig &config, const Machine &machine) {
  constexpr int64_t kMostElements = 1 << 20;
  int64_t slot = (config.headDim + 31) / 32 * 32;
  for (int64_t n : {config.hidden, config.intermediate, config.vocab,
                    config.heads * slot}) {
    if (n > kMostElements) {
      return "an axis of " + std::to_string(n) + " elements, at most " +
             std::to_string(kMostElements) + " are laid out here";
    }
  }
  return slot <= machine.lanes
             ? ""
             : "heads of " + std::to_string(config.headDim) +
                   " elements need " + std::to_string(slot) +
                   " lanes, there are " + std::to_string(machine.lanes);
}

/// The bytes that the compiler takes for the cache on one rank.
Bytes storedBytes(const Model &model, KvFormat format, const Machine &machine,
                  int64_t ranks) {
  ModelConfig config = model.config;
  config.layers = 1; // all are alike
  auto shape = partition::uniformShape(
      config, WeightFormat::Q8, format == KvFormat::F16, model.positions);
  partition::ByteModel bytes(machine, shape, ranks);
  return model.config.layers * bytes.layer(shape.layers.front()).kv;
}

Cache cacheOf(const Model &model, KvFormat format, const Machine &machine,
              int64_t ranks) {
  Bytes whole = models::kvBytesPerToken(model.config, format);
  Bytes head = whole / model.config.kvHeads;
  Cache cache{format, whole, head * model.heads.kvHeads,
              whole * model.heads.replicas, std::nullopt};
  if (model.noPlace.empty()) {
    cache.stored = storedBytes(model, format, machine, ranks);
  }
  return cache;
}

Expected<Model> modelOf(ModelConfig config, const KvArguments &a,
                        const Machine &machine) {
  int64_t positions = a.context ? a.context : config.contextLength;
  Bytes each = models::kvBytesPerToken(config, KvFormat::F16);
  if (each > kMostBytes / positions) {
    return Error{config.name + ": expected a KV cache of at most " +
                 std::to_string(kMostBytes) + " B, found " +
                 std::to_string(positions) + " positions of " +
                 std::to_string(each) + " B"};
  }
  Model model{.config = std::move(config), .positions = positions, .heads = {}};
  model.noPlace = whyNoPlace(model.config, machine);
  model.heads = partition::shardHeads(model.config.heads, model.config.kvHeads,
                                      model.config.headDim, a.ranks);
  for (KvFormat format : {KvFormat::F16, KvFormat::Q8}) {
    if (!a.kv || *a.kv == format) {
      model.caches.push_back(cacheOf(model, format, machine, a.ranks));
    }
  }
  return model;
}

Expected<std::vector<ModelConfig>> configsOf(const KvArguments &a) {
  std::vector<ModelConfig> configs;
  for (const std::string &name : a.models) {
    auto config = models::loadShape(name);
    if (!config) {
      return config.error();
    }
    configs.push_back(std::move(*config));
  }
  if (!a.models.empty()) {
    return configs;
  }
  auto zoo = models::zooModels();
  if (!zoo) {
    return zoo.error();
  }
  for (models::ZooModel &model : *zoo) {
    configs.push_back(std::move(model.config));
  }
  return configs;
}

std::string mebibytes(Bytes bytes) {
  return formatv("{0:N}.{1}", bytes >> 20, (bytes % (1 << 20) * 10) >> 20)
      .str();
}

std::string storedText(const Cache &cache) {
  return cache.stored ? formatv("{0:N}", *cache.stored).str() : "-";
}

std::string paddingText(const Cache &cache, Bytes nominal) {
  return cache.stored
             ? formatv("{0:f1} %",
                       100 * (double(*cache.stored) / double(nominal) - 1))
                   .str()
             : "-";
}

std::string oneChipText(const std::vector<Model> &models,
                        const Machine &machine) {
  std::string out = formatv(
      "K and V of all layers; stored: in the vectors of {0}, with padding\n"
      "{1,-22}{2,7}{3,9}{4,9}{5,10}  {6,-4}{7,13}{8,19}{9,12}{10,19}{11,10}\n",
      machine.name, "model", "layers", "KV heads", "head_dim", "positions",
      "KV", "B a position", "B at positions", "MiB", "B stored", "padding");
  for (const Model &m : models) {
    for (const Cache &c : m.caches) {
      Bytes all = c.perPosition * m.positions;
      out += formatv("{0,-22}{1,7}{2,9}{3,9}{4,10:N}  {5,-4}{6,13:N}{7,19:N}"
                     "{8,12}{9,19}{10,10}\n",
                     m.config.name, m.config.layers, m.config.kvHeads,
                     m.config.headDim, m.positions, formatName(c.format),
                     c.perPosition, all, mebibytes(all), storedText(c),
                     paddingText(c, all));
    }
  }
  return out;
}

std::string ranksText(const std::vector<Model> &models, const Machine &machine,
                      int64_t ranks) {
  std::string out = formatv(
      "K and V of all layers over {0:N} tensor-parallel ranks; stored: in the "
      "vectors of {1}, with padding\n"
      "{2,-22}{3,9}{4,8}{5,9}{6,10}  {7,-4}{8,13}{9,13}{10,14}{11,9}{12,20}\n",
      ranks, machine.name, "model", "KV heads", "a rank", "held by",
      "positions", "KV", "B a position", "on a rank", "on all ranks", "x once",
      "B stored on a rank");
  for (const Model &m : models) {
    for (const Cache &c : m.caches) {
      out +=
          formatv("{0,-22}{1,9}{2,8}{3,9}{4,10:N}  {5,-4}{6,13:N}{7,13:N}"
                  "{8,14:N}{9,9:f2}{10,20}\n",
                  m.config.name, m.config.kvHeads, m.heads.kvHeads,
                  m.heads.replicas, m.positions, formatName(c.format),
                  c.perPosition, c.ofARank, c.ofAllRanks,
                  double(c.ofAllRanks) / double(c.perPosition), storedText(c));
    }
  }
  return out;
}

/// Of what a model has beyond a plain decoder, that which its cache depends on.
ModelConfig cacheExtras(ModelConfig config) {
  config.extras = {.slidingWindow = config.extras.slidingWindow};
  return config;
}

std::string notes(const std::vector<Model> &models, const Machine &machine) {
  std::vector<ModelConfig> configs;
  std::string past, noPlace;
  for (const Model &m : models) {
    configs.push_back(cacheExtras(m.config));
    if (m.pastItsContext()) {
      past +=
          (past.empty() ? "" : ", ") +
          formatv("{0} ({1:N})", m.config.name, m.config.contextLength).str();
    }
    if (!m.noPlace.empty()) {
      noPlace += m.config.name + " has no place on " + machine.name + ": " +
                 m.noPlace + "\n";
    }
  }
  return models::omissionText(configs) + noPlace +
         (past.empty() ? ""
                       : "more positions than trained for: " + past + "\n");
}

Json toJson(const Model &m, const Cache &c, const KvArguments &a,
            const Machine &machine) {
  Json omitted = Json::array();
  for (const models::Omission &o : models::omissions(cacheExtras(m.config))) {
    omitted.push_back({{"what", o.what}, {"effect", o.effect}});
  }
  Json stored = nullptr;
  if (c.stored) {
    stored = *c.stored;
  }
  return {{"model", m.config.name},
          {"layers", m.config.layers},
          {"heads", m.config.heads},
          {"kv_heads", m.config.kvHeads},
          {"head_dim", m.config.headDim},
          {"positions", m.positions},
          {"trained_positions", m.config.contextLength},
          {"format", formatName(c.format)},
          {"bytes_per_position", c.perPosition},
          {"bytes", c.perPosition * m.positions},
          {"ranks", a.ranks},
          {"kv_heads_per_rank", m.heads.kvHeads},
          {"ranks_per_kv_head", m.heads.replicas},
          {"bytes_per_position_per_rank", c.ofARank},
          {"bytes_per_position_all_ranks", c.ofAllRanks},
          {"machine", machine.name},
          {"stored_bytes_per_rank", stored},
          {"not_modelled", omitted}};
}

Json document(const std::vector<Model> &models, const KvArguments &a,
              const Machine &machine) {
  Json list = Json::array();
  for (const Model &m : models) {
    for (const Cache &c : m.caches) {
      list.push_back(toJson(m, c, a, machine));
    }
  }
  return list;
}

} // namespace

ExitCode execute(const KvArguments &a) {
  auto machine = loadMachine(a.machine);
  if (!machine) {
    return fail(kBadInput, machine.error());
  }
  auto configs = configsOf(a);
  if (!configs) {
    return fail(kBadInput, configs.error());
  }
  std::vector<Model> models;
  for (ModelConfig &config : *configs) {
    auto model = modelOf(std::move(config), a, *machine);
    if (!model) {
      return fail(kBadInput, model.error());
    }
    models.push_back(std::move(*model));
  }
  if (a.json) {
    llvm::outs() << dump(document(models, a, *machine));
  } else {
    llvm::outs() << (a.ranks == 1 ? oneChipText(models, *machine)
                                  : ranksText(models, *machine, a.ranks))
                 << notes(models, *machine);
  }
  return kOk;
}

} // namespace orrery::command
