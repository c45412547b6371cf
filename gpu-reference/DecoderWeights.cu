// From a weight source to device memory, tensor by tensor.
#include "gpu-reference/DecoderWeights.h"

#include <initializer_list>
#include <string>

namespace orrery::gpu::ORRERY_GPU {

namespace {

/// "[4096, 4096]".
std::string shapeText(std::initializer_list<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes) {
    text += text.empty() ? "[" : ", ";
    text += std::to_string(size);
  }
  return text + "]";
}

/// Loads tensors of one source into what is given, until the first error.
class Loader {
public:
  Loader(const models::WeightSource &source, const ReferencePlan &plan)
      : source(source), plan(plan) {}

  void matrix(const std::string &name, int64_t rows, int64_t cols,
              DeviceMatrix &to) {
    if (!failed()) {
      Expected<DeviceMatrix> loaded = load(name, rows, cols);
      loaded ? void(to = std::move(*loaded)) : void(status = loaded.error());
    }
  }

  /// Matrices [rows[i]][cols].
  void group(const std::vector<std::string> &names,
             const std::vector<int64_t> &rows, int64_t cols, MatrixGroup &to);

  void vector(const std::string &name, int64_t size, Buffer<float> &to) {
    if (!failed()) {
      Expected<Buffer<float>> loaded = load(name, size);
      loaded ? void(to = std::move(*loaded)) : void(status = loaded.error());
    }
  }

  bool failed() const { return !status; }

  Status status = Success();

private:
  Expected<DeviceMatrix> load(const std::string &name, int64_t rows,
                              int64_t cols);
  Expected<DeviceMatrix> loadJoined(const std::vector<std::string> &names,
                                    const std::vector<int64_t> &rows,
                                    int64_t cols);
  Expected<std::vector<float>> halves(const std::string &name, int64_t rows,
                                      int64_t cols);
  Expected<models::QuantizedMatrix> quantized(const std::string &name,
                                              int64_t rows, int64_t cols);
  Expected<Buffer<float>> load(const std::string &name, int64_t size);

  static Error wrongShape(const std::string &name, const std::string &expected,
                          const std::string &found) {
    return Error{name + ": expected shape " + expected + ", found " + found};
  }

  const models::WeightSource &source;
  const ReferencePlan &plan;
};

Expected<std::vector<float>> Loader::halves(const std::string &name,
                                            int64_t rows, int64_t cols) {
  Expected<std::vector<float>> values = source.vector(name);
  if (values && int64_t(values->size()) != rows * cols) {
    return wrongShape(name, shapeText({rows, cols}),
                      std::to_string(values->size()) + " elements");
  }
  return values;
}

Expected<models::QuantizedMatrix>
Loader::quantized(const std::string &name, int64_t rows, int64_t cols) {
  const models::WeightFormat format = plan.formatOf(name) == StoredFormat::Q4_0
                                          ? models::WeightFormat::Q4_0
                                          : models::WeightFormat::Q8_0;
  Expected<models::QuantizedMatrix> matrix = source.matrix(name, format);
  if (!matrix) {
    return matrix;
  }
  if (matrix->rows != rows || matrix->cols != cols) {
    return wrongShape(name, shapeText({rows, cols}),
                      shapeText({matrix->rows, matrix->cols}));
  }
  if (matrix->format != format) {
    return Error{name + ": expected format " +
                 std::string(models::weightFormatName(format)) + ", found " +
                 std::string(models::weightFormatName(matrix->format))};
  }
  return matrix;
}

/// The rows of `more` below those of `to`.
template <class T>
static void append(std::vector<T> &to, const std::vector<T> &more) {
  to.insert(to.end(), more.begin(), more.end());
}

Expected<DeviceMatrix> Loader::loadJoined(const std::vector<std::string> &names,
                                          const std::vector<int64_t> &rows,
                                          int64_t cols) {
  const std::string what = names.size() == 1
                               ? names.front()
                               : names.front() + " and those beside it";
  std::vector<float> values;
  models::QuantizedMatrix codes;
  const bool half = plan.formatOf(names.front()) == StoredFormat::F16;
  int64_t allRows = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    allRows += rows[i];
    if (half) {
      Expected<std::vector<float>> one = halves(names[i], rows[i], cols);
      if (!one) {
        return one.error();
      }
      append(values, *one);
      continue;
    }
    Expected<models::QuantizedMatrix> one = quantized(names[i], rows[i], cols);
    if (!one) {
      return one.error();
    }
    if (i == 0) {
      codes = std::move(*one);
    } else {
      append(codes.codes, one->codes);
      append(codes.scales, one->scales);
    }
  }
  codes.rows = allRows;
  return half ? DeviceMatrix::uploadHalves(allRows, cols, values, what)
              : DeviceMatrix::upload(codes, what);
}

