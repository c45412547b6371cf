// Golden outputs of trained models, and how far ours go along with them.
#pragma once

#include "models/Weights.h"
#include "runtime/Session.h"
#include "tests/models/SharedData.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace orrery::test {

/// The ids after `prompt` that a session says greedily, at most `count`, up to
/// `end` (exclusive).
inline std::vector<int32_t> greedy(runtime::Session &session,
                                   std::vector<int32_t> prompt, size_t count,
                                   int32_t end) {
  std::vector<int32_t> out;
  while (out.size() < count) {
    auto records = session.read(prompt);
    if (!records) {
      ADD_FAILURE() << records.error().message;
      break;
    }
    int32_t next = records->back().next();
    if (next == end) {
      break;
    }
    out.push_back(next);
    prompt = {next};
  }
  return out;
}

/// Tokens of `ids` before the first whose text is not that of `golden` at its
/// place; ids.size() when all are. A golden text may stop earlier: then the
/// count of tokens that lie in it wholly.
inline size_t tokensAlong(const models::Tokenizer &tokenizer,
                          const std::vector<int32_t> &ids,
                          const std::string &golden) {
  models::StreamDecoder decoder(tokenizer);
  std::string text;
  for (size_t k = 0; k < ids.size(); ++k) {
    text += decoder.next(ids[k]);
    if (text != golden.substr(0, text.size())) {
      return k;
    }
  }
  return ids.size();
}

/// Indices before the first in which the two differ.
inline size_t idsAlong(const std::vector<int32_t> &ours,
                       const std::vector<int32_t> &golden) {
  return size_t(std::ranges::mismatch(ours, golden).in1 - ours.begin());
}

/// A golden text as it would follow the start token: without the space that
/// some programs print first, and what they append when it is over.
inline std::string plainText(std::string text) {
  for (const char *mark : {"<|end_story|>", " [end of text]"}) {
    text = text.substr(0, text.find(mark));
  }
  size_t first = text.find_first_not_of(' ');
  size_t last = text.find_last_not_of("\n ");
  return text.substr(first, last + 1 - first);
}

struct Golden {
  std::string prompt;
  std::vector<int32_t> ids;
  std::vector<double> logits; ///< [positions][vocab]
};

/// golden/`name`.json and .logits.f64.
inline Golden readGolden(const std::string &name) {
  std::string path = models::sharedFile("golden/" + name);
  auto about = nlohmann::json::parse(models::readText(path + ".json"));
  Golden golden{about["prompt"], about["ids"].get<std::vector<int32_t>>(), {}};
  auto bytes = models::readBytes(path + ".logits.f64");
  golden.logits.resize(bytes.size() / sizeof(double));
  std::memcpy(golden.logits.data(), bytes.data(),
              golden.logits.size() * sizeof(double));
  return golden;
}

} // namespace orrery::test
