#include "models/Utf8.h"

#include <gtest/gtest.h>

using namespace orrery::models;

namespace {

std::string take(std::string bytes, bool flush, std::string *rest = nullptr) {
  std::string result = takeUtf8(bytes, flush);
  if (rest) {
    *rest = bytes;
  }
  return result;
}

constexpr char kBad[] = "\xEF\xBF\xBD";

TEST(Utf8, KeepsWellFormedText) {
  for (const char *text : {"", "abc", "h\xC3\xA9", "\xE2\x96\x81x",
                           "\xF0\x9F\x9A\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(take(text, false), text);
  }
}

TEST(Utf8, HoldsBackIncompleteCharacters) {
  for (const char *part : {"\xC3", "\xE2\x96", "\xE2", "\xF0\x9F\x9A"}) {
    std::string rest;
    EXPECT_EQ(take(std::string("ab") + part, false, &rest), "ab");
    EXPECT_EQ(rest, part);
    EXPECT_EQ(take(part, true, &rest), kBad);
    EXPECT_EQ(rest, "");
  }
}

// One replacement for each maximal subpart, as in Unicode 3.9, table 3-8.
TEST(Utf8, ReplacesMalformedBytes) {
  std::string bad = kBad;
  EXPECT_EQ(take("\xFFz", false), bad + "z");
  EXPECT_EQ(take("\x80\x80", false), bad + bad);
  EXPECT_EQ(take("\xC0\xAF", false), bad + bad);           // overlong
  EXPECT_EQ(take("\xE0\x80\xAF", false), bad + bad + bad); // overlong
  EXPECT_EQ(take("\xED\xA0\x80", false), bad + bad + bad); // surrogate
  EXPECT_EQ(take("\xF4\x90\x80\x80", false), bad + bad + bad + bad);
  EXPECT_EQ(take("\xE2\x96z", false), bad + "z");
  EXPECT_EQ(take("\xF0\x9F\x9A\xC3\xA9", false), bad + "\xC3\xA9");
}

TEST(Utf8, ClaimedLengths) {
  EXPECT_EQ(utf8ClaimedLength('a'), 1u);
  EXPECT_EQ(utf8ClaimedLength('\x80'), 1u);
  EXPECT_EQ(utf8ClaimedLength('\xC3'), 2u);
  EXPECT_EQ(utf8ClaimedLength('\xE2'), 3u);
  EXPECT_EQ(utf8ClaimedLength('\xF0'), 4u);
}

} // namespace
