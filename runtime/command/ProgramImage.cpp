#include "runtime/command/ProgramImage.h"

#include "compiler/Compile.h"
#include "runtime/command/Console.h"

#include "llvm/Support/FormatVariadic.h"

#include <filesystem>
#include <optional>
#include <unistd.h>

namespace orrery::command {
namespace {

/// The machine as something `--machine` takes: a preset's name, or a file that
/// goes away again.
class MachineName {
public:
  explicit MachineName(const Machine &machine) {
    for (const std::string &preset : presetNames()) {
      auto known = loadMachine(preset);
      if (known && *known == machine) {
        text = preset;
        return;
      }
    }
    text = (std::filesystem::temp_directory_path() /
            ("orrery-machine-" + std::to_string(getpid()) + ".json"))
               .string();
    isFile = true;
    status = writeText(text, formatMachine(machine));
  }
  ~MachineName() {
    if (isFile) {
      std::error_code ignored;
      std::filesystem::remove(text, ignored);
    }
  }
  MachineName(const MachineName &) = delete;
  MachineName &operator=(const MachineName &) = delete;

  std::string text;
  Status status = Success{};

private:
  bool isFile = false;
};

/// Layers that the program's locations speak of.
int64_t layersOf(const Program &program) {
  int64_t most = 0;
  for (const std::string &location : program.locations) {
    int64_t layer = 0;
    if (std::sscanf(location.c_str(), "layer %ld ", &layer) == 1) {
      most = std::max(most, layer + 1);
    }
  }
  return most;
}

std::optional<compiler::ImportOptions>
optionsOf(const Program &program, const models::WeightFile &model) {
  compiler::ImportOptions options;
  options.tokens = program.tokens;
  options.bucket = program.bucket;
  options.context = program.context;
  options.tensorFormats = compiler::storedFormats(model.gguf());
  for (int64_t layers : {int64_t(0), layersOf(program)}) {
    for (auto weights : {llm::WeightFormat::Q8_0, llm::WeightFormat::Q4_0}) {
      for (auto kv : {llm::KvFormat::Q8, llm::KvFormat::F16}) {
        options.layers = layers;
        options.weightFormat = weights;
        options.kvFormat = kv;
        if (modelHash(model.config(), options) == program.modelHash) {
          return options;
        }
      }
    }
  }
  return std::nullopt;
}

/// Name and place of everything that lasts.
std::vector<SramRegion> lasting(const Program &program) {
  std::vector<SramRegion> regions;
  for (const SramRegion &r : program.regions) {
    if (r.kind == RegionKind::Weight || r.kind == RegionKind::Table ||
        r.kind == RegionKind::Kv) {
      regions.push_back(r);
    }
  }
  return regions;
}

} // namespace

Expected<ProgramImage> programImage(const Program &program,
                                    const Machine &machine,
                                    const models::WeightFile &model) {
  auto options = optionsOf(program, model);
  if (!options) {
    return Error{llvm::formatv(
                     "the program was compiled from {0} (hash {1:x}), not from "
                     "{2}, or with formats that are no longer offered",
                     program.modelName, program.modelHash, model.config().name)
                     .str()};
  }
  MachineName name(machine);
  if (!name.status) {
    return name.status.error();
  }
  auto context = makeContext();
  auto step = compileStep(*context, model.config(), {name.text, *options});
  if (!step) {
    return step.error();
  }
  if (lasting(step->program) != lasting(program)) {
    return Error{"this compiler places weights and KV cache elsewhere than the "
                 "program expects; compile it again"};
  }
  SramImage image(machine);
  if (Status ok = fillImage(step->image, machine, model, image); !ok) {
    return ok.error();
  }
  auto own = options->tensorFormats.find("token_embd.weight");
  auto table = runtime::EmbeddingTable::open(
      model, own == options->tensorFormats.end() ? options->weightFormat
                                                 : own->second);
  if (!table) {
    return table.error();
  }
  return ProgramImage{std::move(image), std::move(*table)};
}

} // namespace orrery::command
