#include "runtime/command/GoldenLogits.h"

#include "machine/WholeFile.h"

#include <cstring>
#include <filesystem>

namespace orrery::command {

// The last id may have no logits: a recording ends with the token it chose.
Expected<Golden> readGolden(std::string path, size_t ids, int64_t vocab) {
  if (!std::filesystem::exists(path)) {
    path += ".logits.f64";
  }
  constexpr uint64_t kMostBytes = uint64_t(8) << 30;
  auto bytes = readWholeFile(path, kMostBytes);
  if (!bytes) {
    return Error{path + ": " + bytes.error().message};
  }
  uint64_t row = uint64_t(vocab) * sizeof(double);
  uint64_t rows = bytes->size() / row;
  if (bytes->size() % row != 0 || (rows != ids && rows + 1 != ids) ||
      rows == 0) {
    return Error{path + ": expected " + std::to_string(ids) +
                 " (or one fewer) rows of " + std::to_string(vocab) +
                 " float64, found " + std::to_string(bytes->size()) + " bytes"};
  }
  Golden golden{std::vector<double>(rows * size_t(vocab)), size_t(vocab)};
  std::memcpy(golden.values.data(), bytes->data(), bytes->size());
  return golden;
}

} // namespace orrery::command
