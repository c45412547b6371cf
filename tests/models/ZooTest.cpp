#include "models/Zoo.h"

#include "models/HuggingFaceConfig.h"
#include "models/NotModelled.h"
#include "models/Weights.h"
#include "tests/machine/TemporaryFolder.h"
#include "tests/models/SharedData.h"
#include "tests/models/TinyModel.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <set>

namespace orrery::models {
namespace {

using Json = nlohmann::json;

std::filesystem::path zooFolder() {
  return std::filesystem::path(ORRERY_SOURCE_DIR) / "models" / "zoo";
}

std::vector<ZooModel> zoo() {
  auto models = zooModels();
  EXPECT_TRUE(models) << models.error().message;
  return models ? *models : std::vector<ZooModel>();
}

TEST(Zoo, ParametersAreThePublishedOnes) {
  for (const ZooModel &model : zoo()) {
    EXPECT_EQ(parameterCount(model.config), model.parameters)
        << model.config.name;
    EXPECT_FALSE(model.checkpoint.empty()) << model.config.name;
    EXPECT_FALSE(model.sources.empty()) << model.config.name;
  }
}

TEST(Zoo, ParametersAreTheSumOfTheTensors) {
  for (const ZooModel &model : zoo()) {
    int64_t sum = 0;
    std::set<std::string> names;
    for (const TensorShape &shape : expectedTensors(model.config)) {
      sum += shape.rows * shape.cols;
      EXPECT_TRUE(names.insert(shape.name).second) << shape.name;
    }
    EXPECT_EQ(parameterCount(model.config), sum) << model.config.name;
  }
}

TEST(Zoo, HasEveryFileUnderItsNameAndNothingElse) {
  std::set<std::string> files, names;
  for (const auto &entry : std::filesystem::directory_iterator(zooFolder())) {
    files.insert(entry.path().stem().string());
    auto config = readHuggingFaceConfig(entry.path().string());
    ASSERT_TRUE(config) << config.error().message;
    auto built = loadShape(entry.path().stem().string());
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_EQ(*built, *config);
  }
  for (const ZooModel &model : zoo()) {
    names.insert(model.config.name);
    EXPECT_TRUE(isZooName(model.config.name));
  }
  EXPECT_EQ(names, files);
  EXPECT_GE(names.size(), 39u);
}

TEST(Zoo, FamiliesStandTogetherSmallestFirst) {
  std::vector<std::string> names;
  for (const ZooModel &model : zoo()) {
    names.push_back(model.config.name);
  }
  auto at = [&](const char *name) {
    auto found = std::find(names.begin(), names.end(), name);
    EXPECT_NE(found, names.end()) << name;
    return found - names.begin();
  };
  EXPECT_EQ(at("llama-2-13b"), at("llama-2-7b") + 1);
  EXPECT_EQ(at("llama-2-70b"), at("llama-2-7b") + 2);
  EXPECT_EQ(at("llama-3.1-405b"), at("llama-3.1-8b") + 2);
  EXPECT_EQ(at("qwen2.5-72b"), at("qwen2.5-0.5b") + 6);
  EXPECT_EQ(at("mixtral-8x22b"), at("mixtral-8x7b") + 1);
}

/// A dense family of facts/models.json that the zoo has whole.
bool inZoo(const Json &fact) {
  static const std::set<std::string> kTypes = {"llama", "mistral", "mixtral",
                                               "qwen2", "qwen3"};
  return kTypes.contains(fact["model_type"]);
}

ModelExtras extrasOf(const Json &fact) {
  ModelExtras extras;
  extras.qkvBias = fact["qkv_bias"];
  extras.qkNorm = fact["qk_norm"];
  if (!fact["sliding_window"].is_null()) {
    extras.slidingWindow = fact["sliding_window"];
  }
  if (const Json &rope = fact["rope_scaling"]; !rope.is_null()) {
    extras.ropeScaling = rope["rope_type"].get<std::string>() + ", factor " +
                         std::to_string(int(rope["factor"].get<double>()));
  }
  if (const Json &moe = fact["moe"]; !moe.is_null()) {
    extras.experts = moe["num_experts"];
    extras.expertsPerToken = moe["top_k"];
  }
  return extras;
}

std::string zooNameOf(const Json &fact) {
  std::string name = fact["name"];
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return char(std::tolower(c)); });
  if (!isZooName(name)) { // mixtral-8x7b-v0.1 and its like
    name = name.substr(0, name.rfind("-v"));
  }
  return name;
}

TEST(Zoo, EveryShapeIsThatOfTheFacts) {
  auto path = sharedDirectory() / "facts" / "models.json";
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "shared facts are absent: " << path;
  }
  Json facts = Json::parse(readText(path.string()), nullptr, false);
  ASSERT_TRUE(facts.is_object());
  size_t held = 0;
  for (const Json &fact : facts["models"]) {
    if (!inZoo(fact)) {
      continue;
    }
    auto config = loadShape(zooNameOf(fact));
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->layers, fact["num_hidden_layers"]) << config->name;
    EXPECT_EQ(config->hidden, fact["hidden_size"]) << config->name;
    EXPECT_EQ(config->heads, fact["num_attention_heads"]) << config->name;
    EXPECT_EQ(config->kvHeads, fact["num_key_value_heads"]) << config->name;
    EXPECT_EQ(config->headDim, fact["head_dim"]) << config->name;
    EXPECT_EQ(config->intermediate, fact["intermediate_size"]) << config->name;
    EXPECT_EQ(config->vocab, fact["vocab_size"]) << config->name;
    EXPECT_EQ(config->contextLength, fact["max_position_embeddings"])
        << config->name;
    EXPECT_EQ(config->ropeTheta, fact["rope_theta"]) << config->name;
    EXPECT_EQ(config->normEps, float(fact["norm_eps"])) << config->name;
    EXPECT_EQ(config->tiedEmbeddings, fact["tie_word_embeddings"])
        << config->name;
    EXPECT_EQ(config->extras, extrasOf(fact)) << config->name;
    EXPECT_EQ(parameterCount(*config), fact["computed_params"]) << config->name;
    ++held;
  }
  EXPECT_GE(held, 23u);
}

