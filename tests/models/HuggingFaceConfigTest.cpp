#include "models/HuggingFaceConfig.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::models {
namespace {

std::string zoo(const std::string &name) {
  return std::string(ORRERY_SOURCE_DIR) + "/models/zoo/" + name + ".json";
}

// Parameters and KV bytes from the published checkpoints.
TEST(HuggingFaceConfig, ZooShapesHaveThePublishedSizes) {
  struct {
    const char *name;
    int64_t parameters, kvBytes;
  } shapes[] = {{"llama-2-7b", 6738415616, 524288},
                {"smollm2-135m", 134515008, 23040},
                {"tinyllama-1.1b", 1100048384, 22528}};
  for (const auto &shape : shapes) {
    auto config = readHuggingFaceConfig(zoo(shape.name));
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->name, shape.name);
    EXPECT_EQ(parameterCount(*config), shape.parameters) << shape.name;
    EXPECT_EQ(kvBytesPerToken(*config, KvFormat::F16), shape.kvBytes)
        << shape.name;
    EXPECT_EQ(config->ropePairing, RopePairing::Half);
  }
}

constexpr const char *kSmall = R"({
  "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2,
  "intermediate_size": 96, "vocab_size": 100,
  "max_position_embeddings": 128, "rms_norm_eps": 1e-6)";

Expected<ModelConfig> parse(const std::string &more) {
  return parseHuggingFaceConfig(std::string(kSmall) + more + "}", "c.json");
}

TEST(HuggingFaceConfig, MissingNumbersHaveTheLibrarysDefaults) {
  auto config = parse("");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->headDim, 16);
  EXPECT_EQ(config->ropeDimension, 16);
  EXPECT_EQ(config->ropeTheta, 10000.0);
  EXPECT_FALSE(config->tiedEmbeddings);
}

TEST(HuggingFaceConfig, HeadDimNeedNotBeHiddenOverHeads) {
  auto config = parse(R"(, "head_dim": 32, "tie_word_embeddings": true)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->queryWidth(), 128);
  EXPECT_TRUE(config->tiedEmbeddings);
}

TEST(HuggingFaceConfig, HarmlessKeysAreKnownByName) {
  EXPECT_TRUE(parse(R"(, "torch_dtype": "bfloat16", "rope_scaling": null,
                      "hidden_act": "silu", "attention_bias": false)"));
}

TEST(HuggingFaceConfig, WhatIsWrongIsNamed) {
  struct {
    const char *more, *message;
  } cases[] = {
      {R"(, "rope_scaling": {"type": "linear"})",
       "c.json: rope_scaling: expected null, as nothing else is supported, "
       "found {\"type\":\"linear\"}"},
      {R"(, "sliding_window": 4096)", "sliding_window: expected null"},
      {R"(, "attention_bias": true)", "attention_bias: expected false"},
      {R"(, "hidden_act": "gelu")", "hidden_act: expected \"silu\""},
      {R"(, "num_local_experts": 8)",
       "num_local_experts: expected a key of a llama config.json, found 8"},
      {R"(, "head_dim": 0)", "head_dim: expected a whole number from 1"},
      {R"(, "head_dim": "x")", "head_dim: expected a whole number from 1"},
      {R"(, "rope_theta": -1)", "rope_theta: expected a number above 0"},
      {R"(, "tie_word_embeddings": 1)",
       "tie_word_embeddings: expected true or false, found 1"},
  };
  for (const auto &c : cases) {
    auto config = parse(c.more);
    ASSERT_FALSE(config) << c.more;
    EXPECT_NE(config.error().message.find(c.message), std::string::npos)
        << config.error().message;
  }
}

TEST(HuggingFaceConfig, NumbersThatDoNotGoTogether) {
  auto config = parseHuggingFaceConfig(
      R"({"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 3,
          "intermediate_size": 96, "vocab_size": 100,
          "max_position_embeddings": 128})",
      "c.json");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().message.rfind("c.json: ", 0), 0u);
}

TEST(HuggingFaceConfig, TextThatIsNoObject) {
  for (const char *text : {"", "[]", "{", "nonsense"}) {
    EXPECT_FALSE(parseHuggingFaceConfig(text, "c.json")) << text;
  }
  EXPECT_FALSE(readHuggingFaceConfig("/nowhere.json"));
}

} // namespace
} // namespace orrery::models
