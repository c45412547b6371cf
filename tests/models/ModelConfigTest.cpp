#include "models/ModelConfig.h"
#include "tests/models/SharedData.h"
#include "tests/models/TinyModel.h"

#include <gtest/gtest.h>

#include <limits>

using namespace orrery;
using namespace orrery::models;

namespace {

/// The message with which the model file is refused, or "".
std::string refusal(const ModelConfig &config, const ModelEdits &edits = {}) {
  std::vector<std::byte> bytes = writeModel(config, edits);
  Expected<GgufFile> file = GgufFile::parse(bytes);
  if (!file) {
    return "gguf: " + file.error().message;
  }
  Expected<ModelConfig> read = readModelConfig(*file);
  return read ? "" : read.error().message;
}

void expectPart(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos)
      << "message: " << message << "\nexpected part: " << part;
}

void expectRefused(const std::function<void(GgufBuilder &)> &add,
                   const std::string &part) {
  ModelEdits edits;
  edits.add = add;
  expectPart(refusal(tinyConfig(), edits), part);
}

Expected<ModelConfig> readBack(const ModelConfig &config,
                               const ModelEdits &edits = {}) {
  std::vector<std::byte> bytes = writeModel(config, edits);
  Expected<GgufFile> file = GgufFile::parse(bytes);
  if (!file) {
    return file.error();
  }
  return readModelConfig(*file);
}

//===-- Accounting --------------------------------------------------------===//

/// A model of facts/models.json with its row of facts/known-answers.md.
/// `kvBlind` is what comes out when attention heads are counted in place of KV
/// heads.
struct KnownModel {
  const char *name;
  int64_t layers, hidden, heads, kvHeads, headDim, intermediate, vocab;
  bool tied;
  int64_t parameters, decodeMacs, kvBytesF16, attentionMacs4096, kvBlind;
  ModelExtras extras = {};
};

constexpr int64_t kExperts = 8, kExpertsPerToken = 2; // Mixtral's

const KnownModel kKnown[] = {
    {"stories260K", 5, 64, 8, 4, 8, 172, 512, true, 260032, 259328, 640,
     2621440, 1280},
    {"stories15M", 6, 288, 6, 6, 48, 768, 32000, true, 15191712, 15187968, 6912,
     14155776, 6912},
    {"SmolLM2-135M", 30, 576, 9, 3, 64, 1536, 49152, true, 134515008, 134479872,
     23040, 141557760, 69120},
    {"Qwen2.5-0.5B",
     24,
     896,
     14,
     2,
     64,
     4864,
     151936,
     true,
     494032768,
     493961216,
     12288,
     176160768,
     86016,
     {.qkvBias = true}},
    {"Qwen3-0.6B",
     28,
     1024,
     16,
     8,
     128,
     3072,
     151936,
     true,
     596049920,
     595984384,
     114688,
     469762048,
     229376,
     {.qkNorm = true}},
    {"Llama-2-7B", 32, 4096, 32, 32, 128, 11008, 32000, false, 6738415616,
     6607077376, 524288, 1073741824, 524288},
    {"Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336, 128256, false, 8030261248,
     7504658432, 131072, 1073741824, 524288},
    {"Llama-3.1-70B", 80, 8192, 64, 8, 128, 28672, 128256, false, 70553706496,
     69501714432, 327680, 5368709120, 2621440},
    {"Mixtral-8x7B",
     32,
     4096,
     32,
     8,
     128,
     14336,
     32000,
     false,
     46702792704,
     12748587008,
     131072,
     1073741824,
     524288,
     {.experts = kExperts, .expertsPerToken = kExpertsPerToken}},
};

ModelConfig configOf(const KnownModel &known) {
  ModelConfig config = tinyConfig();
  config.name = known.name;
  config.layers = known.layers;
  config.hidden = known.hidden;
  config.heads = known.heads;
  config.kvHeads = known.kvHeads;
  config.headDim = known.headDim;
  config.ropeDimension = known.headDim;
  config.intermediate = known.intermediate;
  config.vocab = known.vocab;
  config.tiedEmbeddings = known.tied;
  config.extras = known.extras;
  return config;
}

TEST(ModelAccounting, AgreesWithKnownAnswers) {
  for (const KnownModel &known : kKnown) {
    ModelConfig config = configOf(known);
    ASSERT_TRUE(verifyConfig(config)) << known.name;
    EXPECT_EQ(parameterCount(config), known.parameters) << known.name;
    EXPECT_EQ(decodeMacsPerToken(config), known.decodeMacs) << known.name;
    EXPECT_EQ(kvBytesPerToken(config, KvFormat::F16), known.kvBytesF16)
        << known.name;
    EXPECT_EQ(attentionMacsPerToken(config, 4096), known.attentionMacs4096)
        << known.name;
  }
}

