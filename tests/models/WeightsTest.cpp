#include "models/Weights.h"
#include "machine/numerics.h"
#include "models/RandomWeights.h"
#include "tests/models/SharedData.h"
#include "tests/models/TinyModel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace orrery;
using namespace orrery::models;

namespace {

std::string messageOf(const Expected<QuantizedMatrix> &result) {
  return result ? "" : result.error().message;
}

void expectPart(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos)
      << "message: " << message << "\nexpected part: " << part;
}

/// Every value of the matrix is within half a step of the f32 one; padding is
/// 0.
void expectClose(const QuantizedMatrix &matrix,
                 const std::vector<float> &values, float steps) {
  for (int64_t row = 0; row < matrix.rows; ++row) {
    std::vector<float> decoded = matrix.dequantizedRow(row);
    for (int64_t col = 0; col < matrix.cols; ++col) {
      size_t block = static_cast<size_t>(row * matrix.blocksPerRow + col / 32);
      float step = std::fabs(numerics::halfToFloat(matrix.scales[block]));
      float exact = values[static_cast<size_t>(row * matrix.cols + col)];
      ASSERT_LE(std::fabs(decoded[static_cast<size_t>(col)] - exact),
                steps * step + 1e-12f)
          << row << ", " << col;
    }
    for (int64_t col = matrix.cols; col < 32 * matrix.blocksPerRow; ++col) {
      ASSERT_EQ(
          matrix
              .codes[static_cast<size_t>(row * 32 * matrix.blocksPerRow + col)],
          0);
    }
  }
}

TEST(Weights, QuantizesFloatsToTheFormatAskedFor) {
  SKIP_WITHOUT_SHARED("stories260K/stories260K-F32.gguf");
  for (const char *type : {"F32", "F16", "BF16"}) {
    Expected<WeightFile> file = WeightFile::open(
        sharedFile(std::string("stories260K/stories260K-") + type + ".gguf"));
    ASSERT_TRUE(file) << file.error().message;
    for (const TensorShape &shape : expectedTensors(file->config())) {
      Expected<std::vector<float>> values = file->vector(shape.name);
      ASSERT_TRUE(values) << values.error().message;
      ASSERT_EQ(static_cast<int64_t>(values->size()), shape.rows * shape.cols);
      if (shape.isVector) {
        EXPECT_FALSE(file->matrix(shape.name, WeightFormat::Q8_0));
        continue;
      }
      for (WeightFormat format : {WeightFormat::Q8_0, WeightFormat::Q4_0}) {
        Expected<QuantizedMatrix> matrix = file->matrix(shape.name, format);
        ASSERT_TRUE(matrix) << messageOf(matrix);
        EXPECT_EQ(matrix->format, format);
        EXPECT_EQ(matrix->rows, shape.rows);
        EXPECT_EQ(matrix->cols, shape.cols);
        // Q4_0 has no code 8, and its f16 scale rounds: up to a step.
        expectClose(*matrix, *values,
                    format == WeightFormat::Q8_0 ? 0.6f : 1.1f);
      }
    }
  }
}

// The last block of a row of 172 is partly padding.
TEST(Weights, PadsShortRows) {
  SKIP_WITHOUT_SHARED("stories260K/stories260K-F32.gguf");
  Expected<WeightFile> file =
      WeightFile::open(sharedFile("stories260K/stories260K-F32.gguf"));
  ASSERT_TRUE(file) << file.error().message;
  Expected<QuantizedMatrix> matrix =
      file->matrix("blk.0.ffn_down.weight", WeightFormat::Q8_0);
  ASSERT_TRUE(matrix) << messageOf(matrix);
  EXPECT_EQ(matrix->cols, 172);
  EXPECT_EQ(matrix->blocksPerRow, 6);
  EXPECT_EQ(matrix->scales.size(), 64u * 6);
  EXPECT_EQ(matrix->codes.size(), 64u * 192);
}

