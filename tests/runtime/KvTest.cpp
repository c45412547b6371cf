// `orrery kv`: facts/known-answers.md, and what is stored against what
// `orrery compile` lays out.
#include "tests/runtime/Command.h"

#include <nlohmann/json.hpp>

namespace orrery::command {
namespace {

using Json = nlohmann::json;

Json documentOf(const CommandFolder &folder, const std::string &line) {
  CommandResult result = folder.run(line + " --json");
  EXPECT_EQ(result.code, 0) << line << "\n" << result.err;
  EXPECT_EQ(result.err, "") << line;
  return Json::parse(result.out, nullptr, false);
}

Json rowOf(const Json &list, const std::string &model,
           const std::string &format) {
  for (const Json &row : list) {
    if (row["model"] == model && row["format"] == format) {
      return row;
    }
  }
  ADD_FAILURE() << "no row of " << model << " in " << format;
  return Json::object();
}

/// f16; `blind` is what counting attention heads gives.
struct Known {
  const char *model;
  int64_t perPosition;
  double mebibytes; ///< at 4096 positions
  int64_t blind;
};
constexpr Known kKnown[] = {
    {"stories260k", 640, 2.5, 1280},
    {"stories15m", 6912, 27, 6912},
    {"smollm2-135m", 23040, 90, 69120},
    {"qwen2.5-0.5b", 12288, 48, 86016},
    {"qwen3-0.6b", 114688, 448, 229376},
    {"llama-2-7b", 524288, 2048, 524288},
    {"llama-3.1-8b", 131072, 512, 524288},
    {"llama-3.1-70b", 327680, 1280, 2621440},
    {"mixtral-8x7b", 131072, 512, 524288},
};

TEST(Kv, KnownAnswers) {
  CommandFolder folder;
  Json list = documentOf(folder, "orrery kv --ctx 4096");
  ASSERT_TRUE(list.is_array());
  for (const Known &known : kKnown) {
    Json row = rowOf(list, known.model, "f16");
    EXPECT_EQ(row["bytes_per_position"], known.perPosition) << known.model;
    EXPECT_EQ(row["bytes"].get<double>(), known.mebibytes * (1 << 20))
        << known.model;
    if (row["kv_heads"] != row["heads"]) {
      EXPECT_NE(row["bytes_per_position"], known.blind) << known.model;
    }
    // One byte an element and an f16 scale for each head, of K and of V.
    int64_t dim = row["head_dim"];
    EXPECT_EQ(rowOf(list, known.model, "q8")["bytes_per_position"],
              known.perPosition / (2 * dim) * (dim + 2))
        << known.model;
  }
  // 8,192 positions of SmolLM2-135M in f16, by its own context.
  Json own = documentOf(folder, "orrery kv smollm2-135m --kv f16");
  ASSERT_EQ(own.size(), 1u);
  EXPECT_EQ(own[0]["positions"], 8192);
  EXPECT_EQ(own[0]["bytes"], 188743680);
}

// 16 ranks on 8 KV heads: one replicated head each, twice the bytes in all.
TEST(Kv, RanksReplicateKvHeads) {
  CommandFolder folder;
  Json list = documentOf(folder, "orrery kv llama-3.1-70b --kv f16 --tp 16");
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["kv_heads_per_rank"], 1);
  EXPECT_EQ(list[0]["ranks_per_kv_head"], 2);
  EXPECT_EQ(list[0]["bytes_per_position"], 327680);
  EXPECT_EQ(list[0]["bytes_per_position_per_rank"], 327680 / 8);
  EXPECT_EQ(list[0]["bytes_per_position_all_ranks"], 2 * 327680);
  // 8 ranks: each its own, and an eighth of what one chip stores.
  Json eight = documentOf(folder, "orrery kv llama-3.1-70b --kv f16 --tp 8");
  EXPECT_EQ(eight[0]["bytes_per_position_all_ranks"], 327680);
  EXPECT_EQ(eight[0]["ranks_per_kv_head"], 1);
  EXPECT_EQ(eight[0]["stored_bytes_per_rank"],
            list[0]["stored_bytes_per_rank"]);
  // 3 ranks on 8 KV heads: 3, 3 and 2.
  Json three = documentOf(folder, "orrery kv llama-3.1-70b --kv q8 --tp 3");
  EXPECT_EQ(three[0]["kv_heads_per_rank"], 3);
  EXPECT_EQ(three[0]["bytes_per_position_all_ranks"],
            three[0]["bytes_per_position"]);
  auto text = folder.run("orrery kv llama-3.1-70b --kv f16 --tp 16");
  EXPECT_NE(text.out.find("  2.00"), std::string::npos) << text.out;
}

TEST(Kv, StoredIsWhatIsCompiled) {
  CommandFolder folder;
  for (const char *subject :
       {"stories260k --machine lpu-small", "stories260k --ctx 100",
        "tinystories-656k --machine lpu-small --ctx 65",
        "stories15m --ctx 200 --machine lpu-v1"}) {
    for (const char *kv : {" --kv f16", " --kv q8"}) {
      std::string line = std::string(subject) + kv;
      Json compiled = documentOf(folder, "orrery compile --shape " + line);
      Json row = documentOf(folder, "orrery kv " + line);
      ASSERT_EQ(row.size(), 1u) << line;
      EXPECT_EQ(row[0]["stored_bytes_per_rank"], compiled["sram"]["kv_bytes"])
          << line;
      EXPECT_EQ(row[0]["bytes"], compiled["sram"]["kv_nominal_bytes"]) << line;
    }
  }
  Json file = documentOf(folder, "orrery kv $MODEL $SMALL --kv q8");
  Json compiled = documentOf(folder, "orrery compile $MODEL $SMALL --kv q8");
  EXPECT_EQ(file[0]["stored_bytes_per_rank"], compiled["sram"]["kv_bytes"]);
}

TEST(Kv, SaysWhatAFigureIsNot) {
  CommandFolder folder;
  auto window = folder.run("orrery kv mistral-7b-v0.1 llama-2-7b --ctx 8192");
  EXPECT_EQ(window.code, 0) << window.err;
  EXPECT_NE(window.out.find("not modelled in mistral-7b-v0.1: sliding window "
                            "of 4096: attention and KV cache are of all "
                            "positions"),
            std::string::npos)
      << window.out;
  EXPECT_NE(
      window.out.find("more positions than trained for: llama-2-7b (4,096)\n"),
      std::string::npos)
      << window.out;
  auto wide = folder.run("orrery kv llama-2-7b $SMALL --kv q8");
  EXPECT_EQ(wide.code, 0) << wide.err;
  EXPECT_NE(wide.out.find("llama-2-7b has no place on lpu-small: heads of 128 "
                          "elements need 128 lanes, there are 64\n"),
            std::string::npos)
      << wide.out;
  Json row = documentOf(folder, "orrery kv llama-2-7b $SMALL --kv q8");
  EXPECT_TRUE(row[0]["stored_bytes_per_rank"].is_null());
  EXPECT_EQ(row[0]["bytes_per_position"], 2 * 32 * 32 * (128 + 2));
}

} // namespace
} // namespace orrery::command