// The most common mistake in such tables: attention heads in place of KV heads.
TEST(ModelAccounting, KvBytesAreOfKvHeads) {
  for (const KnownModel &known : kKnown) {
    ModelConfig config = configOf(known);
    int64_t found = kvBytesPerToken(config, KvFormat::F16);
    EXPECT_EQ(found * known.heads, known.kvBlind * known.kvHeads) << known.name;
    if (known.kvHeads != known.heads) {
      EXPECT_NE(found, known.kvBlind) << known.name;
    }
    config.kvHeads = config.heads;
    EXPECT_EQ(kvBytesPerToken(config, KvFormat::F16), known.kvBlind)
        << known.name;
  }
}

// MiB at 4096 positions, from the table.
TEST(ModelAccounting, KvBytesAtAContext) {
  constexpr double kMiB[] = {2.5, 27, 90, 48, 448, 2048, 512, 1280, 512};
  for (size_t i = 0; i < std::size(kKnown); ++i) {
    int64_t bytes = kvBytesPerToken(configOf(kKnown[i]), KvFormat::F16) * 4096;
    EXPECT_EQ(double(bytes), kMiB[i] * (1 << 20)) << kKnown[i].name;
  }
  EXPECT_EQ(kvBytesPerToken(configOf(kKnown[2]), KvFormat::F16) * 8192,
            188743680);
}

TEST(ModelAccounting, ParametersAreTheSumOfTheTensors) {
  for (const KnownModel &known : kKnown) {
    ModelConfig config = configOf(known);
    int64_t sum = 0;
    for (const TensorShape &shape : expectedTensors(config)) {
      sum += shape.rows * shape.cols;
    }
    EXPECT_EQ(parameterCount(config), sum) << known.name;
  }
}

TEST(ModelAccounting, ExtrasAddTheirTensors) {
  ModelConfig config = tinyConfig(); // 2 layers, hidden 32, 4 heads on 2 of 8
  int64_t plain = parameterCount(config), macs = decodeMacsPerToken(config);
  config.extras.qkvBias = true;
  EXPECT_EQ(parameterCount(config), plain + 2 * (32 + 16 + 16));
  config.extras.qkvBias = false;
  config.extras.qkNorm = true;
  EXPECT_EQ(parameterCount(config), plain + 2 * (8 + 8));
  config.extras.qkNorm = false;
  config.extras.slidingWindow = 16;
  config.extras.ropeScaling = "linear, factor 4";
  EXPECT_EQ(parameterCount(config), plain);
  EXPECT_EQ(decodeMacsPerToken(config), macs);
  config.extras.experts = 5;
  config.extras.expertsPerToken = 2;
  int64_t expert = 3 * 32 * 40, router = 5 * 32;
  EXPECT_EQ(parameterCount(config), plain + 2 * (4 * expert + router));
  EXPECT_EQ(decodeMacsPerToken(config), macs + 2 * (expert + router));
}

TEST(ModelAccounting, KvFormatsCountTheirScales) {
  ModelConfig config = tinyConfig(); // 2 layers, 2 KV heads of 8
  EXPECT_EQ(kvBytesPerToken(config, KvFormat::F16), 2 * 2 * 2 * 8 * 2);
  EXPECT_EQ(kvBytesPerToken(config, KvFormat::Q8), 2 * 2 * 2 * (8 + 2));
  EXPECT_EQ(kvBytesPerToken(config, KvFormat::Q4), 2 * 2 * 2 * (4 + 2));
}

// facts/known-answers.md: 32 heads · 8192² scores are the first int32 overflow.
TEST(ModelAccounting, CountsBeyond32Bits) {
  ModelConfig config = configOf(kKnown[5]);
  EXPECT_EQ(attentionMacsPerToken(config, 8192) * 8192,
            int64_t(2) * 32 * 32 * 128 * 8192 * 8192);
}

//===-- Checks of the numbers ---------------------------------------------===//