TEST(Weights, QuantizedTensorsKeepTheirFormatAndBytes) {
  for (WeightFormat own : {WeightFormat::Q8_0, WeightFormat::Q4_0}) {
    bool isQ8 = own == WeightFormat::Q8_0;
    std::string relative = std::string("tinystories-656K/tinystories-656K-") +
                           (isQ8 ? "Q8_0.gguf" : "Q4_0.gguf");
    SKIP_WITHOUT_SHARED(relative);
    Expected<WeightFile> file = WeightFile::open(sharedFile(relative));
    ASSERT_TRUE(file) << file.error().message;
    const char *name = "blk.1.ffn_down.weight";
    WeightFormat other = isQ8 ? WeightFormat::Q4_0 : WeightFormat::Q8_0;
    Expected<QuantizedMatrix> matrix = file->matrix(name, other);
    ASSERT_TRUE(matrix) << messageOf(matrix);
    EXPECT_EQ(matrix->format, own);
    auto stored = file->gguf().data(*file->gguf().findTensor(name));
    ASSERT_TRUE(stored);
    std::vector<std::byte> packed(stored->size());
    packBlocks(own, matrix->scales, matrix->codes, packed);
    EXPECT_TRUE(std::equal(packed.begin(), packed.end(), stored->begin()));
    // vector() decodes the stored values, as dequantizedRow does.
    Expected<std::vector<float>> values = file->vector(name);
    ASSERT_TRUE(values);
    std::vector<float> row = matrix->dequantizedRow(3);
    EXPECT_TRUE(
        std::equal(row.begin(), row.end(), values->begin() + 3 * matrix->cols));
  }
}

TEST(Weights, RequantizesOnlyWhenToldTo) {
  std::string relative = "tinystories-656K/tinystories-656K-Q4_0.gguf";
  SKIP_WITHOUT_SHARED(relative);
  Expected<WeightFile> file =
      WeightFile::open(sharedFile(relative), {.requantize = true});
  ASSERT_TRUE(file) << file.error().message;
  const char *name = "blk.0.attn_q.weight";
  Expected<QuantizedMatrix> matrix = file->matrix(name, WeightFormat::Q8_0);
  ASSERT_TRUE(matrix) << messageOf(matrix);
  EXPECT_EQ(matrix->format, WeightFormat::Q8_0);
  expectClose(*matrix, *file->vector(name), 0.6f);
}

TEST(Weights, OutputOfATiedModelIsTheEmbedding) {
  std::vector<std::byte> bytes = writeModel(tinyConfig());
  Expected<WeightFile> file = WeightFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  Expected<QuantizedMatrix> output =
      file->matrix("output.weight", WeightFormat::Q8_0);
  ASSERT_TRUE(output) << messageOf(output);
  EXPECT_EQ(*output, *file->matrix("token_embd.weight", WeightFormat::Q8_0));
  ASSERT_NE(file->tokenizer(), nullptr);
  EXPECT_EQ(file->tokenizer()->vocabSize(), 6);
}

TEST(Weights, FileWithoutTokenizerHasNone) {
  ModelEdits edits;
  edits.dropKeys = {"tokenizer.ggml.tokens"};
  std::vector<std::byte> bytes = writeModel(tinyConfig(), edits);
  Expected<WeightFile> file = WeightFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tokenizer(), nullptr);
}

TEST(Weights, RefusesUnloadableTypesWhenOpened) {
  std::string relative = "tinystories-656K/tinystories-656K-IQ4_NL.gguf";
  SKIP_WITHOUT_SHARED(relative);
  Expected<WeightFile> file = WeightFile::open(sharedFile(relative));
  ASSERT_FALSE(file);
  expectPart(file.error().message, "type IQ4_NL cannot be loaded (supported: "
                                   "F32, F16, BF16, Q8_0, Q4_0)");
  expectPart(file.error().message, relative);
}

TEST(Weights, RefusesHeaderOnlyFiles) {
  std::vector<std::byte> bytes = writeModel(tinyConfig());
  bytes.resize(GgufFile::parse(bytes)->dataStart());
  Expected<WeightFile> file = WeightFile::parse(bytes);
  ASSERT_FALSE(file);
  expectPart(file.error().message, "found a file that ends with its header");
}

TEST(Weights, RefusesUnknownNamesAndVectors) {
  std::vector<std::byte> bytes = writeModel(tinyConfig());
  Expected<WeightFile> file = WeightFile::parse(bytes);
  ASSERT_TRUE(file) << file.error().message;
  expectPart(messageOf(file->matrix("blk.9.attn_q.weight", WeightFormat::Q8_0)),
             "tensor \"blk.9.attn_q.weight\": expected in the file, found no "
             "such tensor");
  expectPart(messageOf(file->matrix("output_norm.weight", WeightFormat::Q8_0)),
             "expected a matrix, found a vector");
}

