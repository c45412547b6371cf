// Encoding and decoding. Source of the algorithm: llm_tokenizer_spm and
// llama_vocab::impl::tokenize of llama.cpp.
#include "models/Tokenizer.h"

#include "models/Utf8.h"

#include <algorithm>
#include <charconv>
#include <queue>

namespace orrery::models {

namespace {

/// U+2581, which stands for a space in pieces.
constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

std::string markSpaces(std::string_view text) {
  std::string result;
  for (char character : text) {
    if (character == ' ') {
      result += kSpaceMark;
    } else {
      result += character;
    }
  }
  return result;
}

std::string unmarkSpaces(std::string_view piece) {
  std::string result;
  while (!piece.empty()) {
    size_t mark = piece.find(kSpaceMark);
    result += piece.substr(0, mark);
    if (mark == std::string_view::npos) {
      break;
    }
    result += ' ';
    piece.remove_prefix(mark + kSpaceMark.size());
  }
  return result;
}

/// A run of bytes that is one token so far; a chain through prev and next. An
/// empty text means: joined into its left neighbour.
struct Symbol {
  int64_t prev;
  int64_t next;
  std::string_view text;
};

/// Two neighbours whose joined text is a piece.
struct Bigram {
  int64_t left;
  int64_t right;
  float score;
  /// Bytes of both; differs from their present size once one was joined.
  size_t size;
};

struct WorseBigram {
  bool operator()(const Bigram &a, const Bigram &b) const {
    return a.score < b.score || (a.score == b.score && a.left > b.left);
  }
};

/// Joins the best-scored neighbours of a text until none are left.
class BigramMerger {
public:
  BigramMerger(const Tokenizer &tokenizer, std::span<const float> scores,
               std::string_view text)
      : tokenizer(tokenizer), scores(scores) {
    split(text);
    for (size_t index = 1; index < symbols.size(); ++index) {
      propose(static_cast<int64_t>(index) - 1, static_cast<int64_t>(index));
    }
  }

  /// The texts that remain, in order.
  std::vector<std::string_view> run() {
    while (!queue.empty()) {
      Bigram best = queue.top();
      queue.pop();
      join(best);
    }
    std::vector<std::string_view> texts;
    for (int64_t index = symbols.empty() ? -1 : 0; index >= 0;
         index = symbols[index].next) {
      texts.push_back(symbols[index].text);
    }
    return texts;
  }

private:
  void split(std::string_view text) {
    for (int64_t index = 0; !text.empty(); ++index) {
      size_t length = std::min(utf8ClaimedLength(text[0]), text.size());
      bool last = length == text.size();
      symbols.push_back(
          {index - 1, last ? -1 : index + 1, text.substr(0, length)});
      text.remove_prefix(length);
    }
  }

  void propose(int64_t left, int64_t right) {
    if (left < 0 || right < 0) {
      return;
    }
    std::string_view leftText = symbols[left].text;
    // Neighbours are adjacent in one buffer, so their join is a view too.
    std::string_view joined(leftText.data(),
                            leftText.size() + symbols[right].text.size());
    TokenId id = tokenizer.find(joined);
    if (id != kNoToken) {
      queue.push({left, right, scores[static_cast<size_t>(id)], joined.size()});
    }
  }

  void join(const Bigram &bigram) {
    Symbol &left = symbols[bigram.left];
    Symbol &right = symbols[bigram.right];
    if (left.text.empty() || right.text.empty() ||
        left.text.size() + right.text.size() != bigram.size) {
      return;
    }
    left.text = {left.text.data(), bigram.size};
    right.text = {};
    left.next = right.next;
    if (right.next >= 0) {
      symbols[right.next].prev = bigram.left;
    }
    propose(left.prev, bigram.left);
    propose(bigram.left, left.next);
  }

