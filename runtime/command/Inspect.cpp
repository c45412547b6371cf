// orrery inspect: what a model file, a program file or a machine says.
#include "runtime/command/Inspect.h"

#include "machine/Machine.h"

#include "llvm/Support/raw_ostream.h"

#include <array>
#include <cctype>
#include <fstream>

namespace orrery::command {
namespace {

enum class FileKind { Model, Program, Machine, Unknown };

// By the first bytes; a name that is no file is looked for in the presets.
Expected<FileKind> kindOf(const std::string &path) {
  for (const std::string &preset : presetNames()) {
    if (path == preset) {
      return FileKind::Machine;
    }
  }
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16> head = {};
  if (!file || !file.read(head.data(), 1)) {
    return Error{path + ": cannot read it, and no preset has that name"};
  }
  file.read(head.data() + 1, head.size() - 1);
  std::string_view bytes(head.data(), head.size());
  if (bytes.starts_with("GGUF")) {
    return FileKind::Model;
  }
  // FlatBuffers put the identifier behind the root's offset.
  if (bytes.find("ORRY") != std::string_view::npos) {
    return FileKind::Program;
  }
  size_t first = 0;
  while (first < bytes.size() && std::isspace(uint8_t(bytes[first]))) {
    ++first;
  }
  return bytes.substr(first).starts_with("{") ? FileKind::Machine
                                              : FileKind::Unknown;
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
                                  "the JSON text of a machine"});
  }
  auto out = *kind == FileKind::Model     ? inspectModel(arguments)
             : *kind == FileKind::Program ? inspectProgram(arguments)
                                          : inspectMachine(arguments);
  if (!out) {
    return fail(kBadInput, out.error());
  }
  llvm::outs() << *out;
  return kOk;
}

} // namespace orrery::command
