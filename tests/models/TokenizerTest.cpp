#include "models/Tokenizer.h"
#include "tests/models/GgufBuilder.h"
#include "tests/models/SharedData.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

using namespace orrery;
using namespace orrery::models;

namespace {

using Ids = std::vector<TokenId>;

constexpr char kSpace[] = "\xE2\x96\x81";
constexpr char kBad[] = "\xEF\xBF\xBD";

Tokenizer openTokenizer(const std::string &relative) {
  Expected<GgufFile> file = GgufFile::open(sharedFile(relative));
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  Expected<Tokenizer> tokenizer = Tokenizer::fromGguf(*file);
  EXPECT_TRUE(tokenizer) << (tokenizer ? "" : tokenizer.error().message);
  return std::move(*tokenizer);
}

struct Piece {
  std::string text;
  TokenKind kind = TokenKind::Normal;
  float score = 0;
};

GgufBuilder vocabulary(const std::vector<Piece> &pieces) {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<int32_t> kinds;
  for (const Piece &piece : pieces) {
    texts.push_back(piece.text);
    scores.push_back(piece.score);
    kinds.push_back(static_cast<int32_t>(piece.kind));
  }
  GgufBuilder file;
  file.string("tokenizer.ggml.model", "llama");
  file.strings("tokenizer.ggml.tokens", texts);
  file.array("tokenizer.ggml.scores", GgufType::F32, scores);
  file.array("tokenizer.ggml.token_type", GgufType::I32, kinds);
  return file;
}

Expected<Tokenizer> load(const GgufBuilder &builder) {
  std::vector<std::byte> bytes = builder.build();
  Expected<GgufFile> file = GgufFile::parse(bytes);
  EXPECT_TRUE(file);
  return Tokenizer::fromGguf(*file);
}

/// <unk> <s> </s>, then space mark, a, b, ab, ▁a, a user-defined "<u>", and the
/// bytes of "é" and "🚀".
std::vector<Piece> smallVocabulary() {
  std::vector<Piece> pieces = {
      {"<unk>", TokenKind::Unknown},
      {"<s>", TokenKind::Control},
      {"</s>", TokenKind::Control},
      {kSpace, TokenKind::Normal, -5},
      {"a", TokenKind::Normal, -6},
      {"b", TokenKind::Normal, -7},
      {"ab", TokenKind::Normal, -2},
      {std::string(kSpace) + "a", TokenKind::Normal, -1},
      {"<u>", TokenKind::UserDefined}};
  for (const char *byte :
       {"<0xC3>", "<0xA9>", "<0xF0>", "<0x9F>", "<0x9A>", "<0x80>"}) {
    pieces.push_back({byte, TokenKind::Byte});
  }
  return pieces;
}

Tokenizer smallTokenizer() {
  Expected<Tokenizer> tokenizer = load(vocabulary(smallVocabulary()));
  EXPECT_TRUE(tokenizer) << tokenizer.error().message;
  return std::move(*tokenizer);
}

Ids encodePlain(const Tokenizer &tokenizer, std::string_view text) {
  return tokenizer.encode(text, {.addSpecial = false, .parseSpecial = false});
}

//===-- Against llama.cpp -------------------------------------------------===//

struct Case {
  std::string text;
  Ids ids;
};

/// Cases of NAME.inp, separated by a marker line, with the ids of NAME.out, a
/// line each.
std::vector<Case> readCases(const std::string &base) {
  std::vector<Case> cases;
  std::string texts = readText(base + ".inp");
  std::istringstream lines(readText(base + ".out"));
  const std::string marker = "\n__ggml_vocab_test__\n";
  size_t start = 0;
  for (size_t end = texts.find(marker); end != std::string::npos;
       start = end + marker.size(), end = texts.find(marker, start)) {
    std::string line;
    std::getline(lines, line);
    std::istringstream numbers(line);
    Case example{texts.substr(start, end - start), {}};
    for (TokenId id = 0; numbers >> id;) {
      example.ids.push_back(id);
    }
    cases.push_back(example);
  }
  return cases;
}

class TokenizerCases : public testing::TestWithParam<const char *> {};

TEST_P(TokenizerCases, GiveTheIdsOfLlamaCpp) {
  std::string relative =
      std::string("tokenizers/ggml-vocab-") + GetParam() + ".gguf";
  SKIP_WITHOUT_SHARED(relative);
  Tokenizer tokenizer = openTokenizer(relative);
  std::vector<Case> cases = readCases(sharedFile(relative));
  ASSERT_EQ(cases.size(), 46u);
  for (const Case &example : cases) {
    EXPECT_EQ(encodePlain(tokenizer, example.text), example.ids)
        << example.text;
    EXPECT_EQ(tokenizer.decode(example.ids), example.text);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, TokenizerCases,
                         testing::Values("llama-spm", "phi-3"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

/// The number list after "ids" and the string after "prompt" of a golden file.
Case readGolden(const std::string &path) {
  std::string json = readText(path);
  const std::string promptKey = "\"prompt\": \"";
  size_t promptStart = json.find(promptKey) + promptKey.size();
  Case golden;
  golden.text =
      json.substr(promptStart, json.find('"', promptStart) - promptStart);
  std::string list = json.substr(json.find("\"ids\": [") + 8);
  std::replace(list.begin(), list.end(), ',', ' ');
  std::istringstream numbers(list);
  for (TokenId id = 0; numbers >> id;) {
    golden.ids.push_back(id);
  }
  return golden;
}

class GoldenPrompt : public testing::TestWithParam<const char *> {};

TEST_P(GoldenPrompt, GivesTheFirstIds) {
  std::string name = GetParam();
  SKIP_WITHOUT_SHARED("golden/" + name + ".json");
  Case golden = readGolden(sharedFile("golden/" + name + ".json"));
  ASSERT_EQ(golden.text, "Once upon a time");
  Tokenizer tokenizer = openTokenizer(name + "/" + name + "-F32.gguf");
  Ids ids = tokenizer.encode(golden.text);
  ASSERT_GT(ids.size(), 1u);
  ASSERT_LT(ids.size(), golden.ids.size());
  EXPECT_EQ(ids, Ids(golden.ids.begin(), golden.ids.begin() + ids.size()));
  EXPECT_TRUE(tokenizer.decode(golden.ids).starts_with(golden.text));
}

INSTANTIATE_TEST_SUITE_P(Shared, GoldenPrompt,
                         testing::Values("stories260K", "tinystories-656K"),
                         [](const auto &info) {
                           std::string name = info.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Tokenizer, RefusesOtherModelsByName) {
  SKIP_WITHOUT_SHARED("tokenizers/ggml-vocab-gpt-2.gguf");
  Expected<GgufFile> file =
      GgufFile::open(sharedFile("tokenizers/ggml-vocab-gpt-2.gguf"));
  ASSERT_TRUE(file) << file.error().message;
  Expected<Tokenizer> tokenizer = Tokenizer::fromGguf(*file);
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().message,
            "tokenizer model \"gpt2\" is not supported (supported: llama)");
}

TEST(Tokenizer, ReadsBaichuan) {
  SKIP_WITHOUT_SHARED("tokenizers/ggml-vocab-baichuan.gguf");
  Tokenizer tokenizer = openTokenizer("tokenizers/ggml-vocab-baichuan.gguf");
  EXPECT_EQ(tokenizer.vocabSize(), 64000);
  std::string text = "Hello \xE6\x88\x91\xE6\x83\xB3\xE5\x9C\xA8 \x01!";
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
}

//===-- A small vocabulary ------------------------------------------------===//

TEST(Tokenizer, JoinsTheBestScoreFirst) {
  Tokenizer tokenizer = smallTokenizer();
  // "▁a" (-1) wins over "ab" (-2), though "ab" would cover more.
  EXPECT_EQ(encodePlain(tokenizer, "ab"), (Ids{7, 5}));
  EXPECT_EQ(encodePlain(tokenizer, "bab"), (Ids{3, 5, 6}));
  EXPECT_EQ(encodePlain(tokenizer, ""), Ids{});
  EXPECT_EQ(encodePlain(tokenizer, " "), (Ids{3, 3}));
}

TEST(Tokenizer, LeftmostWinsAmongEqualScores) {
  Expected<Tokenizer> tokenizer =
      load(vocabulary({{"<unk>", TokenKind::Unknown}, {"a"}, {"aa"}})
               .boolean("tokenizer.ggml.add_space_prefix", false));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(encodePlain(*tokenizer, "aaa"), (Ids{2, 1}));
}

TEST(Tokenizer, SpecialTokensWhereAsked) {
  Tokenizer tokenizer = smallTokenizer();
  EXPECT_EQ(tokenizer.encode("a"), (Ids{1, 7}));
  EXPECT_EQ(tokenizer.encode(""), Ids{1});
  // Without parseSpecial "<s>" is text (here: unknown around nothing known).
  EXPECT_EQ(encodePlain(tokenizer, "<s>"), (Ids{3, 0}));
  // Text after a special token gets a space of its own.
  EXPECT_EQ(
      tokenizer.encode("a</s>a", {.addSpecial = false, .parseSpecial = true}),
      (Ids{7, 2, 7}));
  // User-defined tokens are recognised always.
  EXPECT_EQ(encodePlain(tokenizer, "a<u>a"), (Ids{7, 8, 7}));

  GgufBuilder flags = vocabulary(smallVocabulary());
  flags.boolean("tokenizer.ggml.add_bos_token", false);
  flags.boolean("tokenizer.ggml.add_eos_token", true);
  Expected<Tokenizer> other = load(flags);
  ASSERT_TRUE(other) << other.error().message;
  EXPECT_EQ(other->encode("a"), (Ids{7, 2}));
}

TEST(Tokenizer, LongestSpecialTokenWins) {
  Expected<Tokenizer> tokenizer =
      load(vocabulary({{"<unk>", TokenKind::Unknown},
                       {"<x>", TokenKind::UserDefined},
                       {"<x><x>", TokenKind::UserDefined}}));
  ASSERT_TRUE(tokenizer) << tokenizer.error().message;
  EXPECT_EQ(encodePlain(*tokenizer, "<x><x><x>"), (Ids{2, 1}));
}

TEST(Tokenizer, FallsBackToBytesThenToUnknown) {
  Tokenizer tokenizer = smallTokenizer();
  EXPECT_EQ(encodePlain(tokenizer, "\xC3\xA9"), (Ids{3, 9, 10}));
  // A run of characters without bytes is one unknown token.
  EXPECT_EQ(encodePlain(tokenizer, "axyzay"), (Ids{7, 0, 4, 0}));
  EXPECT_EQ(encodePlain(tokenizer, "\xFF"), (Ids{3, 0}));
}

TEST(Tokenizer, DecodesBytesAndSpaces) {
  Tokenizer tokenizer = smallTokenizer();
  EXPECT_EQ(tokenizer.decode(Ids{1, 7, 7, 2}), "a a");
  EXPECT_EQ(tokenizer.decode(Ids{1, 7, 2}, /*showSpecial=*/true), "<s> a</s>");
  EXPECT_EQ(tokenizer.decode(Ids{3, 9, 10, 5}), "\xC3\xA9"
                                                "b");
  EXPECT_EQ(tokenizer.decode(Ids{9, 5}), std::string(kBad) + "b");
  EXPECT_EQ(tokenizer.decode(Ids{9}), kBad);
  EXPECT_EQ(tokenizer.decode(Ids{-1, 99, 5, 2147483647}), "b");
  EXPECT_EQ(tokenizer.tokenBytes(9), "\xC3");
}

TEST(Tokenizer, StreamHoldsBackIncompleteCharacters) {
  Tokenizer tokenizer = smallTokenizer();
  StreamDecoder decoder(tokenizer);
  EXPECT_EQ(decoder.next(7), "a");
  for (TokenId id : {11, 12, 13}) {
    EXPECT_EQ(decoder.next(id), "");
  }
  EXPECT_EQ(decoder.next(14), "\xF0\x9F\x9A\x80");
  EXPECT_EQ(decoder.next(9), "");
  EXPECT_EQ(decoder.next(7), std::string(kBad) + " a");
  EXPECT_EQ(decoder.next(9), "");
  EXPECT_EQ(decoder.finish(), kBad);
  EXPECT_EQ(decoder.finish(), "");
  EXPECT_EQ(decoder.next(7), "a");
}

TEST(Tokenizer, MovedTokenizerStillFindsPieces) {
  Tokenizer first = smallTokenizer();
  Tokenizer second = std::move(first);
  EXPECT_EQ(second.find("ab"), 6);
  first = std::move(second);
  EXPECT_EQ(encodePlain(first, "ab"), (Ids{7, 5}));
}

TEST(Tokenizer, RefusesMetadataThatDoesNotFit) {
  auto expectRefused = [](const GgufBuilder &builder, const char *part) {
    Expected<Tokenizer> tokenizer = load(builder);
    ASSERT_FALSE(tokenizer) << part;
    EXPECT_NE(tokenizer.error().message.find(part), std::string::npos)
        << tokenizer.error().message;
  };
  expectRefused(GgufBuilder(),
                "\"tokenizer.ggml.model\": expected a string, found no such");
  expectRefused(GgufBuilder().string("tokenizer.ggml.model", "llama"),
                "\"tokenizer.ggml.tokens\": expected an array of string, "
                "found no such key");
  GgufBuilder empty;
  empty.string("tokenizer.ggml.model", "llama");
  empty.strings("tokenizer.ggml.tokens", {});
  expectRefused(empty, "expected 1 to 16777216 tokens, found 0");
  GgufBuilder scores;
  scores.string("tokenizer.ggml.model", "llama");
  scores.strings("tokenizer.ggml.tokens", {"a", "b"});
  scores.array<float>("tokenizer.ggml.scores", GgufType::F32, {1});
  expectRefused(scores, "expected 2 elements, one a token, found 1");
  GgufBuilder bos = vocabulary(smallVocabulary());
  bos.u32("tokenizer.ggml.bos_token_id", 15);
  expectRefused(bos, "expected a token below 15, found 15");
  expectRefused(vocabulary({{"a", static_cast<TokenKind>(7)}}),
                "element 0: expected 1 to 6, found 7");
  expectRefused(vocabulary({{"a"}, {"0xFF", TokenKind::Byte}}),
                "element 1: expected a byte token's text <0xNN>");
  expectRefused(vocabulary({{"a", TokenKind::Normal,
                             std::numeric_limits<float>::quiet_NaN()}}),
                "element 0: expected a number, found nan");
}

} // namespace
