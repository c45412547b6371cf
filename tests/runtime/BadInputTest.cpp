// What a user can get wrong: one line on stderr, the documented exit code,
// nothing on stdout, no file.
#include "tests/models/TinyModel.h"
#include "tests/runtime/BadLine.h"
#include "tests/runtime/Command.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace orrery::command {
namespace {

class BadInput : public testing::TestWithParam<BadLine> {};

TEST_P(BadInput, OneLineCodeAndNothingElse) {
  CommandFolder folder;
  folder.write("empty.gguf", "");
  folder.write("text.gguf", "this is no model file");
  folder.write("broken.json", "{\"hidden_size\": 64");
  folder.write("gemma.json", "{\"model_type\": \"gemma2\"}");
  expectRefused(folder, GetParam());
}

constexpr BadLine kUsage[] = {
    {"NoCommand", "orrery", 2, "subcommand is required"},
    {"UnknownCommand", "orrery fly", 2, "fly is not a command"},
    {"UnknownFlag", "orrery run $MODEL --bogus", 2, "--bogus"},
    {"MissingModel", "orrery run", 2, "model is required"},
    {"NegativeCount", "orrery run $MODEL -n -1", 2,
     "expected a whole number of 0 or more, found -1"},
    {"BrokenCount", "orrery run $MODEL -n 3.5", 2, "found 3.5"},
    {"LongCount", "orrery run $MODEL -n 99999999999999999999", 2,
     "expected at most 1000000000, found 99999999999999999999"},
    {"GreatestCount", "orrery run $MODEL -n 9223372036854775807", 2,
     "expected at most 1000000000, found 9223372036854775807"},
    {"LongNegativeCount", "orrery run $MODEL -n -99999999999999999999", 2,
     "expected a whole number of 0 or more"},
    {"UnknownWeights", "orrery run $MODEL --weights q5", 2,
     "--weights: expected q8_0 or q4_0, found q5"},
    {"UnknownGpu", "orrery validate $MODEL --ids 1 --gpu vulkan", 2,
     "--gpu: expected auto or emulated or device or none, found vulkan"},
    {"NoSequences", "orrery validate $MODEL --ids 1 --sequences 0", 2,
     "expected a whole number of 1 or more, found 0"},
    {"TooManySequences", "orrery validate $MODEL --ids 1 --sequences 65536", 2,
     "--sequences: expected at most 65535, found 65536"},
    {"EndlessSequences",
     "orrery validate $MODEL --ids 1 --sequences 1000000000 --gpu none", 2,
     "--sequences: expected at most 65535, found 1000000000"},
    {"UnknownKv", "orrery run $MODEL --kv q4", 2,
     "--kv: expected q8 or f16, found q4"},
    {"UnknownCacheFormat", "orrery kv llama-2-7b --kv q4", 2,
     "--kv: expected q8 or f16, found q4"},
    {"NoRanks", "orrery kv --tp 0", 2,
     "expected a whole number of 1 or more, found 0"},
    {"TooManyRanks", "orrery kv --tp 1000001", 2,
     "expected at most 1000000, found 1000001"},
    {"NoPositions", "orrery kv --ctx 0", 2, "--ctx"},
    {"ZooOfSomething", "orrery zoo llama-2-7b", 2, "llama-2-7b"},
    {"ZeroContext", "orrery run $MODEL --ctx 0", 2, "--ctx"},
    {"ColdTemperature", "orrery run $MODEL --temp -1", 2, "--temp"},
    {"EndlessTemperature", "orrery run $MODEL --temp inf", 2, "found inf"},
    {"NoTemperature", "orrery run $MODEL --temp nan", 2, "found nan"},
    {"NoIds", "orrery validate $MODEL --ids ''", 2,
     "expected token ids or a file, found nothing"},
    {"TwoModels", "orrery compile $MODEL --shape broken.json", 2, "--shape"},
    {"NoSubject", "orrery compile", 2, "expected a model file or --shape"},
    {"UnknownDialect", "orrery compile $MODEL --emit c", 2, "--emit"},
    {"PromptWithoutModel", "orrery simulate x.orrery -p hi", 2, "--model"},
    {"NoSplit", "orrery run $MODEL --partition ''", 2,
     "--partition: expected tp=CHIPS,pp=STAGES or one of the two, each 1 or "
     "more, and products=column, row, scatter or reduce, found"},
    {"OtherProducts", "orrery run $MODEL --partition tp=2,products=wide", 2,
     "found tp=2,products=wide"},
    {"TwoProducts", "orrery run $MODEL --partition products=row,products=row",
     2, "found products=row,products=row"},
    {"ZeroRanks", "orrery run $MODEL --partition tp=0", 2, "found tp=0"},
    {"TwoNumbersOfRanks", "orrery compile $MODEL --partition tp=2,tp=4", 2,
     "found tp=2,tp=4"},
    {"EndOfSplit", "orrery validate $MODEL --partition tp=2,", 2,
     "found tp=2,"},
    {"OtherSplit", "orrery compile $MODEL --partition dp=2", 2, "found dp=2"},
    {"LongSplit", "orrery compile $MODEL --partition pp=99999999999", 2,
     "found pp=99999999999"},
    {"IdsAndPrompt", "orrery validate $MODEL --ids 1 -p hi", 2, "--ids"},
};
INSTANTIATE_TEST_SUITE_P(Usage, BadInput, testing::ValuesIn(kUsage),
                         [](const auto &info) { return info.param.name; });

constexpr BadLine kFiles[] = {
    {"MissingFile", "orrery run nowhere.gguf", 3,
     "nowhere.gguf: cannot open: No such file"},
    {"EmptyFile", "orrery run empty.gguf", 3, "empty.gguf"},
    {"WrongMagic", "orrery run text.gguf", 3,
     "magic: expected \"GGUF\", found \"this\""},
    {"UnknownMachine", "orrery run $MODEL --machine tpu", 3,
     "machine `tpu`: neither a preset (lp30, "},
    {"BrokenMachine", "orrery run $MODEL --machine broken.json", 3,
     "broken.json"},
    {"LongPrompt",
     "orrery run $MODEL $SMALL --ctx 4 -p 'Once upon a time, there was'", 3,
     "tokens, the context holds 4"},
    {"LongContext", "orrery run $MODEL $SMALL --ctx 513", 3,
     "--ctx 513: the model was trained for 512 positions"},
    {"UselessWeights", "orrery run $MODEL $SMALL --weights q4_0", 3,
     "stored quantized"},
    {"UnwritableFile", "orrery run $MODEL $SMALL --trace no/where.json", 3,
     "no/where.json: cannot write there"},
    {"UnknownId", "orrery validate $MODEL $SMALL --ids 1,4096", 3,
     "token id 4096 is outside the vocabulary of 1024"},
    {"BrokenIds", "orrery validate $MODEL $SMALL --ids text.gguf", 3,
     "expected token ids, found \"this\""},
    {"MissingGolden", "orrery validate $MODEL $SMALL --ids 1 --golden g", 3,
     "g.logits.f64"},
    {"ShortGolden",
     "orrery validate $MODEL $SMALL --ids 1,2,3 --golden text.gguf", 3,
     "expected 3 (or one fewer) rows of 1024 float64, found 21 bytes"},
    {"LargeBucket", "orrery compile $MODEL $SMALL --bucket 600 -o p", 3,
     "--bucket 600: expected at most the context, 512"},
    {"OddBucket", "orrery compile $MODEL $SMALL --bucket 7 -o p", 3,
     "--bucket 7: expected a multiple of the 64 lanes of lpu-small, or the "
     "context, 512"},
    {"ManyLayers", "orrery compile $MODEL $SMALL --layers 5 -o p", 3,
     "--layers 5: expected at most the model's layers, 4"},
    {"BrokenShape", "orrery compile --shape broken.json", 3,
     "broken.json: expected a JSON object"},
    {"OtherArchitecture", "orrery compile --shape gemma.json", 3,
     "model_type: expected one of \"llama\", \"mistral\", \"qwen2\", "
     "\"qwen3\", \"mixtral\", found \"gemma2\""},
    {"UnknownShape", "orrery compile --shape llama-9-7b", 3,
     "llama-9-7b: cannot open: No such file or directory, and no model of the "
     "zoo has that name"},
    {"Experts", "orrery compile --shape mixtral-8x7b", 3,
     "mixtral-8x7b: mixture of experts (8 experts, 2 a token) is not "
     "supported: expected a dense model"},
    {"ShapeToRun", "orrery run llama-2-7b -p hi", 3,
     "llama-2-7b: expected a GGUF file, found a shape of the zoo, which has no "
     "weights"},
    {"UnknownCache", "orrery kv llama-2-7b llama-9-7b", 3, "llama-9-7b: "},
    {"CacheOfText", "orrery kv text.gguf", 3,
     "text.gguf: expected a JSON object"},
    {"CacheOnNothing", "orrery kv llama-2-7b --machine nothing", 3,
     "machine `nothing`"},
    {"EndlessCache", "orrery kv llama-3.1-405b --ctx 1000000000", 3,
     "llama-3.1-405b: expected a KV cache of at most 70368744177664 B, found "
     "1000000000 positions of 516096 B"},
    {"NoProgram", "orrery check $MODEL", 3, "expected a program file"},
    {"NoProgramToRun", "orrery simulate text.gguf", 3,
     "expected a program file"},
    {"NothingToInspect", "orrery inspect text.gguf", 3,
     "text.gguf: expected a GGUF file, a program file"},
    {"InspectNowhere", "orrery inspect nowhere", 3,
     "no preset and no model of the zoo has that name"},
};
INSTANTIATE_TEST_SUITE_P(Files, BadInput, testing::ValuesIn(kFiles),
                         [](const auto &info) { return info.param.name; });

constexpr BadLine kTooBig[] = {
    {"Model", "orrery compile --shape models/zoo/llama-2-7b.json -o p", 4,
     "would need 36 such chips"},
    {"Context",
     "orrery compile --shape models/zoo/smollm2-135m.json --kv f16 -o p", 4,
     "; a context of"},
    {"System", "orrery compile --shape llama-2-7b --machine lpu-v1-node -o p",
     4, "; the smallest preset that would do is lpu-v1-rack"},
    {"MoreRanksThanChips",
     "orrery run $MODEL --machine lpu-small-node --partition tp=9", 4, "tp=9"},
    {"MoreStagesThanLayers",
     "orrery validate $MODEL --machine lpu-v1-rack --partition pp=14", 4,
     "expected at most 13 stages, three a layer (attention, gate and up, down) "
     "and the head; Orrery Tiny has 4 layers"},
    {"MoreChipsThanThereAre",
     "orrery compile $MODEL --machine lpu-small-node --partition tp=4,pp=3", 4,
     "expected at most the 8 chips of lpu-small-node"},
    {"SplitOnOneChip", "orrery compile $MODEL $SMALL --partition pp=2", 4,
     "expected at most the 1 chips of lpu-small"},
    {"Chunk", "orrery compile $MODEL $SMALL --tokens 33 -o p", 4,
     "activation vectors, a plane holds 1024"},
};
INSTANTIATE_TEST_SUITE_P(TooBig, BadInput, testing::ValuesIn(kTooBig),
                         [](const auto &info) { return info.param.name; });

/// A small model file of that architecture.
std::string modelOf(const char *architecture,
                    const models::ModelEdits &edits = {}) {
  auto config = models::tinyConfig();
  config.architecture = architecture;
  auto bytes = models::writeModel(config, edits);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

TEST(BadInputFiles, UnknownArchitectureNamesTheSupportedOnes) {
  CommandFolder folder;
  folder.write("gpt2.gguf", modelOf("gpt2"));
  auto result = folder.run("orrery run gpt2.gguf");
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("architecture \"gpt2\" is not supported "
                            "(supported: llama)"),
            std::string::npos)
      << result.err;
  auto shown = folder.run("orrery inspect gpt2.gguf");
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_NE(shown.out.find("cannot be run: "), std::string::npos);
}

TEST(BadInputFiles, ValuesThatAreNotFiniteAreRefusedByName) {
  CommandFolder folder;
  for (auto [tensor, value, message] :
       {std::tuple("blk.1.ffn_norm.weight", NAN,
                   "blk.1.ffn_norm.weight: expected finite values, found NaN "
                   "at element 3"),
        std::tuple("output_norm.weight", INFINITY,
                   "output_norm.weight: expected finite values, found infinity "
                   "at element 3"),
        std::tuple("blk.0.attn_q.weight", INFINITY,
                   "tensor \"blk.0.attn_q.weight\": row 0 column 3: expected "
                   "a finite value, found inf")}) {
    models::ModelEdits edits;
    auto usual = edits.value;
    edits.value = [=](const std::string &name, size_t index) {
      return name == tensor && index == 3 ? value : usual(name, index);
    };
    folder.write("spoilt.gguf", modelOf("llama", edits));
    auto result = folder.run("orrery validate spoilt.gguf $SMALL --ids 1");
    EXPECT_EQ(result.code, 3) << result.out;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  }
}

TEST(BadInputFiles, ATruncatedModelIsRefused) {
  CommandFolder folder;
  std::string whole = modelOf("llama");
  folder.write("cut.gguf", whole.substr(0, whole.size() - 100));
  auto result = folder.run("orrery run cut.gguf");
  EXPECT_EQ(result.code, 3);
  EXPECT_NE(result.err.find("cut.gguf: "), std::string::npos) << result.err;
}

/// lpu-small chips with these cables.
std::string systemOf(int chips, const std::string &links) {
  return R"({"extends": "lpu-small", "name": "drawn", "system": {"chips": )" +
         std::to_string(chips) +
         R"(, "node_chips": 1, "topology": {"kind": "links", "links": )" +
         links +
         R"(}, "source": {"chips": "assumed", "node_chips": "assumed", )" +
         R"("topology": "assumed"}}})";
}

TEST(BadInputSystems, EachIsRefusedWithItsReason) {
  CommandFolder folder;
  const std::string chain = "[[0, 0, 1, 0], [1, 1, 2, 0], [2, 1, 3, 0]]";
  folder.write("apart.json", systemOf(4, "[[0, 0, 1, 0], [2, 0, 3, 0]]"));
  folder.write("chain.json", systemOf(4, chain));
  folder.write("nowhere.json", systemOf(2, "[[0, 0, 2, 0]]"));
  std::string still = systemOf(4, chain);
  still.insert(1,
               R"("c2c": {"ports": 7, "link_ticks": 40, "link_vector_ticks": 0,
      "buffer_vectors": 256, "source": {"ports": "assumed", "link_ticks":
      "assumed", "link_vector_ticks": "assumed", "buffer_vectors":
      "assumed"}},)");
  folder.write("still.json", still);
  for (auto [machine, split, code, message] :
       {std::tuple("apart", "tp=2", 3,
                   "expected a path from chip 0 to every chip, found none to "
                   "chip 2"),
        std::tuple("nowhere", "tp=2", 3, "system.topology.links[0][2] (chip)"),
        std::tuple("still", "tp=2", 3, "link_vector_ticks"),
        std::tuple("chain", "tp=3", 4,
                   "no 3 chips are linked each to each or in a ring"),
        std::tuple("chain", "tp=2,pp=2", 4,
                   "there is no chain of 2 groups of 2 chips")}) {
    auto result =
        folder.run("orrery run $MODEL --machine " + std::string(machine) +
                   ".json --partition " + split);
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  }
}

