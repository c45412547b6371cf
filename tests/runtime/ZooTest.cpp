// Shapes of the zoo through the command: listed, shown, compiled under a name
// that says what is left out, refused where that would be another model.
#include "tests/runtime/Command.h"

#include <nlohmann/json.hpp>

namespace orrery::command {
namespace {

using Json = nlohmann::json;

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos)
      << text << "\nexpected part: " << part;
}

TEST(ZooCommand, ListsEveryModelWithItsFigures) {
  CommandFolder folder;
  auto result = folder.run("orrery zoo --json");
  ASSERT_EQ(result.code, 0) << result.err;
  Json list = Json::parse(result.out, nullptr, false);
  ASSERT_TRUE(list.is_array());
  EXPECT_GE(list.size(), 39u);
  size_t whole = 0, counted = 0;
  for (const Json &model : list) {
    EXPECT_EQ(model["parameters"], model["published_parameters"])
        << model["name"];
    EXPECT_FALSE(model["sources"].empty()) << model["name"];
    EXPECT_FALSE(model["not_modelled"].empty() && !model["compiled"])
        << model["name"];
    whole += model["not_modelled"].empty();
    counted += !model["compiled"];
  }
  EXPECT_GE(whole, 20u);
  EXPECT_EQ(counted, 2u);
  auto text = folder.run("orrery zoo");
  EXPECT_EQ(text.code, 0) << text.err;
  expectPart(text.out, "68,976,648,192");
  expectPart(text.out, "    327,680    166,400  whole\n");
  expectPart(text.out, "without q, k and v biases\n");
  expectPart(text.out, "counted only\n");
  expectPart(text.out, "not modelled in llama-3.1-8b, llama-3.1-70b, ");
}

TEST(ZooCommand, InspectShowsAShape) {
  CommandFolder folder;
  auto named = folder.run("orrery inspect llama-2-70b");
  EXPECT_EQ(named.code, 0) << named.err;
  expectPart(named.out, "llama-2-70b: 80 layers, hidden 8192, 64 heads on 8 KV "
                        "heads of 128, feed-forward 28672, vocabulary 32000, "
                        "context 4096\n");
  expectPart(named.out, "68,976,648,192 parameters; ");
  expectPart(named.out, "KV cache 166,400 B (q8) or 327,680 B (f16) a "
                        "position\n");
  expectPart(named.out, "it can be compiled and timed, not run\n");
  EXPECT_EQ(named.out.find("not modelled"), std::string::npos);
  auto file = folder.run("orrery inspect models/zoo/llama-2-70b.json");
  EXPECT_EQ(file.out, named.out);
  auto qwen = folder.run("orrery inspect qwen2.5-7b");
  expectPart(qwen.out, "not modelled: q, k and v biases: in the parameters; ");
  auto mixtral = folder.run("orrery inspect mixtral-8x7b");
  EXPECT_EQ(mixtral.code, 0) << mixtral.err;
  expectPart(mixtral.out, "a shape that is counted, not compiled\n");
  Json json = Json::parse(folder.run("orrery inspect qwen2.5-7b --json").out,
                          nullptr, false);
  EXPECT_EQ(json["not_modelled"][0]["what"], "q, k and v biases");
}

// The name goes into the program, and with it what its figures leave out.
TEST(ZooCommand, FiguresStandUnderWhatTheyLeaveOut) {
  CommandFolder folder;
  auto made = folder.run("orrery compile --shape qwen2.5-0.5b --layers 1 "
                         "--ctx 320 -o p.orrery");
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string title = "qwen2.5-0.5b (without q, k and v biases)";
  expectPart(made.out, title + " on lpu-v1: 1 token a step");
  expectPart(made.out, "\nnot modelled: q, k and v biases: in the parameters; "
                       "their three vector sums a layer are in no time and no "
                       "SRAM figure\n");
  expectPart(folder.run("orrery inspect p.orrery").out, title);
  expectPart(folder.run("orrery simulate p.orrery").out, title);
  folder.write("window.json", R"({"model_type": "mistral", "name": "window",
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 100,
    "max_position_embeddings": 128, "sliding_window": 32})");
  auto window = folder.run("orrery compile --shape window.json --json");
  ASSERT_EQ(window.code, 0) << window.err;
  Json json = Json::parse(window.out, nullptr, false);
  EXPECT_EQ(json["model"], "window (without sliding window of 32)");
  EXPECT_EQ(json["not_modelled"][0]["what"], "sliding window of 32");
  auto whole = folder.run("orrery compile --shape stories260k");
  ASSERT_EQ(whole.code, 0) << whole.err;
  EXPECT_EQ(whole.out.find("not modelled"), std::string::npos);
  expectPart(whole.out, "stories260k on lpu-v1");
}

TEST(ZooCommand, ANameIsTheFile) {
  CommandFolder folder;
  auto named =
      folder.run("orrery compile --shape stories260k --emit llm -o a.mlir");
  ASSERT_EQ(named.code, 0) << named.err;
  auto file = folder.run("orrery compile --shape models/zoo/stories260k.json "
                         "--emit llm -o b.mlir");
  ASSERT_EQ(file.code, 0) << file.err;
  EXPECT_NE(folder.read("a.mlir"), "");
  EXPECT_EQ(folder.read("a.mlir"), folder.read("b.mlir"));
}

} // namespace
} // namespace orrery::command
