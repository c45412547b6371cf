#include "runtime/command/ShapeSubject.h"

#include "models/NotModelled.h"
#include "models/Zoo.h"
#include "runtime/command/OpenModel.h"

#include <fstream>

namespace orrery::command {

static bool isGguf(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  return file.read(magic, 4) && std::string(magic, 4) == "GGUF";
}

static Expected<ShapeSubject> openFile(const std::string &path,
                                       const Target &target) {
  auto file = models::WeightFile::open(path);
  if (!file) {
    return file.error();
  }
  auto options = sessionOptions(target, *file);
  if (!options) {
    return options.error();
  }
  ShapeSubject subject{file->config(), {}, weightsText(target, *file)};
  subject.options.weights = options->weights;
  subject.options.tensorFormats = options->tensorFormats;
  return subject;
}

static Expected<ShapeSubject> openShape(const std::string &name,
                                        const Target &target) {
  auto config = models::loadShape(name);
  if (!config) {
    return config.error();
  }
  auto format = target.weights.value_or(models::WeightFormat::Q8_0);
  ShapeSubject subject{std::move(*config), {}, formatName(format)};
  subject.options.weights = dialectFormat(format);
  return subject;
}

Expected<ShapeSubject> openSubject(const std::string &nameOrPath,
                                   const Target &target) {
  bool file = !models::isZooName(nameOrPath) && isGguf(nameOrPath);
  auto subject =
      file ? openFile(nameOrPath, target) : openShape(nameOrPath, target);
  if (!subject) {
    return subject;
  }
  if (Status ok = models::verifyCompiled(subject->config); !ok) {
    return ok.error();
  }
  int64_t trained = subject->config.contextLength;
  if (target.context > trained) {
    return Error{"--ctx " + std::to_string(target.context) +
                 ": expected at most the model's context, " +
                 std::to_string(trained)};
  }
  subject->options.machine = target.machine;
  subject->options.split = splitOf(target.partition);
  subject->options.kv = dialectFormat(target.kv);
  subject->options.context = target.context ? target.context : trained;
  return subject;
}

} // namespace orrery::command