  const Tokenizer &tokenizer;
  std::span<const float> scores;
  std::vector<Symbol> symbols;
  std::priority_queue<Bigram, std::vector<Bigram>, WorseBigram> queue;
};

/// Plain text, or (id is a token) a special token that was written out.
struct Fragment {
  std::string_view text;
  TokenId id = kNoToken;
};

void splitAt(std::string_view text, std::string_view piece, TokenId id,
             std::vector<Fragment> &fragments) {
  while (!text.empty()) {
    size_t found = text.find(piece);
    if (found != 0) {
      fragments.push_back({text.substr(0, found)});
    }
    if (found == std::string_view::npos) {
      return;
    }
    fragments.push_back({piece, id});
    text.remove_prefix(found + piece.size());
  }
}

/// Cuts the written-out special tokens out of `text`, longest first.
std::vector<Fragment> splitSpecials(const Tokenizer &tokenizer,
                                    std::span<const TokenId> specials,
                                    std::string_view text, bool parseSpecial) {
  std::vector<Fragment> fragments;
  if (!text.empty()) {
    fragments.push_back({text});
  }
  for (TokenId id : specials) {
    if (!parseSpecial && tokenizer.kind(id) != TokenKind::UserDefined) {
      continue;
    }
    std::string_view piece = tokenizer.piece(id);
    if (text.find(piece) == std::string_view::npos) {
      continue;
    }
    std::vector<Fragment> cut;
    for (const Fragment &fragment : fragments) {
      if (fragment.id != kNoToken) {
        cut.push_back(fragment);
      } else {
        splitAt(fragment.text, piece, id, cut);
      }
    }
    fragments = std::move(cut);
  }
  return fragments;
}

} // namespace

TokenId Tokenizer::find(std::string_view text) const {
  auto found = idOfPiece.find(text);
  return found == idOfPiece.end() ? kNoToken : found->second;
}

void Tokenizer::encodeText(std::string_view text, bool prefixSpace,
                           std::vector<TokenId> &result) const {
  std::string marked = markSpaces(text);
  if (prefixSpace) {
    marked.insert(0, kSpaceMark);
  }
  bool lastWasUnknown = false;
  auto append = [&](TokenId id) {
    bool isUnknown = id == kNoToken;
    if (!isUnknown || !lastWasUnknown) {
      result.push_back(isUnknown ? unknownId : id);
    }
    lastWasUnknown = isUnknown;
  };
  for (std::string_view symbol : BigramMerger(*this, scores, marked).run()) {
    TokenId id = find(symbol);
    if (id != kNoToken) {
      append(id);
      continue;
    }
    for (char character : symbol) {
      append(byteIds[static_cast<unsigned char>(character)]);
    }
  }
}

std::vector<TokenId> Tokenizer::encode(std::string_view text,
                                       const EncodeOptions &options) const {
  std::vector<TokenId> result;
  if (options.addSpecial && addBos && bosId != kNoToken) {
    result.push_back(bosId);
  }
  for (const Fragment &fragment :
       splitSpecials(*this, specials, text, options.parseSpecial)) {
    if (fragment.id != kNoToken) {
      result.push_back(fragment.id);
    } else {
      // Text stands at the start or after a special token only, and gets the
      // space in both places.
      encodeText(fragment.text, addSpacePrefix, result);
    }
  }
  if (options.addSpecial && addEos && eosId != kNoToken) {
    result.push_back(eosId);
  }
  return result;
}

std::string Tokenizer::tokenBytes(TokenId id, bool showSpecial) const {
  if (!contains(id)) {
    return {};
  }
  switch (kind(id)) {
  case TokenKind::Control:
  case TokenKind::Unknown:
    return showSpecial ? std::string(piece(id)) : std::string();
  case TokenKind::UserDefined:
    return std::string(piece(id));
  case TokenKind::Byte: {
    // <0xNN>, checked when loaded.
    uint8_t byte = 0;
    std::from_chars(piece(id).data() + 3, piece(id).data() + 5, byte, 16);
    return std::string(1, static_cast<char>(byte));
  }
  case TokenKind::Normal:
  case TokenKind::Unused:
    break;
  }
  return unmarkSpaces(piece(id));
}

std::string Tokenizer::decode(std::span<const TokenId> ids,
                              bool showSpecial) const {
  StreamDecoder decoder(*this, showSpecial);
  std::string text;
  for (TokenId id : ids) {
    text += decoder.next(id);
  }
  return text + decoder.finish();
}

StreamDecoder::StreamDecoder(const Tokenizer &tokenizer, bool showSpecial)
    : tokenizer(&tokenizer), showSpecial(showSpecial) {}

std::string StreamDecoder::next(TokenId id) {
  std::string bytes = tokenizer->tokenBytes(id, showSpecial);
  if (bytes.empty()) {
    return {};
  }
  if (atStart && tokenizer->addsSpacePrefix() &&
      tokenizer->kind(id) == TokenKind::Normal && bytes[0] == ' ') {
    bytes.erase(0, 1);
  }
  atStart = false;
  pending += bytes;
  return takeUtf8(pending, /*flush=*/false);
}

std::string StreamDecoder::finish() {
  atStart = true;
  return takeUtf8(pending, /*flush=*/true);
}

} // namespace orrery::models
