#include "models/HuggingFaceConfig.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::models {
namespace {

constexpr const char *kSmall = R"({
  "hidden_size": 64, "num_hidden_layers": 2,
  "num_attention_heads": 4, "num_key_value_heads": 2,
  "intermediate_size": 96, "vocab_size": 100,
  "max_position_embeddings": 128, "rms_norm_eps": 1e-6)";

Expected<ModelConfig> parseAs(const std::string &type,
                              const std::string &more) {
  return parseHuggingFaceConfig(std::string(kSmall) + R"(, "model_type": ")" +
                                    type + "\"" + more + "}",
                                "c.json");
}
Expected<ModelConfig> parse(const std::string &more) {
  return parseAs("llama", more);
}

void expectPart(const Expected<ModelConfig> &config, const std::string &part) {
  ASSERT_FALSE(config) << part;
  EXPECT_NE(config.error().message.find(part), std::string::npos)
      << config.error().message << "\nexpected part: " << part;
}

TEST(HuggingFaceConfig, MissingNumbersHaveTheLibrarysDefaults) {
  auto config = parse("");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->headDim, 16);
  EXPECT_EQ(config->ropeDimension, 16);
  EXPECT_EQ(config->ropeTheta, 10000.0);
  EXPECT_FALSE(config->tiedEmbeddings);
  EXPECT_EQ(config->architecture, "llama");
  EXPECT_EQ(config->ropePairing, RopePairing::Half);
  EXPECT_EQ(config->extras, ModelExtras());
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
       "c.json: rope_scaling: factor: expected a number above 0, found no such "
       "key"},
      {R"(, "rope_scaling": {"type": "yarn", "factor": 4})",
       "c.json: rope_scaling: expected null, or an object of rope_type "
       "\"llama3\", \"linear\" or \"default\", found {\"factor\":4,"},
      {R"(, "rope_scaling": 8)", "rope_scaling: expected null, or an object"},
      {R"(, "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
            "low_freq_factor": 1.0, "high_freq_factor": 4.0})",
       "rope_scaling: original_max_position_embeddings: expected a number "
       "above 0"},
      {R"(, "rope_scaling": {"type": "linear", "factor": 2, "beta": 1})",
       "rope_scaling: beta: expected a key of this rope_scaling, found 1"},
      {R"(, "sliding_window": 4096)",
       "sliding_window: expected null, as nothing else is supported"},
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

TEST(HuggingFaceConfig, RopeScalingIsKeptInWords) {
  auto scaling = [](const char *json) {
    auto config = parse(std::string(R"(, "rope_scaling": )") + json);
    return config ? config->extras.ropeScaling : config.error().message;
  };
  EXPECT_EQ(scaling(R"({"rope_type": "llama3", "factor": 8.0,
                        "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                        "original_max_position_embeddings": 8192})"),
            "llama3, factor 8");
  EXPECT_EQ(scaling(R"({"type": "linear", "factor": 2.5})"),
            "linear, factor 2.5");
  EXPECT_EQ(scaling(R"({"type": "linear", "factor": 1})"), "");
  EXPECT_EQ(scaling(R"({"rope_type": "default"})"), "");
  EXPECT_EQ(scaling("null"), "");
}

TEST(HuggingFaceConfig, MistralHasAWindowOrSaysThatItHasNone) {
  auto config = parseAs("mistral", R"(, "sliding_window": 32)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->extras.slidingWindow, 32);
  config = parseAs("mistral", R"(, "sliding_window": null)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->extras, ModelExtras());
  // The library takes 4096.
  expectPart(parseAs("mistral", ""),
             "sliding_window: expected the key, as mistral has a default of "
             "its own, found no such key");
  expectPart(parseAs("mistral", R"(, "sliding_window": -1)"),
             "sliding_window: expected a whole number from 1");
}

TEST(HuggingFaceConfig, QwenHasWhatNoKeySays) {
  auto config = parseAs("qwen2", R"(, "use_sliding_window": false,
                         "sliding_window": 32768, "max_window_layers": 70)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->extras, ModelExtras{.qkvBias = true});
  EXPECT_EQ(config->architecture, "qwen2");
  config = parseAs("qwen3", R"(, "head_dim": 32, "attention_bias": false)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->extras, ModelExtras{.qkNorm = true});
  expectPart(parseAs("qwen3", ""), "head_dim: expected the key, as qwen3 has");
  expectPart(parseAs("qwen2", R"(, "use_sliding_window": true)"),
             "use_sliding_window: expected false, as windows of some layers "
             "are not supported, found true");
}

TEST(HuggingFaceConfig, MixtralHasExperts) {
  const std::string required = R"(, "rope_theta": 1e6)";
  auto config = parseAs("mixtral", required + R"(, "num_local_experts": 8,
                        "num_experts_per_tok": 2)");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->extras, (ModelExtras{.experts = 8, .expertsPerToken = 2}));
  expectPart(parseAs("mixtral", required),
             "num_local_experts: expected a whole number, found no such key");
  expectPart(parseAs("mixtral", required + R"(, "num_local_experts": 2,
                     "num_experts_per_tok": 3)"),
             "config expertsPerToken: expected 1 to 2 experts, found 3");
}

// Its KV cache is no K and V of heads (known-answers.md: 70,272 B a token, not
// 4,997,120), so no figure of it can come from here.
TEST(HuggingFaceConfig, OtherFamiliesAreRefused) {
  expectPart(parseAs("deepseek_v3", R"(, "kv_lora_rank": 512)"),
             "c.json: model_type: expected one of \"llama\", \"mistral\", "
             "\"qwen2\", \"qwen3\", \"mixtral\", found \"deepseek_v3\" "
             "(multi-head latent attention is not supported)");
  expectPart(parseAs("gemma2", ""), "found \"gemma2\"");
  expectPart(parseHuggingFaceConfig(R"({"hidden_size": 64})", "c.json"),
             "model_type: expected one of \"llama\"");
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