//===-- Loading -----------------------------------------------------------===//

class LoadShape : public orrery::testing::TemporaryFolder {
protected:
  std::string write(const std::string &name, const std::string &text) {
    std::ofstream(folder / name, std::ios::binary) << text;
    return (folder / name).string();
  }
};

TEST_F(LoadShape, TakesAGgufFile) {
  auto bytes = writeModel(tinyConfig());
  std::string path = write(
      "tiny", {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  auto config = loadShape(path);
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(*config, tinyConfig());
}

TEST_F(LoadShape, NamesWhatIsWrong) {
  auto message = [](const std::string &path) {
    auto config = loadShape(path);
    return config ? "" : config.error().message;
  };
  EXPECT_EQ(message("llama-9-7b"),
            "llama-9-7b: cannot open: No such file or directory, and no model "
            "of the zoo has that name (`orrery zoo` lists them)");
  EXPECT_NE(message(folder.string()).find("expected a regular file"),
            std::string::npos);
  std::string empty = write("empty.json", "");
  EXPECT_EQ(message(empty), empty + ": expected a JSON object");
  std::string cut = write("cut.gguf", "GGUF");
  EXPECT_NE(message(cut).find(cut), std::string::npos) << message(cut);
  auto config = tinyConfig();
  config.architecture = "qwen2";
  auto bytes = writeModel(config);
  std::string qwen =
      write("qwen.gguf",
            {reinterpret_cast<const char *>(bytes.data()), bytes.size()});
  EXPECT_NE(message(qwen).find(qwen + ": byte "), std::string::npos);
  EXPECT_NE(message(qwen).find("architecture \"qwen2\" is not supported"),
            std::string::npos)
      << message(qwen);
}

TEST(Zoo, HasNoWeights) {
  auto file = WeightFile::open("llama-2-7b");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().message,
            "llama-2-7b: expected a GGUF file, found a shape of the zoo, which "
            "has no weights");
}

//===-- What is left out --------------------------------------------------===//

TEST(NotModelled, APlainDecoderLeavesNothingOut) {
  auto config = loadShape("llama-2-70b");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(omissions(*config).empty());
  EXPECT_EQ(titleOf(*config), "llama-2-70b");
  EXPECT_EQ(omissionText({&*config, 1}), "");
  EXPECT_TRUE(verifyCompiled(*config));
}

TEST(NotModelled, TheTitleNamesWhatIsLeftOut) {
  std::map<std::string, std::string> titles;
  for (const ZooModel &model : zoo()) {
    titles[model.config.name] = titleOf(model.config);
    EXPECT_EQ(omissions(model.config).empty(),
              model.config.extras == ModelExtras())
        << model.config.name;
  }
  EXPECT_EQ(titles["qwen2.5-0.5b"], "qwen2.5-0.5b (without q, k and v biases)");
  EXPECT_EQ(titles["qwen3-0.6b"], "qwen3-0.6b (without q and k norms)");
  EXPECT_EQ(titles["mistral-7b-v0.1"],
            "mistral-7b-v0.1 (without sliding window of 4096)");
  EXPECT_EQ(titles["mistral-7b-v0.3"], "mistral-7b-v0.3");
  EXPECT_EQ(titles["llama-3.1-405b"],
            "llama-3.1-405b (without RoPE scaling (llama3, factor 8))");
  ModelConfig both = tinyConfig();
  both.extras.qkvBias = true;
  both.extras.slidingWindow = 7;
  EXPECT_EQ(titleOf(both),
            "tiny (without q, k and v biases; sliding window of 7)");
}

TEST(NotModelled, TheTextNamesEachThingOnce) {
  std::vector<ModelConfig> configs(3, tinyConfig());
  configs[0].name = "a";
  configs[1].name = "b";
  configs[0].extras.qkvBias = configs[2].extras.qkvBias = true;
  configs[2].extras.slidingWindow = 7;
  std::string biases = "q, k and v biases: in the parameters; ";
  std::string all = omissionText(configs);
  EXPECT_TRUE(all.starts_with("not modelled in a, tiny: " + biases)) << all;
  EXPECT_NE(all.find("\nnot modelled in tiny: sliding window of 7: "),
            std::string::npos)
      << all;
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 2);
  std::string one = omissionText({&configs[0], 1});
  EXPECT_TRUE(one.starts_with("not modelled: " + biases)) << one;
}

TEST(NotModelled, ExpertsAreCountedAndNotCompiled) {
  for (const ZooModel &model : zoo()) {
    Status compiled = verifyCompiled(model.config);
    EXPECT_EQ(bool(compiled), model.config.extras.experts == 0)
        << model.config.name;
  }
  auto mixtral = loadShape("mixtral-8x7b");
  ASSERT_TRUE(mixtral) << mixtral.error().message;
  EXPECT_EQ(verifyCompiled(*mixtral).error().message,
            "mixtral-8x7b: mixture of experts (8 experts, 2 a token) is not "
            "supported: expected a dense model; `orrery zoo` and `orrery kv` "
            "count it");
}

} // namespace
} // namespace orrery::models
