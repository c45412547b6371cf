// Greedy text of real files on lpu-v1, held against golden texts: how many
// tokens go by before ours is another. The counts are not goals but facts of
// the formats; they change only with a reason. The float files of
// tinystories-656K, quantized on reading, leave the float text at the token at
// which llama.cpp leaves it too with the Q8_0 file.
#include "compiler/import/ImportModel.h"
#include "tests/e2e/Golden.h"

#include <cstdio>

namespace orrery::test {
namespace {

struct Text {
  const char *file;
  const char *golden;         ///< greedy text of the same file by llama.cpp
  const char *float64;        ///< golden ids of the unquantized model
  size_t alongText, alongIds; ///< tokens, those of the prompt too
};

void PrintTo(const Text &text, std::ostream *os) { *os << text.file; }

class GoldenText : public testing::TestWithParam<Text> {};

TEST_P(GoldenText, FirstDifferingToken) {
  const Text &c = GetParam();
  SKIP_WITHOUT_SHARED(c.file);
  auto weights = models::WeightFile::open(models::sharedFile(c.file));
  ASSERT_TRUE(weights) << weights.error().message;
  Golden golden = readGolden(c.float64);
  std::string text = plainText(models::readText(models::sharedFile(c.golden)));
  auto prompt = weights->tokenizer()->encode(golden.prompt);
  size_t room = golden.ids.size() - prompt.size();

  runtime::SessionOptions options;
  options.context = int64_t(golden.ids.size());
  options.tensorFormats = compiler::storedFormats(weights->gguf());
  auto session = runtime::Session::open(*weights, options);
  ASSERT_TRUE(session) << session.error().message;
  auto ours = greedy(**session, prompt, room, weights->tokenizer()->eos());

  std::vector<int32_t> all = prompt, told = golden.ids;
  all.insert(all.end(), ours.begin(), ours.end());
  size_t alongText = tokensAlong(*weights->tokenizer(), all, text);
  size_t alongIds = idsAlong(all, told);
  std::printf("%s: ours leaves the text of llama.cpp at token %zu, the float64 "
              "ids at token %zu, of %zu\n",
              c.file, alongText, alongIds, all.size());
  ASSERT_GT(ours.size(), 40u);
  EXPECT_EQ(alongText, c.alongText);
  EXPECT_EQ(alongIds, c.alongIds);
}

constexpr const char *kStories = "stories260K";
constexpr const char *kTiny = "tinystories-656K";

INSTANTIATE_TEST_SUITE_P(
    Trained, GoldenText,
    testing::Values(
        Text{"stories260K/stories260K-F32.gguf",
             "golden/stories260K-F32.llamacpp.greedy.txt", kStories, 115, 115},
        Text{"stories260K/stories260K-F16.gguf",
             "golden/stories260K-F16.llamacpp.greedy.txt", kStories, 182, 182},
        Text{"stories260K/stories260K-BF16.gguf",
             "golden/stories260K-BF16.llamacpp.greedy.txt", kStories, 115, 115},
        Text{"tinystories-656K/tinystories-656K-F32.gguf",
             "golden/tinystories-656K-F32.llamacpp.greedy.txt", kTiny, 14, 14},
        Text{"tinystories-656K/tinystories-656K-F16.gguf",
             "golden/tinystories-656K-F16.llamacpp.greedy.txt", kTiny, 14, 14},
        Text{"tinystories-656K/tinystories-656K-BF16.gguf",
             "golden/tinystories-656K-BF16.llamacpp.greedy.txt", kTiny, 14, 14},
        Text{"tinystories-656K/tinystories-656K-Q8_0.gguf",
             "golden/tinystories-656K-Q8_0.llamacpp.greedy.txt", kTiny, 110,
             14},
        Text{"tinystories-656K/tinystories-656K-Q4_0.gguf",
             "golden/tinystories-656K-Q4_0.llamacpp.greedy.txt", kTiny, 21,
             11}));

} // namespace
} // namespace orrery::test