TEST(ModelConfig, VerifyNamesTheField) {
  auto message = [](auto change) {
    ModelConfig config = tinyConfig();
    change(config);
    Status status = verifyConfig(config);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(message([](ModelConfig &) {}), "");
  expectPart(message([](ModelConfig &c) { c.layers = 0; }),
             "config layers: expected 1 to 2147483647, found 0");
  expectPart(message([](ModelConfig &c) { c.kvHeads = 3; }),
             "config kvHeads: expected a divisor of heads 4, found 3");
  expectPart(message([](ModelConfig &c) { c.kvHeads = 8; }),
             "config kvHeads: expected a divisor of heads 4, found 8");
  expectPart(message([](ModelConfig &c) { c.ropeDimension = 10; }),
             "config ropeDimension: expected an even number up to headDim 8");
  expectPart(message([](ModelConfig &c) { c.ropeDimension = 7; }),
             "config ropeDimension");
  expectPart(message([](ModelConfig &c) { c.normEps = 0; }),
             "config normEps: expected a positive number");
  expectPart(message([](ModelConfig &c) {
               c.ropeTheta = std::numeric_limits<double>::infinity();
             }),
             "config ropeTheta");
  expectPart(message([](ModelConfig &c) { c.extras.slidingWindow = -1; }),
             "config slidingWindow: expected 0 to 2147483647, found -1");
  expectPart(message([](ModelConfig &c) { c.extras.experts = -1; }),
             "config experts: expected 0 to 2147483647, found -1");
  expectPart(message([](ModelConfig &c) { c.extras.experts = 4; }),
             "config expertsPerToken: expected 1 to 4 experts, found 0");
  expectPart(message([](ModelConfig &c) { c.extras.expertsPerToken = 1; }),
             "config expertsPerToken: expected 0 to 0 experts, found 1");
  expectPart(message([](ModelConfig &c) {
               c.layers = c.hidden = c.intermediate = 2147483647;
             }),
             "below 2^60");
}

//===-- Reading -----------------------------------------------------------===//

TEST(ModelConfig, ReadsWhatWasWritten) {
  ModelConfig tied = tinyConfig();
  Expected<ModelConfig> read = readBack(tied);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, tied);

  ModelConfig untied = tinyConfig();
  untied.tiedEmbeddings = false;
  read = readBack(untied);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, untied);
}

// head_dim is not hidden / heads: Qwen3-0.6B has 128 where that gives 64.
TEST(ModelConfig, KeyLengthOverridesHeadDim) {
  ModelConfig config = tinyConfig();
  config.headDim = 24;
  config.ropeDimension = 24;
  Expected<ModelConfig> read = readBack(config);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->headDim, 24);
  EXPECT_EQ(read->queryWidth(), 96);
}

TEST(ModelConfig, Defaults) {
  ModelConfig config = tinyConfig();
  config.kvHeads = config.heads;
  ModelEdits edits;
  edits.dropKeys = {"llama.attention.head_count_kv",
                    "llama.attention.key_length", "llama.rope.dimension_count"};
  Expected<ModelConfig> read = readBack(config, edits);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, config);
}

TEST(ModelConfig, VocabularyWithoutTokensIsTheEmbeddings) {
  ModelEdits edits;
  edits.dropKeys = {"tokenizer.ggml.tokens"};
  Expected<ModelConfig> read = readBack(tinyConfig(), edits);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->vocab, 6);
}

TEST(ModelConfig, RefusesMissingKeysAndTensors) {
  ModelEdits edits;
  edits.dropKeys = {"llama.block_count"};
  expectPart(refusal(tinyConfig(), edits),
             "metadata \"llama.block_count\": expected an integer of 0 or "
             "more, found no such key");
  edits.dropKeys = {"llama.attention.layer_norm_rms_epsilon"};
  expectPart(refusal(tinyConfig(), edits),
             "expected f32 or f64, found no such");
  edits.dropKeys = {};
  edits.dropTensors = {"blk.1.ffn_up.weight"};
  expectPart(refusal(tinyConfig(), edits),
             "tensor \"blk.1.ffn_up.weight\": expected shape (innermost "
             "first) [32, 40], found no such tensor");
}

TEST(ModelConfig, RefusesWrongShapes) {
  ModelEdits edits;
  edits.dropTensors = {"blk.0.attn_k.weight"};
  edits.add = [](GgufBuilder &file) {
    file.tensorF32("blk.0.attn_k.weight", {32, 32},
                   std::vector<float>(32 * 32));
  };
  expectPart(refusal(tinyConfig(), edits),
             "tensor \"blk.0.attn_k.weight\": expected shape (innermost "
             "first) [32, 16], found [32, 32]");
}

TEST(ModelConfig, RefusesUnsupportedFeatures) {
  expectRefused([](GgufBuilder &f) { f.u32("llama.expert_count", 8); },
                "\"llama.expert_count\": mixture of experts is not supported: "
                "expected 0, found \"8\"");
  expectRefused(
      [](GgufBuilder &f) { f.string("llama.rope.scaling.type", "linear"); },
      "rope scaling is not supported: expected none, found \"linear\"");
  expectRefused([](GgufBuilder &f) { f.f32("llama.rope.scaling.factor", 8); },
                "rope scaling is not supported: expected 1 or 0, found \"8\"");
  expectRefused(
      [](GgufBuilder &f) { f.u32("llama.attention.sliding_window", 4096); },
      "sliding window is not supported");
  expectRefused([](GgufBuilder &f) { f.boolean("llama.attention.causal", 0); },
                "bidirectional attention is not supported");
  expectRefused([](GgufBuilder &f) { f.u32("llama.some_new_switch", 1); },
                "expected a known key of architecture \"llama\"");
  expectRefused(
      [](GgufBuilder &f) { f.u32("llama.attention.value_length", 16); },
      "expected the key length 8, found 16");
  expectRefused([](GgufBuilder &f) { f.u32("llama.vocab_size", 7); },
                "expected 6 as in the token list or embedding, found 7");
}

