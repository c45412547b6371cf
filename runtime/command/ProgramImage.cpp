#include "runtime/command/ProgramImage.h"

#include "runtime/ProgramSet.h"
#include "runtime/StageChips.h"
#include "runtime/command/Console.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
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

/// Layers that the program was made of, by their attentions: a stage may begin
/// or end in the middle of a layer, and stages that share a part have the
/// locations of the first.
int64_t layersOf(const SystemProgram &program) {
  int64_t all = 0;
  for (const auto &ranks : runtime::stageChips(program)) {
    const Program &part = program.parts[program.chips[ranks.front()].part];
    all += std::ranges::count_if(part.locations, [](const std::string &name) {
      return name.starts_with("layer ") && name.ends_with(" attention");
    });
  }
  return all;
}

std::optional<compiler::ImportOptions>
optionsOf(const SystemProgram &program, const models::WeightFile &model) {
  const Program &first = program.parts.front();
  compiler::ImportOptions options;
  options.tokens = first.tokens;
  options.bucket = first.bucket;
  options.context = first.context;
  options.tensorFormats = compiler::storedFormats(model.gguf());
  for (int64_t layers : {int64_t(0), layersOf(program)}) {
    for (auto weights : {llm::WeightFormat::Q8_0, llm::WeightFormat::Q4_0}) {
      for (auto kv : {llm::KvFormat::Q8, llm::KvFormat::F16}) {
        options.layers = layers;
        options.weightFormat = weights;
        options.kvFormat = kv;
        if (modelHash(model.config(), options) == first.modelHash) {
          return options;
        }
      }
    }
  }
  return std::nullopt;
}

/// How the program's chips divide the model.
SplitOptions splitOf(const SystemProgram &program) {
  auto stages = runtime::stageChips(program);
  return {int64_t(stages.front().size()),
          int64_t(stages.size()) - runtime::relayCount(program)};
}

/// The step of `request`, if it is `program`.
Expected<CompiledStep> compileAs(mlir::MLIRContext &context,
                                 const SystemProgram &program,
                                 const models::WeightFile &model,
                                 const CompileRequest &request) {
  auto step = compileStep(context, model.config(), request);
  if (!step) {
    return step;
  }
  Status same = runtime::runAlike(step->system, program);
  if (same) {
    same = runtime::shareWhatLasts(step->system, program);
  }
  if (!same) {
    return Error{"this compiler places weights and KV cache elsewhere than the "
                 "program expects; compile it again (" +
                 same.error().message + ")"};
  }
  return step;
}

/// The program does not say how products were shared: if not as the compiler
/// chooses, in one of the ways that can be asked for.
Expected<CompiledStep> compileAgain(mlir::MLIRContext &context,
                                    const SystemProgram &program,
                                    const Machine &machine,
                                    const models::WeightFile &model,
                                    const compiler::ImportOptions &options) {
  MachineName name(machine);
  if (!name.status) {
    return name.status.error();
  }
  CompileRequest request;
  request.machine = name.text;
  request.import = options;
  request.split = splitOf(program);
  auto chosen = compileAs(context, program, model, request);
  if (chosen || request.split.tensorParallel == 1) {
    return chosen;
  }
  for (const char *products : {"column", "row", "scatter", "reduce"}) {
    request.split.products = products;
    if (auto asked = compileAs(context, program, model, request)) {
      return asked;
    }
  }
  return chosen;
}

} // namespace

Expected<ProgramImages> programImages(const SystemProgram &program,
                                      const Machine &machine,
                                      const models::WeightFile &model) {
  const Program &first = program.parts.front();
  auto options = optionsOf(program, model);
  if (!options) {
    return Error{llvm::formatv(
                     "the program was compiled from {0} (hash {1:x}), not from "
                     "{2}, or with formats that are no longer offered",
                     first.modelName, first.modelHash, model.config().name)
                     .str()};
  }
  auto context = makeContext();
  auto step = compileAgain(*context, program, machine, model, *options);
  if (!step) {
    return step.error();
  }
  auto images = runtime::fillImages(*step, machine, model, nullptr);
  if (!images) {
    return images.error();
  }
  auto own = options->tensorFormats.find("token_embd.weight");
  auto table = runtime::EmbeddingTable::open(
      model, own == options->tensorFormats.end() ? options->weightFormat
                                                 : own->second);
  if (!table) {
    return table.error();
  }
  return ProgramImages{std::move(*images),
                       runtime::HostInput(*step, machine, std::move(*table))};
}

} // namespace orrery::command