// 8192 positions of f16 KV cache beside int8 weights, from known-answers.
TEST(BadInputNumbers, SmolLmAtFullContext) {
  CommandFolder folder;
  auto result =
      folder.run("orrery compile --shape models/zoo/smollm2-135m.json "
                 "--kv f16");
  EXPECT_NE(result.err.find("188743680"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("230686720"), std::string::npos) << result.err;
}

TEST(BadInputNumbers, AProgramOfAnotherModelIsRefused) {
  CommandFolder folder;
  auto made = folder.run(
      "orrery compile $MODEL $SMALL --bucket 64 --kv f16 -o p.orrery");
  ASSERT_EQ(made.code, 0) << made.err;
  auto own = folder.run("orrery simulate p.orrery --model $MODEL");
  EXPECT_EQ(own.code, 0) << own.err;
  std::string bytes = folder.read("p.orrery");
  folder.write("cut.orrery", bytes.substr(0, bytes.size() / 2));
  auto cut = folder.run("orrery check cut.orrery");
  EXPECT_EQ(cut.code, 3);
  folder.write("other.gguf", modelOf("llama"));
  auto other = folder.run("orrery simulate p.orrery --model other.gguf -p a");
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("the program was compiled from Orrery Tiny"),
            std::string::npos)
      << other.err;
  auto past = folder.run("orrery simulate p.orrery --position 64");
  EXPECT_EQ(past.code, 3);
  EXPECT_NE(past.err.find("reaches 64 positions"), std::string::npos);
}

