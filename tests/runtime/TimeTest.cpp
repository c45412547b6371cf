// `orrery time`: what it prints is what other commands find, adds up, and is
// confirmed; what cannot be is refused in one line.
#include "machine/InstructionText.h"
#include "machine/SystemProgram.h"
#include "tests/runtime/BadLine.h"
#include "tests/runtime/Command.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace orrery::command {
namespace {

using Json = nlohmann::json;

Json documentOf(const CommandFolder &folder, const std::string &line) {
  CommandResult result = folder.run(line + " --json");
  EXPECT_EQ(result.code, 0) << line << "\n" << result.err << result.out;
  EXPECT_EQ(result.err, "") << line;
  return Json::parse(result.out, nullptr, false);
}

int64_t sumOf(const Json &object, const char *key) {
  int64_t sum = 0;
  for (const Json &value : object) {
    sum += value[key].get<int64_t>();
  }
  return sum;
}

void expectAddsUp(const Json &time, const std::string &line) {
  int64_t ticks = time["decode"]["ticks_per_token"];
  const Json &breakdown = time["breakdown"];
  EXPECT_EQ(breakdown["ticks"], ticks) << line;
  EXPECT_EQ(sumOf(breakdown["step"], "ticks"), ticks) << line;
  for (const auto &[part, whole] : breakdown["step"].items()) {
    int64_t inLayers = 0;
    for (const Json &layer : breakdown["layers"]) {
      inLayers += layer[part].get<int64_t>();
    }
    EXPECT_LE(inLayers, whole["ticks"].get<int64_t>()) << line << part;
  }
  const Json &sram = time["sram"];
  int64_t used = 0;
  for (const char *key : {"weights_bytes", "tables_bytes", "kv_bytes",
                          "program_bytes", "temporaries_bytes", "free_bytes"}) {
    used += sram[key].get<int64_t>();
  }
  EXPECT_EQ(used, sram["capacity_bytes"]) << line;
  EXPECT_EQ(sumOf(sram["items"]["banks"], "free_bytes"), sram["free_bytes"])
      << line;
  EXPECT_EQ(sumOf(sram["items"]["banks"], "capacity_bytes"),
            sram["capacity_bytes"])
      << line;
}

void expectConfirmed(const Json &time, const std::string &line) {
  for (const Json &program : time["programs"]) {
    int64_t ticks = program["ticks"];
    EXPECT_EQ(program["simulated_ticks"], ticks) << line;
    int64_t slowest = 0;
    for (const Json &stage : program["stages"]) {
      slowest = std::max(slowest, stage["occupied_ticks"].get<int64_t>());
    }
    int64_t interval = program["interval_ticks"];
    EXPECT_GE(interval, slowest) << line;
    if (program["stages"].size() > 1) {
      EXPECT_EQ(program["simulated_pair_ticks"], ticks + interval) << line;
    }
  }
  EXPECT_TRUE(time["receipt"]["ok"].get<bool>()) << line;
}

TEST(Time, AddsUpAndIsConfirmed) {
  CommandFolder folder;
  for (const char *subject :
       {"stories260k --machine lpu-small", "$MODEL $SMALL --kv f16",
        "tinystories-656k --machine lpu-small-node --partition tp=2,pp=2",
        "tinystories-656k --machine lpu-small-node --partition tp=4,pp=2",
        "$MODEL --machine lpu-small-ring --partition tp=4 --ctx 100",
        "stories15m --machine lpu-v1-node --partition tp=2,pp=3"}) {
    std::string line = std::string("orrery time ") + subject;
    Json time = documentOf(folder, line);
    expectAddsUp(time, line);
    expectConfirmed(time, line);
  }
}

// Rates are of ticks and clock, and of nothing else.
TEST(Time, RatesFollowFromTicks) {
  CommandFolder folder;
  Json time = documentOf(
      folder, "orrery time tinystories-656k --machine lpu-small-node "
              "--partition tp=2,pp=2 --prompt 100");
  double hertz = time["clock_mhz"].get<double>() * 1e6;
  const Json &decode = time["decode"], &full = time["pipeline_full"];
  int64_t ticks = decode["ticks_per_token"], each = full["interval_ticks"];
  EXPECT_DOUBLE_EQ(decode["tokens_per_second_per_user"], hertz / double(ticks));
  EXPECT_DOUBLE_EQ(full["tokens_per_second"], hertz / double(each));
  EXPECT_EQ(full["users_in_flight"], (ticks + each - 1) / each);
  // More users than are needed: the rate is that of the full pipeline.
  EXPECT_GT(full["users_by_bytes"], full["users_in_flight"]);
  EXPECT_DOUBLE_EQ(full["tokens_per_second_of_those_that_fit"],
                   full["tokens_per_second"]);
  const Json &prompt = time["prompt"];
  int64_t chunk = prompt["chunk_tokens"], apart = prompt["interval_ticks"];
  EXPECT_GT(chunk, 1);
  EXPECT_DOUBLE_EQ(prompt["tokens_per_second"],
                   double(chunk) * hertz / double(apart));
  // Not more than all steps one after another, not less than the last alone.
  EXPECT_EQ(prompt["tokens"], 100);
  EXPECT_GE(prompt["steps"].get<int64_t>() * chunk, 100);
  int64_t first = prompt["first_token_ticks"];
  EXPECT_GT(first, (prompt["steps"].get<int64_t>() - 1) * apart / 2);
  int64_t longest = 0;
  for (const Json &program : time["programs"]) {
    longest = std::max(longest, program["ticks"].get<int64_t>());
  }
  EXPECT_LT(first, prompt["steps"].get<int64_t>() * longest);
}

// On one chip nothing overlaps: `orrery run` has the same ticks.
TEST(Time, IsWhatRunTakes) {
  CommandFolder folder;
  Json run = documentOf(folder, "orrery run $MODEL $SMALL --ctx 64 -n 3 "
                                "-p 'Once upon a time, there was a bird'");
  auto tokens = run["prompt_ids"].size();
  Json time =
      documentOf(folder, "orrery time $MODEL $SMALL --ctx 64 --prompt " +
                             std::to_string(tokens));
  EXPECT_EQ(time["prompt"]["first_token_ticks"], run["prompt"]["ticks"]);
  EXPECT_EQ(time["decode"]["short_ticks_per_token"],
            run["decode"]["most_step_ticks"]);
}

TEST(Time, IsWhatCompilePredicts) {
  CommandFolder folder;
  std::string target = " --machine lpu-small-node --partition tp=2,pp=2 "
                       "--kv f16 --weights q4_0 --ctx 300";
  Json time = documentOf(folder, "orrery time tinystories-656k" + target);
  Json step =
      documentOf(folder, "orrery compile --shape tinystories-656k" + target);
  EXPECT_EQ(time["decode"]["ticks_per_token"], step["predicted_ticks"]);
  EXPECT_EQ(time["decode"]["positions"], 300);
  EXPECT_EQ(time["sram"]["kv_bytes"], step["sram"]["kv_bytes"]);
  Json quick = documentOf(folder, "orrery time tinystories-656k" + target +
                                      " --no-simulate");
  EXPECT_EQ(quick["decode"], time["decode"]);
  EXPECT_EQ(quick["breakdown"], time["breakdown"]);
  for (const Json &program : quick["programs"]) {
    EXPECT_TRUE(program["simulated_ticks"].is_null());
    EXPECT_TRUE(program["simulated_pair_ticks"].is_null());
  }
  auto text =
      folder.run("orrery time tinystories-656k" + target + " --no-simulate");
  EXPECT_EQ(text.out.find("confirmed"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("predicted, not simulated"), std::string::npos);
}

// facts/known-answers.md: Llama-2-7B at 4096 positions.
TEST(Time, KnownAnswers) {
  CommandFolder folder;
  Json time = documentOf(folder, "orrery time llama-2-7b --machine lpu-v1-576 "
                                 "--kv f16 --partition tp=8 --no-simulate");
  EXPECT_EQ(time["padding"]["useful_macs"], 6607077376 + 1073741824);
  const Json &all = time["sram"]["all_chips"];
  EXPECT_EQ(all["kv_nominal_bytes"], int64_t(4096) * 524288);
  EXPECT_GE(all["kv_bytes"], all["kv_nominal_bytes"]);
  EXPECT_NEAR(
      time["padding"]["kv"].get<double>(),
      all["kv_bytes"].get<double>() / all["kv_nominal_bytes"].get<double>() - 1,
      1e-12);
  int64_t layers = 0;
  for (const Json &part : time["programs"][0]["parts"]) {
    layers += part["stages"].get<int64_t>() * part["attentions"].get<int64_t>();
  }
  EXPECT_EQ(layers, 32);
  EXPECT_EQ(time["breakdown"]["layers"].size(), 32u);
}

// On all chips of its published system, an eighth of a layer a chip and more:
// some stages end between gate and up and down.
TEST(Time, SeventyBillionInEightBitsOnAllChips) {
  CommandFolder folder;
  Json time =
      documentOf(folder, "orrery time llama-2-70b --machine lpu-v1-576");
  EXPECT_EQ(time["context_positions"], 4096);
  EXPECT_EQ(time["chips"]["tensor_parallel"], 8);
  EXPECT_EQ(time["chips"]["count"], 576);
  const Json &decode = time["programs"][0];
  EXPECT_EQ(decode["simulated_ticks"], time["decode"]["ticks_per_token"]);
  std::map<std::string, int64_t> sections;
  bool cut = false;
  for (const Json &part : decode["parts"]) {
    for (const Json &section : part["sections"]) {
      sections[section] += part["stages"].get<int64_t>();
    }
    cut |= part["sections"][0] == "down";
  }
  EXPECT_TRUE(cut);
  EXPECT_EQ(sections,
            (std::map<std::string, int64_t>{
                {"attention", 80}, {"gate and up", 80}, {"down", 80}}));
  expectAddsUp(time, "llama-2-70b");
}

/// Forms of one of a stage's two products, of all stages of the decode program.
std::set<std::string> formsOf(const Json &time, const char *product) {
  std::set<std::string> forms;
  for (const Json &part : time["programs"][0]["parts"]) {
    for (const Json &each : part["products"]) {
      if (each["of"] == product) {
        forms.insert(each["form"].get<std::string>());
      }
    }
  }
  return forms;
}

TEST(Time, SaysHowRanksShareProducts) {
  CommandFolder folder;
  using Forms = std::set<std::string>;
  std::string line = "orrery time stories15m --machine lpu-v1-node "
                     "--no-simulate --partition tp=2,pp=2";
  for (std::string form : {"column", "scatter", "reduce"}) {
    Json time = documentOf(folder, line + ",products=" + form);
    EXPECT_EQ(formsOf(time, "attention"), Forms{form});
    EXPECT_EQ(formsOf(time, "down"), Forms{form});
  }
  // As ProductFormsTest finds them chosen.
  Json chosen = documentOf(folder, line);
  EXPECT_EQ(formsOf(chosen, "attention"), Forms{"column"});
  EXPECT_EQ(formsOf(chosen, "down"), Forms{"reduce"});
  auto text = folder.run(line);
  EXPECT_NE(text.out.find("\nproducts attention column, down reduce (how ranks "
                          "share what each has a part of)\n"),
            std::string::npos)
      << text.out;
  auto alone = folder.run("orrery time stories15m --machine lpu-v1-node "
                          "--no-simulate --partition tp=1,pp=2");
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(alone.out.find("\nproducts "), std::string::npos) << alone.out;
}

// Also of stages that begin with the second product of a network, which they
// take a shard of from the stage before.
TEST(Time, SaysHowRanksShareEachProduct) {
  CommandFolder folder;
  Json time = documentOf(
      folder, "orrery time llama-2-70b --machine lpu-v1-576 --no-simulate");
  for (const Json &part : time["programs"][0]["parts"]) {
    std::vector<std::string> expected, found;
    for (const Json &section : part["sections"]) {
      if (section != "gate and up") {
        expected.push_back(section);
      }
    }
    for (const Json &product : part["products"]) {
      found.push_back(product["of"]);
    }
    EXPECT_EQ(found, expected);
  }
}

// From the program file alone: a chunk that no fetch brings was there before.
TEST(Time, FillingIsWhatNoFetchBrings) {
  CommandFolder folder;
  int fetching = 0;
  for (const char *target :
       {"stories15m --machine lpu-v1-node --partition tp=2,pp=2",
        "tinystories-656k --machine lpu-small-node --partition tp=2,pp=2",
        "llama-2-70b --machine lpu-v1-576 --weights q4_0",
        "llama-2-7b --machine lpu-v1-576"}) {
    SCOPED_TRACE(target);
    Json time = documentOf(folder, std::string("orrery time ") + target +
                                       " --no-simulate");
    auto made = folder.run(std::string("orrery compile --shape ") + target +
                           " -o step.orrery");
    ASSERT_EQ(made.code, 0) << made.err;
    auto file = loadSystemProgram(folder.at("step.orrery"));
    ASSERT_TRUE(file) << file.error().message;
    const Json &parts = time["programs"][0]["parts"];
    ASSERT_EQ(parts.size(), file->parts.size());
    for (size_t p = 0; p < file->parts.size(); ++p) {
      const Program &part = file->parts[p];
      Machine m = *parseMachine(part.machineJson, "the file's");
      Bytes text = programBytes(part, m) - tableBytes(part, m);
      int64_t chunks = text / m.fetchBytes();
      for (const Instruction &i : part.instructions) {
        chunks -= std::holds_alternative<FetchOp>(i.operation) ? 1 : 0;
      }
      fetching += chunks < text / m.fetchBytes();
      const Json &filling = parts[p]["filling_before_step"];
      EXPECT_EQ(filling["chunks"], chunks);
      EXPECT_EQ(filling["ticks"], chunks * m.fetchVectors - 1 + m.timing.fetch);
    }
  }
  EXPECT_GT(fetching, 0);
}

TEST(Time, SaysWhatIsNotModelled) {
  CommandFolder folder;
  auto text = folder.run("orrery time qwen2.5-0.5b --machine lpu-v1-rack "
                         "--ctx 1024 --no-simulate");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("qwen2.5-0.5b (without q, k and v biases) on "
                          "lpu-v1-rack"),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("not modelled: q, k and v biases: "),
            std::string::npos);
}

TEST(Time, FitsTellsWhatFitsAndWhatDoesNot) {
  CommandFolder folder;
  Json fits = documentOf(folder, "orrery time tinystories-656k --machine "
                                 "lpu-small-node --partition tp=2,pp=1 --fits");
  for (const char *key : {"largest_context", "most_users"}) {
    const Json &found = fits[key];
    EXPECT_EQ(found["step"]["simulated_ticks"], found["step"]["ticks"]) << key;
    EXPECT_TRUE(found["receipt"]["ok"].get<bool>()) << key;
    EXPECT_NE(found["refusal"], "") << key;
    EXPECT_TRUE(found["binds"].is_string()) << key;
    EXPECT_EQ(found["chips"]["tensor_parallel"], 2) << key;
    const Json &tensors = found["sram"]["tensors"];
    ASSERT_GT(tensors.size(), 2u);
    for (size_t i = 1; i < tensors.size(); ++i) {
      EXPECT_GE(tensors[i - 1]["bytes"], tensors[i]["bytes"]) << key;
    }
    EXPECT_EQ(sumOf(found["sram"]["temporaries"]["results_of"], "bytes"),
              found["sram"]["temporaries"]["most_live_bytes"])
        << key;
  }
  const Json &context = fits["largest_context"], &users = fits["most_users"];
  int64_t most = context["fits"]["positions"];
  EXPECT_EQ(context["refused"]["positions"], most + 64);
  EXPECT_GT(most, fits["trained_positions"].get<int64_t>());
  EXPECT_EQ(users["refused"]["users"],
            users["fits"]["users"].get<int64_t>() + 1);
  EXPECT_EQ(users["fits"]["positions"], fits["context_positions"]);
  // The program at the limit is one that `orrery compile` makes.
  auto text = folder.run("orrery time tinystories-656k --machine "
                         "lpu-small-node --partition tp=2,pp=1 --fits");
  EXPECT_EQ(text.code, 0) << text.err;
  for (const char *part :
       {"positions: refused: ", "users of 512 positions: refused: ",
        "what binds is ",
        "the room is that of KV cache: ", "smallest preset that would do: "}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << text.out;
  }
}

// facts/known-answers.md: SmolLM2-135M at 8192 positions in f16 is more than
// one LPU v1 holds; what it does hold is found all the same.
TEST(Time, FitsOfAContextThatNobodyHas) {
  CommandFolder folder;
  Json fits = documentOf(
      folder, "orrery time smollm2-135m --machine lpu-v1 --kv f16 --fits");
  EXPECT_TRUE(fits["most_users"].is_null());
  std::string reason = fits["no_user"];
  EXPECT_NE(reason.find("188743680"), std::string::npos) << reason;
  EXPECT_NE(reason.find("230686720"), std::string::npos) << reason;
  const Json &longest = fits["largest_context"];
  EXPECT_GE(longest["fits"]["positions"], 320);
  EXPECT_LT(longest["fits"]["positions"], 8192);
  EXPECT_EQ(longest["step"]["simulated_ticks"], longest["step"]["ticks"]);
}

// Bytes alone promise no fewer users than compiling finds.
TEST(Time, UsersByBytesAreAnUpperBound) {
  CommandFolder folder;
  for (const char *target :
       {"tinystories-656k --machine lpu-small --ctx 256",
        "tinystories-656k --machine lpu-small-node --partition tp=2,pp=2",
        "stories15m --machine lpu-v1-node --partition tp=2,pp=3"}) {
    std::string line = std::string("orrery time ") + target;
    Json time = documentOf(folder, line + " --no-simulate");
    Json fits = documentOf(folder, line + " --fits --no-simulate");
    EXPECT_GE(time["pipeline_full"]["users_by_bytes"],
              fits["most_users"]["fits"]["users"])
        << line;
    EXPECT_GE(fits["most_users"]["fits"]["users"], 1) << line;
  }
}

class TimeInput : public testing::TestWithParam<BadLine> {};

/// A system of lpu-small chips.
std::string systemOf(const char *name, const char *topology,
                     const char *extra = "") {
  return std::string("{\"extends\": \"lpu-small\", \"name\": \"") + name +
         "\"," + extra + "\"system\": {\"chips\": 4, \"node_chips\": 4, " +
         "\"topology\": " + topology +
         ", \"source\": {\"chips\": \"assumed\", \"node_chips\": "
         "\"assumed\", \"topology\": \"assumed\"}}}";
}

TEST_P(TimeInput, OneLineCodeAndNothingElse) {
  CommandFolder folder;
  folder.write("apart.json",
               systemOf("apart", "{\"kind\": \"links\", \"links\": "
                                 "[[0, 0, 1, 0], [2, 0, 3, 0]]}"));
  folder.write("dead.json",
               systemOf("dead", "{\"kind\": \"fully_connected\"}",
                        "\"c2c\": {\"link_vector_ticks\": 0, \"source\": "
                        "{\"link_vector_ticks\": \"assumed\"}},"));
  folder.write("text.json", "no shape");
  expectRefused(folder, GetParam());
}

constexpr BadLine kCases[] = {
    {"NoModel", "orrery time", 2, "model is required"},
    {"NoPrompt", "orrery time stories260k --prompt 0", 2,
     "expected a whole number of 1 or more, found 0"},
    {"UnknownModel", "orrery time llama-9-7b", 3,
     "llama-9-7b: cannot open: No such file or directory, and no model of the "
     "zoo has that name"},
    {"NoShape", "orrery time text.json", 3,
     "text.json: expected a JSON object"},
    {"UnknownMachine", "orrery time stories260k --machine tpu", 3,
     "machine `tpu`: neither a preset"},
    {"Experts", "orrery time mixtral-8x7b", 3, "mixture of experts"},
    {"LongContext", "orrery time stories260k --ctx 9999", 3,
     "--ctx 9999: expected at most the model's context, 512"},
    {"LongPrompt", "orrery time stories260k --ctx 100 --prompt 101", 3,
     "--prompt 101: expected at most the context, 100"},
    {"Disconnected", "orrery time stories260k --machine apart.json", 3,
     "system.topology: expected a path from chip 0 to every chip, found none "
     "to chip 2"},
    {"NoBandwidth", "orrery time stories260k --machine dead.json", 3,
     "c2c.link_vector_ticks: expected a whole number from 1 to"},
    {"TooManyRanks",
     "orrery time stories260k --machine lpu-small-node --partition tp=9", 4,
     "tp=9: expected at most the 8 chips of lpu-small-node"},
    {"TooManyChips",
     "orrery time stories260k --machine lpu-small-node --partition tp=4,pp=3",
     4, "expected at most the 8 chips"},
    {"NoSuchGroups",
     "orrery time stories260k --machine lpu-small-ring --partition tp=3", 4,
     "no 3 chips are linked each to each or in a ring"},
    {"TooSmall", "orrery time llama-2-7b --machine lpu-v1", 4,
     "the smallest preset that would do is lpu-"},
    {"SystemTooSmall", "orrery time llama-2-7b --machine lpu-v1-node", 4,
     "llama-2-7b does not fit lpu-v1-node: "},
    {"NothingFits", "orrery time llama-2-7b --machine lpu-v1 --fits", 4,
     "the smallest preset that would do is lpu-"},
};
INSTANTIATE_TEST_SUITE_P(Time, TimeInput, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace orrery::command