Expected<DeviceMatrix> Loader::load(const std::string &name, int64_t rows,
                                    int64_t cols) {
  return loadJoined({name}, {rows}, cols);
}

void Loader::group(const std::vector<std::string> &names,
                   const std::vector<int64_t> &rows, int64_t cols,
                   MatrixGroup &to) {
  bool same = true;
  for (const std::string &name : names) {
    same = same && plan.formatOf(name) == plan.formatOf(names.front());
  }
  if (same && !failed()) {
    Expected<DeviceMatrix> loaded = loadJoined(names, rows, cols);
    loaded ? to.addJoined(std::move(*loaded), rows)
           : void(status = loaded.error());
    return;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    DeviceMatrix one;
    matrix(names[i], rows[i], cols, one);
    to.add(std::move(one));
  }
}

Expected<Buffer<float>> Loader::load(const std::string &name, int64_t size) {
  Expected<std::vector<float>> values = source.vector(name);
  if (!values) {
    return values.error();
  }
  if (int64_t(values->size()) != size) {
    return wrongShape(name, shapeText({size}),
                      shapeText({int64_t(values->size())}));
  }
  return Buffer<float>::copyOf(*values, name);
}

} // namespace

size_t MatrixGroup::bytes() const {
  size_t sum = 0;
  for (const DeviceMatrix &matrix : owned) {
    sum += matrix.bytes();
  }
  return sum;
}

void MatrixGroup::addJoined(DeviceMatrix matrix,
                            const std::vector<int64_t> &rows) {
  owned.push_back(std::move(matrix));
  whole = owned.back().view();
  oneMatrix = true;
  int64_t first = 0;
  for (int64_t count : rows) {
    MatrixView part = whole;
    part.rows = int32_t(count);
    part.codes += first * whole.rowBytes;
    part.scales += whole.scales != nullptr ? first * whole.scaleStride : 0;
    parts.push_back(part);
    first += count;
  }
}

void MatrixGroup::add(DeviceMatrix matrix) {
  owned.push_back(std::move(matrix));
  parts.push_back(owned.back().view());
}

size_t LayerWeights::bytes() const {
  return attnNorm.bytes() + ffnNorm.bytes() + qkv.bytes() + gateUp.bytes() +
         attnOutput.bytes() + down.bytes();
}

static void loadLayer(Loader &loader, const models::ModelConfig &config,
                      int64_t index, LayerWeights &to) {
  const auto name = [&](const char *tensor) {
    return "blk." + std::to_string(index) + "." + tensor + ".weight";
  };
  loader.vector(name("attn_norm"), config.hidden, to.attnNorm);
  loader.group({name("attn_q"), name("attn_k"), name("attn_v")},
               {config.queryWidth(), config.kvWidth(), config.kvWidth()},
               config.hidden, to.qkv);
  loader.matrix(name("attn_output"), config.hidden, config.queryWidth(),
                to.attnOutput);
  loader.vector(name("ffn_norm"), config.hidden, to.ffnNorm);
  loader.group({name("ffn_gate"), name("ffn_up")},
               {config.intermediate, config.intermediate}, config.hidden,
               to.gateUp);
  loader.matrix(name("ffn_down"), config.hidden, config.intermediate, to.down);
}

Expected<DecoderWeights>
DecoderWeights::load(const models::WeightSource &source,
                     const ReferencePlan &plan) {
  const models::ModelConfig &config = plan.config;
  DecoderWeights weights;
  Loader loader(source, plan);
  weights.tied = config.tiedEmbeddings;
  loader.matrix("token_embd.weight", config.vocab, config.hidden,
                weights.embedding);
  weights.blocks.resize(size_t(config.layers));
  for (int64_t index = 0; index < config.layers && !loader.failed(); ++index) {
    loadLayer(loader, config, index, weights.blocks[size_t(index)]);
  }
  loader.vector("output_norm.weight", config.hidden, weights.lastNorm);
  if (!weights.tied) {
    loader.matrix("output.weight", config.vocab, config.hidden, weights.output);
  }
  if (loader.failed()) {
    return loader.status.error();
  }
  return Expected<DecoderWeights>(std::move(weights));
}

size_t DecoderWeights::bytes() const {
  size_t sum = embedding.bytes() + output.bytes() + lastNorm.bytes();
  for (const LayerWeights &layer : blocks) {
    sum += layer.bytes();
  }
  return sum;
}

size_t DecoderWeights::bytesReadByStep(int64_t tokens) const {
  const size_t rows = size_t(embedding.view().rows);
  const size_t row = embedding.bytes() / rows;
  return tied ? bytes() : bytes() - embedding.bytes() + row * size_t(tokens);
}

} // namespace orrery::gpu::ORRERY_GPU
