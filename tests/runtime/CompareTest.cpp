// `orrery compare`: its figures are those of `orrery time` and of the GPU
// model, each says how it was had, and what cannot be compared is refused.
#include "tests/runtime/BadLine.h"
#include "tests/runtime/Command.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace orrery::command {
namespace {

using Json = nlohmann::json;

Json documentOf(const CommandFolder &folder, const std::string &line) {
  CommandResult result = folder.run(line + " --json");
  EXPECT_EQ(result.code, 0) << line << "\n" << result.err << result.out;
  EXPECT_EQ(result.err, "") << line;
  return Json::parse(result.out, nullptr, false);
}

std::vector<Json> rowsOf(const Json &document, const std::string &system,
                         const std::string &how) {
  std::vector<Json> out;
  for (const Json &row : document["others"]) {
    if (row["system"] == system && row["how"] == how) {
      out.push_back(row);
    }
  }
  return out;
}

const char *kSmall = "tinystories-656k --machine lpu-small-node --partition "
                     "tp=2,pp=2 --ctx 256";

TEST(Compare, ThisSystemIsWhatTimeFinds) {
  CommandFolder folder;
  std::string subject = kSmall;
  Json time = documentOf(folder, "orrery time " + subject);
  Json one = documentOf(folder, "orrery compare " + subject);
  EXPECT_EQ(one["self"]["ticks_per_step"], time["decode"]["ticks_per_token"]);
  EXPECT_EQ(one["self"]["simulated_ticks"], one["self"]["ticks_per_step"]);
  EXPECT_EQ(one["self"]["how"], "simulated");
  EXPECT_DOUBLE_EQ(one["self"]["us_per_token"], time["decode"]["us_per_token"]);
  EXPECT_EQ(one["self"]["interval_ticks"],
            time["pipeline_full"]["interval_ticks"]);
  EXPECT_TRUE(one["receipt"]["ok"].get<bool>());
  EXPECT_FALSE(one.contains("bits_equal"));
  EXPECT_EQ(one["bits_not_compared"], "a shape has no weights");
}

// Up to what fills the pipeline users do not slow each other; past it they
// share the rate of the slowest stage.
TEST(Compare, UsersInFlight) {
  CommandFolder folder;
  std::string subject = kSmall;
  Json one = documentOf(folder, "orrery compare " + subject + " --gpu a100");
  int64_t full = one["self"]["users_in_flight_when_full"];
  ASSERT_GT(full, 1);
  double mhz = one["clock_mhz"];
  for (int64_t users : {int64_t(2), full, full + 3}) {
    Json many =
        documentOf(folder, "orrery compare " + subject +
                               " --gpu a100 --batch " + std::to_string(users));
    const Json &self = many["self"];
    auto ticks = self["ticks_per_step"].get<int64_t>();
    auto interval = self["interval_ticks"].get<int64_t>();
    EXPECT_EQ(self["simulated_pair_ticks"], ticks + interval);
    auto round = std::max(ticks, users * interval);
    if (users < self["users_in_flight_when_full"].get<int64_t>()) {
      EXPECT_EQ(round, ticks);
    }
    EXPECT_NEAR(self["us_per_token"].get<double>(), double(round) / mhz, 1e-9);
    EXPECT_NEAR(self["tokens_per_second"].get<double>(),
                double(users) * mhz * 1e6 / double(round), 1e-3);
    EXPECT_EQ(self["batch"], users);
    EXPECT_EQ(many["others"][0]["batch"], users);
  }
}

TEST(Compare, GpuRowsAddUp) {
  CommandFolder folder;
  Json json = documentOf(folder, "orrery compare llama-2-7b --machine "
                                 "lpu-v1-576 --gpu h100,a100 --kv f16");
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["context_positions"], 4096);
  for (const char *gpu : {"h100", "a100"}) {
    auto rows = rowsOf(json, gpu, "modelled");
    ASSERT_EQ(rows.size(), 1u) << gpu;
    const Json &row = rows.front(), &model = row["model"];
    double sum = 0;
    for (const char *key : {"products_us", "attention_us", "all_reduce_us",
                            "vector_ops_us", "head_us"}) {
      sum += model[key].get<double>();
    }
    double us = row["us_per_token"];
    EXPECT_NEAR(us, sum, 1e-6);
    EXPECT_NEAR(row["tokens_per_second_per_user"].get<double>(), 1e6 / us,
                1e-6);
    // facts/known-answers.md: KV of 4096 positions; q8_0 is 34 bytes in 32.
    EXPECT_EQ(model["kv_bytes_read"], int64_t(4096) * 524288);
    EXPECT_EQ(model["weight_bytes_read"], int64_t(6607077376) / 32 * 34);
    double peak = std::string(gpu) == "h100" ? 3.35e6 : 2.039e6;
    double bytes = model["kv_bytes_read"].get<double>() +
                   model["weight_bytes_read"].get<double>();
    EXPECT_NEAR(row["roofline_share"].get<double>(), bytes / peak / us, 1e-12);
    EXPECT_GT(row["roofline_share"], json["least_roofline_share"]);
    EXPECT_NEAR(row["speed_up"].get<double>(),
                us / json["self"]["us_per_token"].get<double>(), 1e-9);
  }
  // Published rates of the same precision, users and GPUs, as they were run.
  auto published = rowsOf(json, "a100", "published");
  ASSERT_FALSE(published.empty());
  for (const Json &row : published) {
    EXPECT_TRUE(row["speed_up"].is_null());
    EXPECT_NE(row["context_positions"], 4096);
    EXPECT_NE(row["detail"].get<std::string>().find("github.com/"),
              std::string::npos);
  }
  auto maker = rowsOf(json, "groq-lpu-v1", "published");
  ASSERT_EQ(maker.size(), 1u);
  EXPECT_NEAR(maker[0]["tokens_per_second_per_user"].get<double>(), 750, 1e-9);
}