TEST(ModelConfig, AcceptsFeaturesThatAreOff) {
  ModelEdits edits;
  edits.add = [](GgufBuilder &file) {
    file.u32("llama.expert_count", 0).u32("llama.attention.sliding_window", 0);
    file.string("llama.rope.scaling.type", "none");
    file.f32("llama.rope.scaling.factor", 1).u32("llama.vocab_size", 6);
  };
  EXPECT_EQ(refusal(tinyConfig(), edits), "");
}

TEST(ModelConfig, RefusesUnsupportedTensors) {
  auto withTensor = [](const char *name) {
    return [name](GgufBuilder &file) {
      file.tensorF32(name, {4}, std::vector<float>(4));
    };
  };
  expectRefused(withTensor("blk.0.attn_q.bias"), "biases are not supported");
  expectRefused(withTensor("rope_freqs.weight"),
                "rope scaling is not supported");
  expectRefused(withTensor("blk.0.ffn_up_exps.weight"),
                "mixture of experts is not supported");
  expectRefused(withTensor("blk.0.attn_q_norm.weight"),
                "no part of a dense llama decoder");
}

TEST(ModelConfig, RefusesOtherArchitectures) {
  ModelConfig config = tinyConfig();
  config.architecture = "falcon";
  expectPart(refusal(config), "architecture \"falcon\" is not supported "
                              "(supported: llama)");
}

TEST(ModelConfig, RefusesImplausibleNumbers) {
  auto with = [](std::string_view dropped, uint32_t value) {
    ModelEdits edits;
    edits.dropKeys = {dropped};
    edits.add = [=](GgufBuilder &file) { file.u32(dropped, value); };
    return refusal(tinyConfig(), edits);
  };
  expectPart(with("llama.block_count", 2000000000),
             "expected at most one layer for each of the 20 tensors");
  expectPart(with("llama.block_count", 0), "config layers: expected 1 to");
  expectPart(with("llama.attention.head_count", 0),
             "\"llama.attention.head_count\": expected 1 or more, found 0");
  expectPart(with("llama.attention.head_count_kv", 0), "config kvHeads");
  expectPart(with("llama.context_length", 4000000000),
             "\"llama.context_length\": expected at most 2147483647");
  ModelEdits edits;
  edits.dropKeys = {"llama.attention.key_length", "llama.attention.head_count"};
  edits.add = [](GgufBuilder &file) {
    file.u32("llama.attention.head_count", 5);
  };
  expectPart(refusal(tinyConfig(), edits),
             "\"llama.embedding_length\": expected a multiple of 5 heads");
}

TEST(ModelConfig, ReadsTrainedModels) {
  SKIP_WITHOUT_SHARED("stories260K/stories260K-F32.gguf");
  Expected<GgufFile> file =
      GgufFile::open(sharedFile("stories260K/stories260K-F32.gguf"));
  ASSERT_TRUE(file) << file.error().message;
  Expected<ModelConfig> config = readModelConfig(*file);
  ASSERT_TRUE(config) << config.error().message;
  ModelConfig expected = configOf(kKnown[0]);
  expected.contextLength = 512;
  EXPECT_EQ(*config, expected);

  file =
      GgufFile::open(sharedFile("tinystories-656K/tinystories-656K-Q8_0.gguf"));
  ASSERT_TRUE(file) << file.error().message;
  config = readModelConfig(*file);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->hidden, 128);
  EXPECT_EQ(config->headDim, 16);
  EXPECT_EQ(config->vocab, 2048);
  EXPECT_EQ(config->normEps, 1e-6f);
  EXPECT_TRUE(config->tiedEmbeddings);
}

TEST(ModelConfig, ReadsVocabularyOnlyFiles) {
  SKIP_WITHOUT_SHARED("tokenizers/ggml-vocab-llama-spm.gguf");
  Expected<GgufFile> file =
      GgufFile::open(sharedFile("tokenizers/ggml-vocab-llama-spm.gguf"));
  ASSERT_TRUE(file) << file.error().message;
  Expected<ModelConfig> config = readModelConfigMetadata(*file);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->vocab, 32000);
  Expected<ModelConfig> whole = readModelConfig(*file);
  ASSERT_FALSE(whole);

  file =
      GgufFile::open(sharedFile("tokenizers/ggml-vocab-deepseek-coder.gguf"));
  ASSERT_TRUE(file) << file.error().message;
  config = readModelConfigMetadata(*file);
  ASSERT_FALSE(config);
  expectPart(config.error().message, "rope scaling is not supported");
}

} // namespace
