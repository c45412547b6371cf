// Trained models over several chips, in many splits: logits bit for bit those
// of one chip, at a prompt and at tokens after it. ORRERY_SPLIT_POSITIONS says
// how many positions are read.
#include "compiler/import/ImportModel.h"
#include "runtime/StageChips.h"
#include "tests/CutStages.h"
#include "tests/e2e/Golden.h"

#include <bit>
#include <cstdio>

namespace orrery::test {
namespace {

struct Model {
  const char *name;
  const char *file; ///< under the shared data; null: the shipped model
  llm::KvFormat kv;
  std::vector<SplitOptions> splits;
};

void PrintTo(const Model &model, std::ostream *os) { *os << model.name; }

/// Positions read; the last kSingles one by one.
constexpr size_t kSingles = 3;
size_t positions() {
  const char *text = std::getenv("ORRERY_SPLIT_POSITIONS");
  return text ? size_t(std::max(std::atoll(text), 8LL)) : 12;
}

struct Reading {
  std::vector<std::vector<float>> logits; ///< by position
  std::vector<int32_t> greedy;
};

/// Whether it takes stages that end inside feed-forward networks.
bool cuts(const SplitOptions &split, int64_t layers) {
  return split.cut.value_or(split.stages > 2 * layers + 1);
}

/// What a step over all of `ids` says on lpu-small-node.
Reading readOn(const models::WeightFile &weights, llm::KvFormat kv,
               const SplitOptions &split, const std::vector<int32_t> &ids) {
  runtime::SessionOptions options;
  options.machine = "lpu-small-node";
  options.kv = kv;
  options.split = split;
  options.context = int64_t(ids.size()) + 1;
  options.chunk = 8;
  options.tensorFormats = compiler::storedFormats(weights.gguf());
  auto session = runtime::Session::open(weights, options);
  if (!session) {
    ADD_FAILURE() << session.error().message;
    return {};
  }
  const SystemProgram &program = *(*session)->programs().front();
  auto stages = runtime::stageChips(program);
  EXPECT_EQ(int64_t(stages.size()), split.stages);
  EXPECT_EQ(int64_t(stages.front().size()), split.tensorParallel);
  EXPECT_EQ(cutStages(program) > 0, cuts(split, weights.config().layers));
  Reading out;
  std::span<const int32_t> left = ids;
  while (!left.empty()) {
    std::span<const int32_t> now =
        left.first(left.size() > kSingles ? left.size() - kSingles : 1);
    auto records = (*session)->read(now);
    if (!records) {
      ADD_FAILURE() << records.error().message;
      return {};
    }
    for (const auto &record : *records) {
      EXPECT_EQ(record.result.ticks, record.program->predictedTicks);
      out.logits.insert(out.logits.end(), record.logits.begin(),
                        record.logits.end());
      out.greedy.insert(out.greedy.end(), record.greedy.begin(),
                        record.greedy.end());
    }
    left = left.subspan(now.size());
  }
  return out;
}

/// Values that differ in any bit, and missing ones.
size_t differing(const Reading &expected, const Reading &found) {
  if (expected.logits.size() != found.logits.size()) {
    return SIZE_MAX;
  }
  size_t count = 0;
  for (size_t t = 0; t < expected.logits.size(); ++t) {
    const auto &e = expected.logits[t], &f = found.logits[t];
    if (e.size() != f.size()) {
      return SIZE_MAX;
    }
    for (size_t i = 0; i < e.size(); ++i) {
      count += std::bit_cast<uint32_t>(e[i]) != std::bit_cast<uint32_t>(f[i]);
    }
  }
  return count;
}

class SystemModel : public testing::TestWithParam<Model> {};

TEST_P(SystemModel, LogitsOfOneChip) {
  const Model &c = GetParam();
  std::string path =
      std::string(ORRERY_SOURCE_DIR) + "/models/tiny/orrery-tiny-Q8_0.gguf";
  if (c.file) {
    SKIP_WITHOUT_SHARED(c.file);
    path = models::sharedFile(c.file);
  }
  auto weights = models::WeightFile::open(path);
  ASSERT_TRUE(weights) << weights.error().message;
  auto ids = weights->tokenizer()->encode(
      "Once upon a time, there was a little girl named Lily. She loved to play "
      "outside in the park with her friends.");
  ids.resize(std::min(ids.size(), positions()));
  Reading expected = readOn(*weights, c.kv, {1, 1}, ids);
  ASSERT_EQ(expected.logits.size(), ids.size());
  for (const SplitOptions &split : c.splits) {
    Reading found = readOn(*weights, c.kv, split, ids);
    size_t different = differing(expected, found);
    std::printf("%s, kv %s: tp=%lld,pp=%lld%s: %zu logits, %zu not as on one "
                "chip\n",
                c.name, llm::stringifyKvFormat(c.kv).str().c_str(),
                (long long)split.tensorParallel, (long long)split.stages,
                cuts(split, weights->config().layers) ? ", cut" : "",
                ids.size() * expected.logits[0].size(), different);
    EXPECT_EQ(different, 0u);
    EXPECT_EQ(found.greedy, expected.greedy);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Trained, SystemModel,
    testing::Values(
        Model{"models/tiny",
              nullptr,
              llm::KvFormat::Q8,
              {{2, 1},
               {1, 2},
               {3, 1},
               {1, 3},
               {2, 2},
               {4, 1},
               {4, 2},
               {1, 8},
               {8, 1}}},
        Model{"stories260K",
              "stories260K/stories260K-F32.gguf",
              llm::KvFormat::F16,
              {{2, 1}, {1, 2}, {3, 1}, {1, 3}, {4, 1}, {1, 4}, {2, 4}, {8, 1}}},
        Model{"tinystories-656K",
              "tinystories-656K/tinystories-656K-Q4_0.gguf",
              llm::KvFormat::Q8,
              {{2, 1},
               {1, 2},
               {3, 1},
               {2, 2},
               {4, 2},
               {8, 1},
               // Stages that end between gate and up and down.
               {1, 6},
               {1, 7},
               {2, 3, {}, true},
               {1, 5, {}, true}}}),
    [](const auto &info) {
      std::string name = info.param.name;
      std::erase_if(name, [](char c) { return !std::isalnum(uint8_t(c)); });
      return name;
    });

} // namespace
} // namespace orrery::test
