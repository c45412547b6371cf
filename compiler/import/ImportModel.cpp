// Checks an import's options and wraps the step in a module.
#include "compiler/import/ImportModel.h"

#include "compiler/import/StepBuilder.h"
#include "models/NotModelled.h"

#include "mlir/IR/Verifier.h"

#include <set>

using namespace mlir;

namespace orrery::compiler {

std::map<std::string, llm::WeightFormat>
storedFormats(const models::GgufFile &file) {
  std::map<std::string, llm::WeightFormat> formats;
  for (const models::GgufTensor &tensor : file.tensors()) {
    if (tensor.type == models::TensorType::Q8_0) {
      formats[std::string(tensor.name)] = llm::WeightFormat::Q8_0;
    } else if (tensor.type == models::TensorType::Q4_0) {
      formats[std::string(tensor.name)] = llm::WeightFormat::Q4_0;
    }
  }
  return formats;
}

/// Puts the model's numbers in the place of zeros.
static ImportOptions resolve(const models::ModelConfig &config,
                             ImportOptions options) {
  options.context = options.context ? options.context : config.contextLength;
  options.bucket = options.bucket ? options.bucket : options.context;
  options.layers = options.layers ? options.layers : config.layers;
  return options;
}

static LogicalResult checkFormats(Location loc,
                                  const models::ModelConfig &config,
                                  const ImportOptions &options) {
  std::set<std::string> names;
  for (const models::TensorShape &shape : models::expectedTensors(config)) {
    names.insert(shape.name);
  }
  for (const auto &[name, format] : options.tensorFormats) {
    if (!names.contains(name)) {
      return emitError(loc) << config.name << ": no tensor is called " << name;
    }
  }
  return success();
}

static LogicalResult check(Location loc, const models::ModelConfig &config,
                           const ImportOptions &options) {
  if (Status status = models::verifyConfig(config); !status) {
    return emitError(loc) << status.error().message;
  }
  if (Status status = models::verifyCompiled(config); !status) {
    return emitError(loc) << status.error().message;
  }
  if (options.tokens < 1 || options.bucket < options.tokens ||
      options.context < options.bucket) {
    return emitError(loc) << config.name
                          << ": expected 1 <= tokens <= bucket <= "
                             "context, found "
                          << options.tokens << ", " << options.bucket << ", "
                          << options.context;
  }
  if (options.layers < 1 || options.layers > config.layers) {
    return emitError(loc) << config.name << ": expected 1 to " << config.layers
                          << " layers, found " << options.layers;
  }
  return checkFormats(loc, config, options);
}

OwningOpRef<ModuleOp> importModel(MLIRContext &context,
                                  const models::ModelConfig &config,
                                  const ImportOptions &options) {
  context.loadDialect<func::FuncDialect, llm::LlmDialect>();
  const Location loc = NameLoc::get(StringAttr::get(&context, config.name));
  const ImportOptions resolved = resolve(config, options);
  if (failed(check(UnknownLoc::get(&context), config, resolved))) {
    return {};
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  StepBuilder(*module, config, resolved).build();
  assert(succeeded(verify(*module)) && "imported an invalid step");
  return module;
}

} // namespace orrery::compiler