TEST(Weights, RefusesValuesThatAreNoNumbers) {
  auto withValue = [](float value) {
    ModelEdits edits;
    edits.value = [value](const std::string &name, size_t index) {
      return name == "blk.0.attn_v.weight" && index == 70 ? value : 0.5f;
    };
    std::vector<std::byte> bytes = writeModel(tinyConfig(), edits);
    Expected<WeightFile> file = WeightFile::parse(bytes);
    EXPECT_TRUE(file);
    return messageOf(file->matrix("blk.0.attn_v.weight", WeightFormat::Q8_0));
  };
  EXPECT_EQ(withValue(3.0f), "");
  expectPart(withValue(std::numeric_limits<float>::quiet_NaN()),
             "row 2 column 6: expected a finite value, found nan");
  expectPart(withValue(std::numeric_limits<float>::infinity()),
             "row 2 column 6: expected a finite value, found inf");
  expectPart(withValue(1e30f), "expected a scale that is finite in f16");
}

//===-- Random weights ----------------------------------------------------===//

TEST(RandomWeights, SameSeedSameValues) {
  RandomWeights first(tinyConfig(), 7);
  RandomWeights second(tinyConfig(), 7);
  RandomWeights other(tinyConfig(), 8);
  const char *name = "blk.1.ffn_down.weight";
  Expected<QuantizedMatrix> matrix = first.matrix(name, WeightFormat::Q8_0);
  ASSERT_TRUE(matrix) << messageOf(matrix);
  EXPECT_EQ(*matrix, *second.matrix(name, WeightFormat::Q8_0));
  EXPECT_NE(matrix->codes, other.matrix(name, WeightFormat::Q8_0)->codes);
  EXPECT_NE(*first.vector("blk.0.ffn_down.weight"), *first.vector(name));
}

TEST(RandomWeights, MatrixIsTheQuantizedVector) {
  ModelConfig config = tinyConfig();
  config.intermediate = 77;
  RandomWeights weights(config, 1);
  for (const TensorShape &shape : expectedTensors(config)) {
    Expected<std::vector<float>> values = weights.vector(shape.name);
    ASSERT_TRUE(values) << values.error().message;
    ASSERT_EQ(static_cast<int64_t>(values->size()), shape.rows * shape.cols);
    if (shape.isVector) {
      continue;
    }
    Expected<QuantizedMatrix> matrix =
        weights.matrix(shape.name, WeightFormat::Q4_0);
    ASSERT_TRUE(matrix) << messageOf(matrix);
    expectClose(*matrix, *values, 1.1f);
  }
}

// Fixtures and benches depend on these values staying as they are.
TEST(RandomWeights, ValuesArePinned) {
  RandomWeights weights(tinyConfig(), 42);
  std::vector<float> norm = *weights.vector("output_norm.weight");
  EXPECT_EQ(norm[0], 0x1.060ceep+0f);
  EXPECT_EQ(norm[1], 0x1.038b9p+0f);
  std::vector<float> query = *weights.vector("blk.0.attn_q.weight");
  EXPECT_EQ(query[0], -0x1.0e5a5p-3f);
  EXPECT_EQ(query[2], 0x1.85c5cep-6f);
  Expected<QuantizedMatrix> matrix =
      weights.matrix("blk.0.attn_q.weight", WeightFormat::Q8_0);
  ASSERT_TRUE(matrix) << messageOf(matrix);
  EXPECT_EQ(matrix->scales[0], 0x18d1);
  EXPECT_EQ(matrix->codes[0], -56);
  EXPECT_EQ(matrix->codes[2], 10);
}

// Weights of order 1/sqrt(cols), norms around one.
TEST(RandomWeights, ValuesStayInRange) {
  RandomWeights weights(tinyConfig(), 5);
  double sumOfSquares = 0;
  std::vector<float> query = *weights.vector("blk.0.attn_q.weight");
  for (float value : query) {
    EXPECT_LE(std::fabs(value), std::sqrt(3.0f / 32));
    sumOfSquares += double(value) * value;
  }
  EXPECT_NEAR(sumOfSquares / double(query.size()) * 32, 1.0, 0.2);
  std::vector<float> norm = *weights.vector("output_norm.weight");
  for (float value : norm) {
    EXPECT_NEAR(value, 1.0f, 0.125f);
  }
}

TEST(RandomWeights, TiedAndUnknownNames) {
  RandomWeights weights(tinyConfig(), 3);
  EXPECT_EQ(*weights.vector("output.weight"),
            *weights.vector("token_embd.weight"));
  expectPart(
      messageOf(weights.matrix("output_norm.weight", WeightFormat::Q8_0)),
      "expected a matrix of the model, found none so named");
  EXPECT_FALSE(weights.vector("blk.2.attn_q.weight"));
}

} // namespace