TEST(Compare, TableAndBars) {
  CommandFolder folder;
  auto result = folder.run("orrery compare llama-2-7b --machine lpu-v1-576 "
                           "--gpu h100,a100");
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char *part : {"llama-2-7b on lpu-v1-576 and on GPUs: weights q8_0",
                           "simulated\n", "modelled\n", "published\n",
                           "how it was had", "tokens/s of one user\n", "|##"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << result.out;
  }
  EXPECT_NE(result.out.find("positions; shape only\n"), std::string::npos)
      << result.out;
  EXPECT_EQ(result.out.find("bits equal"), std::string::npos);
  EXPECT_NE(result.out.find("bits not compared: a shape has no weights\n"),
            std::string::npos);
}

TEST(Compare, NoSpeedUpOverASlowGpuUnasked) {
  CommandFolder folder;
  std::string line = std::string("orrery compare ") + kSmall + " --gpu h100";
  Json plain = documentOf(folder, line);
  auto row = rowsOf(plain, "h100", "modelled");
  ASSERT_EQ(row.size(), 1u);
  EXPECT_LT(row[0]["roofline_share"], 0.4);
  EXPECT_TRUE(row[0]["speed_up"].is_null());
  EXPECT_TRUE(row[0]["below_least_roofline_share"].get<bool>());
  auto text = folder.run(line);
  EXPECT_NE(text.out.find("no speed-up over h100, modelled: it reaches "),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("--allow-slow-gpu"), std::string::npos);
  EXPECT_EQ(text.out.find("x  modelled"), std::string::npos);
  Json allowed = documentOf(folder, line + " --allow-slow-gpu");
  row = rowsOf(allowed, "h100", "modelled");
  EXPECT_GT(row[0]["speed_up"], 0);
  text = folder.run(line + " --allow-slow-gpu");
  EXPECT_EQ(text.out.find("no speed-up over"), std::string::npos);
  EXPECT_NE(text.out.find("x  modelled"), std::string::npos) << text.out;
}

TEST(Compare, AModelThatDoesNotFitAGpuSaysWhatWould) {
  CommandFolder folder;
  // A GPU with little memory.
  std::string gpu = "small.json";
  Json json =
      Json::parse(std::ifstream(std::string(ORRERY_SOURCE_DIR) +
                                "/gpu-reference/latency/gpus/a100.json"));
  json["name"] = "small";
  json["hbm_gb"] = 5;
  folder.write(gpu, json.dump());
  std::string line =
      "orrery compare llama-2-7b --machine lpu-v1-576 --gpu " + gpu;
  Json document = documentOf(folder, line);
  auto rows = rowsOf(document, "small", "modelled");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_FALSE(rows[0]["fits"].get<bool>());
  EXPECT_TRUE(rows[0]["us_per_token"].is_null());
  EXPECT_EQ(rows[0]["detail"],
            "needs 8.2 GB on each of 1 GPU (weights 7.2 GB, KV cache 1.1 GB), "
            "has 5.0 GB; fits from --tp 2");
  auto text = folder.run(line);
  EXPECT_NE(text.out.find("small, does not fit: needs 8.2 GB"),
            std::string::npos)
      << text.out;
  Json two = documentOf(folder, line + " --tp 2");
  EXPECT_TRUE(rowsOf(two, "small", "modelled")[0]["fits"].get<bool>());
  EXPECT_GT(rowsOf(two, "small", "modelled")[0]["model"]["all_reduce_us"], 0);
}

