// orrery inspect: what a model file, a shape, a program file or a machine says.
#include "runtime/command/Inspect.h"

#include "machine/Machine.h"
#include "machine/WholeFile.h"
#include "models/Zoo.h"

#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cctype>
#include <fstream>

namespace orrery::command {
namespace {

enum class FileKind { Model, Shape, Program, Machine, Unknown };

// A config.json says its model_type, a machine its kind.
bool isShape(const std::string &path) {
  constexpr uint64_t kMostBytes = 1 << 20;
  auto bytes = readWholeFile(path, kMostBytes);
  if (!bytes) {
    return false;
  }
  auto json = Json::parse(bytes->begin(), bytes->end(), nullptr, false);
  return json.is_object() && json.contains("model_type");
}

// By the first bytes; names of presets and of the zoo win over files.
Expected<FileKind> kindOf(const std::string &path) {
  for (const std::string &preset : presetNames()) {
    if (path == preset) {
      return FileKind::Machine;
    }
  }
  if (models::isZooName(path)) {
    return FileKind::Shape;
  }
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16> head = {};
  if (!file || !file.read(head.data(), 1)) {
    return Error{path + ": cannot read it, and no preset and no model of the "
                        "zoo has that name"};
  }
  file.read(head.data() + 1, head.size() - 1);
  std::string_view bytes(head.data(), head.size());
  if (bytes.starts_with("GGUF")) {
    return FileKind::Model;
  }
  // FlatBuffers put the identifier behind the root's offset.
  for (const char *identifier : {"ORRY", "ORRS"}) {
    if (bytes.find(identifier) != std::string_view::npos) {
      return FileKind::Program;
    }
  }
  size_t first = 0;
  while (first < bytes.size() && std::isspace(uint8_t(bytes[first]))) {
    ++first;
  }
  if (!bytes.substr(first).starts_with("{")) {
    return FileKind::Unknown;
  }
  return isShape(path) ? FileKind::Shape : FileKind::Machine;
}

} // namespace

ExitCode execute(const InspectArguments &arguments) {
  auto kind = kindOf(arguments.file);
  if (!kind) {
    return fail(kBadInput, kind.error());
  }
  if (*kind == FileKind::Unknown) {
    return fail(kBadInput,
                {arguments.file + ": expected a GGUF file, a program file, or "
                                  "the JSON text of a machine or shape"});
  }
  auto out = *kind == FileKind::Model     ? inspectModel(arguments)
             : *kind == FileKind::Shape   ? inspectShape(arguments)
             : *kind == FileKind::Program ? inspectProgram(arguments)
                                          : inspectMachine(arguments);
  if (!out) {
    return fail(kBadInput, out.error());
  }
  llvm::outs() << *out;
  return kOk;
}

} // namespace orrery::command
