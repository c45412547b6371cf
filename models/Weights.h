// Config, tokenizer and weights of a GGUF file.
//
// Opens a model file as a whole and checks that its parts belong together.
// Nothing is read ahead: a tensor is converted when it is asked for.
#pragma once

#include "models/Gguf.h"
#include "models/Tokenizer.h"
#include "models/WeightSource.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery::models {

struct WeightFileOptions {
  /// Convert tensors that are stored in another quantized format than the one
  /// asked for (decode, then quantize again: loses a little). When false they
  /// keep their own format.
  bool requantize = false;
};

class WeightFile : public WeightSource {
public:
  /// Opens, parses and checks `path`: readable GGUF, supported architecture,
  /// every tensor present in its shape and of a loadable type, and, if there
  /// is a tokenizer, a supported one (its vocabulary is then the embedding's).
  static Expected<WeightFile> open(const std::string &path,
                                   const WeightFileOptions &options = {});

  /// As open, over bytes that the caller keeps alive.
  static Expected<WeightFile> parse(std::span<const std::byte> bytes,
                                    const WeightFileOptions &options = {});

  const ModelConfig &config() const override { return modelConfig; }

  /// The tokenizer, or null when the file has none (no tokenizer.ggml.model).
  const Tokenizer *tokenizer() const {
    return vocabulary ? &*vocabulary : nullptr;
  }

  const GgufFile &gguf() const { return file; }

  Expected<QuantizedMatrix> matrix(std::string_view name,
                                   WeightFormat format) const override;
  Expected<std::vector<float>> vector(std::string_view name) const override;

private:
  static Expected<WeightFile> load(GgufFile file,
                                   const WeightFileOptions &options);

  /// The tensor, or null; for a tied model the embedding as "output.weight".
  const GgufTensor *find(std::string_view name) const;

  GgufFile file;
  WeightFileOptions options;
  ModelConfig modelConfig;
  std::optional<Tokenizer> vocabulary;
};

} // namespace orrery::models