// Of a made-up file: only the reader and the matching are at stake.
TEST(Compare, MeasuredRowsOfAFolder) {
  CommandFolder folder;
  std::string text = R"({"device": "NVIDIA H200", "driver": "1.2", "date":
    "2026-01-02", "memory_bytes": 150754820096, "copy_bandwidth_bytes_per_s": 4.0e12, "decode": [
    {"model": "llama-2-7b", "weights": "q8_0", "kv": "q8", "context": 4096,
     "batch": 1, "median_us": 2500, "p10_us": 2490, "p90_us": 2600, "bytes":
     8000000000},
    {"model": "llama-2-7b", "weights": "q8_0", "kv": "f16", "context": 4096,
     "batch": 1, "median_us": 1, "p10_us": 1, "p90_us": 1, "bytes": 8},
    {"model": "llama-2-7b", "weights": "q8_0", "kv": "q8", "context": 4096,
     "batch": 8, "median_us": 5000, "p10_us": 4900, "p90_us": 5200, "bytes":
     16000000000}]})";
  folder.write("m.json", text);
  std::string line = "orrery compare llama-2-7b --machine lpu-v1-576 "
                     "--measurements . --gpu ";
  Json h200 = documentOf(folder, line + "h200");
  auto rows = rowsOf(h200, "h200", "measured");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["us_per_token"], 2500);
  EXPECT_NEAR(rows[0]["roofline_share"].get<double>(), 8e9 / 4.8e6 / 2500,
              1e-12);
  EXPECT_GT(rows[0]["speed_up"], 0);
  EXPECT_NE(rows[0]["detail"].get<std::string>().find(
                "80 % of its copy bandwidth; NVIDIA H200, driver 1.2, "
                "2026-01-02"),
            std::string::npos)
      << rows[0]["detail"];
  // Of a batch the step that was timed with as many sequences.
  rows =
      rowsOf(documentOf(folder, line + "h200 --batch 8"), "h200", "measured");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["us_per_token"], 5000);
  EXPECT_EQ(rows[0]["batch"], 8);
  EXPECT_TRUE(
      rowsOf(documentOf(folder, line + "h100"), "h100", "measured").empty());
  folder.write("n.json", "{");
  auto bad = folder.run(line + "h200");
  EXPECT_EQ(bad.code, 3);
  EXPECT_NE(bad.err.find("n.json: "), std::string::npos) << bad.err;
}

TEST(Compare, AModelFileKeepsItsFormats) {
  CommandFolder folder;
  Json json = documentOf(
      folder, "orrery compare $MODEL $SMALL --gpu b200 --allow-slow-gpu");
  EXPECT_EQ(json["weights"], "q8_0 (as stored)");
  EXPECT_EQ(json["bits_equal"], true);
  EXPECT_FALSE(json.contains("bits_not_compared"));
  auto text = folder.run("orrery compare $MODEL $SMALL --gpu b200");
  EXPECT_EQ(text.out.find("shape only"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("bits equal: yes"), std::string::npos);
  EXPECT_EQ(rowsOf(json, "b200", "modelled").size(), 1u);
}

class CompareInput : public testing::TestWithParam<BadLine> {};

TEST_P(CompareInput, OneLineCodeAndNothingElse) {
  CommandFolder folder;
  folder.write("bad.json", "{\"name\": 1}");
  expectRefused(folder, GetParam());
}

constexpr BadLine kCases[] = {
    {"NoModel", "orrery compare", 2, "model is required"},
    {"NoUsers", "orrery compare stories260k --batch 0", 2,
     "expected a whole number of 1 or more, found 0"},
    {"UnknownModel", "orrery compare llama-9-7b --gpu h100", 3,
     "llama-9-7b: cannot open: No such file or directory, and no model of the "
     "zoo has that name"},
    {"UnknownGpu", "orrery compare stories260k --gpu h100,v100", 3,
     "--gpu: gpu `v100`: neither a known GPU (a100, b200, h100, h200) nor a "
     "readable file"},
    {"BadGpuFile", "orrery compare stories260k --gpu bad.json", 3,
     "--gpu: gpu `bad.json`: "},
    {"GpuTwice", "orrery compare stories260k --gpu h100,h100", 3,
     "--gpu: expected each GPU once, found h100 twice"},
    {"TooManyGpus", "orrery compare stories260k --gpu h100 --tp 16", 3,
     "h100: tp=16: expected 1 to the 8 GPUs that NVLink joins"},
    {"NoDivisor", "orrery compare stories260k --gpu h100 --tp 3", 3,
     "h100: tp=3: expected a number that divides 8 heads"},
    {"UnknownMachine", "orrery compare stories260k --machine tpu", 3,
     "machine `tpu`: neither a preset"},
    {"NoFolder", "orrery compare stories260k --measurements nowhere", 3,
     "nowhere: cannot list: "},
    {"Experts", "orrery compare mixtral-8x7b", 3, "mixture of experts"},
    {"TooSmall", "orrery compare llama-2-7b --machine lpu-v1 --gpu h100", 4,
     "the smallest preset that would do is lpu-"},
    {"TooManyUsers",
     "orrery compare tinystories-656k --machine lpu-small-node --partition "
     "tp=2,pp=2 --batch 100000",
     4, "tinystories-656k does not fit lpu-small-node"},
};
INSTANTIATE_TEST_SUITE_P(Compare, CompareInput, testing::ValuesIn(kCases),
                         [](const auto &info) { return info.param.name; });

} // namespace
} // namespace orrery::command