TEST(GoodInput, ASystemsProgramIsTheModelsOnItsChips) {
  CommandFolder folder;
  auto made = folder.run("orrery compile $MODEL --machine lpu-small-node "
                         "--partition tp=3 --bucket 64 --layers 2 -o p.orrery");
  ASSERT_EQ(made.code, 0) << made.err;
  auto own = folder.run("orrery simulate p.orrery --model $MODEL -p 'One day'");
  EXPECT_EQ(own.code, 0) << own.err << own.out;
  folder.write("other.gguf", modelOf("llama"));
  auto other = folder.run("orrery simulate p.orrery --model other.gguf -p a");
  EXPECT_EQ(other.code, 3);
  std::string bytes = folder.read("p.orrery");
  folder.write("cut.orrery", bytes.substr(0, bytes.size() / 2));
  for (const char *command : {"check", "inspect", "simulate"}) {
    auto cut = folder.run("orrery " + std::string(command) + " cut.orrery");
    EXPECT_EQ(cut.code, 3) << command;
    EXPECT_NE(cut.err.find("cut.orrery"), std::string::npos) << cut.err;
  }
}

TEST(GoodInput, EmptyPromptIsTheBeginToken) {
  CommandFolder folder;
  auto result = folder.run("orrery run $MODEL $SMALL -n 3 --json");
  ASSERT_EQ(result.code, 0) << result.err;
  auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["prompt_ids"], nlohmann::json::array({1}));
  EXPECT_EQ(json["ids"].size(), 3u);
}

TEST(GoodInput, StopsAtTheContextAndSaysSo) {
  CommandFolder folder;
  auto result = folder.run(
      "orrery run $MODEL $SMALL --ctx 8 -p 'Once upon a time' -n 99");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("stopped: the context of 8 is full (99 tokens were "
                            "asked for)"),
            std::string::npos)
      << result.out;
}

TEST(GoodInput, HelpOfEachCommandNamesTheExitCodes) {
  CommandFolder folder;
  for (const char *command : {"", "run", "validate", "compile", "simulate",
                              "check", "inspect", "presets"}) {
    auto result = folder.run("orrery " + std::string(command) + " --help");
    EXPECT_EQ(result.code, 0) << command;
    EXPECT_NE(result.out.find("Exit codes"), std::string::npos) << command;
  }
}

} // namespace
} // namespace orrery::command
