// Tokenizer::fromGguf: the tokenizer.ggml.* keys, checked against each other.
#include "models/Tokenizer.h"

#include "models/QuotedText.h"

#include <algorithm>
#include <cmath>

namespace orrery::models {

namespace {

/// Far above any real vocabulary; bounds the memory a file can ask for.
constexpr uint64_t kMaxTokens = 1 << 24;

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

std::string byteTokenText(unsigned byte) {
  return {'<', '0', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 15], '>'};
}

/// The byte of a text "<0xNN>", or -1.
int byteOfText(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') {
    return -1;
  }
  auto digit = [](char character) {
    if (character >= 'a' && character <= 'f') {
      character = static_cast<char>(character - 'a' + 'A');
    }
    size_t value = kHexDigits.find(character);
    return value == std::string_view::npos ? -1 : static_cast<int>(value);
  };
  int high = digit(text[3]);
  int low = digit(text[4]);
  return high < 0 || low < 0 ? -1 : 16 * high + low;
}

Error badElement(const GgufValue &value, std::string_view key, size_t index,
                 std::string_view expected, const std::string &found) {
  return Error{"byte " + std::to_string(value.fileOffset()) + ": metadata " +
               quoted(key) + ": element " + std::to_string(index) +
               ": expected " + std::string(expected) + ", found " + found};
}

} // namespace

class TokenizerLoader {
public:
  explicit TokenizerLoader(const GgufFile &file) : file(file) {}

  Expected<Tokenizer> run() {
    if (checkModel() && readPieces() && readScores() && readKinds() &&
        readFlags() && readSpecialIds()) {
      indexPieces();
      if (checkFallback()) {
        return std::move(result);
      }
    }
    return problem;
  }

private:
  bool checkModel();
  bool readPieces();
  bool readScores();
  bool readKinds();
  bool readFlags();
  bool readSpecialIds();
  bool readId(std::string_view key, TokenId fallback, TokenId &id);
  bool readFlag(std::string_view key, bool &flag);
  bool findArray(std::string_view key, GgufType elementType,
                 std::vector<GgufValue> &elements);
  void indexPieces();
  bool checkFallback();

  bool fail(Error error) {
    problem = std::move(error);
    return false;
  }

  const GgufFile &file;
  Tokenizer result;
  Error problem;
};

bool TokenizerLoader::checkModel() {
  Expected<std::string_view> model = file.requireString("tokenizer.ggml.model");
  if (!model) {
    return fail(model.error());
  }
  if (*model != "llama") {
    return fail(Error{"tokenizer model " + quoted(*model) +
                      " is not supported (supported: llama)"});
  }
  return true;
}

/// The elements of an array that, beside the tokens, may be missing (then
/// `elements` stays empty) but must be as long as they are.
bool TokenizerLoader::findArray(std::string_view key, GgufType elementType,
                                std::vector<GgufValue> &elements) {
  const GgufValue *value = file.find(key);
  if (!value) {
    return true;
  }
  std::string where = "byte " + std::to_string(value->fileOffset()) +
                      ": metadata " + quoted(key) + ": expected ";
  if (!value->isArray() || value->elementType() != elementType) {
    return fail(
        Error{where + "an array of " + std::string(ggufTypeName(elementType)) +
              ", found " + (value->isArray() ? "an array of " : "") +
              std::string(ggufTypeName(value->isArray() ? value->elementType()
                                                        : value->type()))});
  }
  if (elementType != GgufType::String &&
      value->count() != result.pieces.size()) {
    return fail(Error{where + std::to_string(result.pieces.size()) +
                      " elements, one a token, found " +
                      std::to_string(value->count())});
  }
  if (value->count() == 0 || value->count() > kMaxTokens) {
    return fail(Error{where + "1 to " + std::to_string(kMaxTokens) +
                      " tokens, found " + std::to_string(value->count())});
  }
  elements = value->elements();
  return true;
}

bool TokenizerLoader::readPieces() {
  constexpr std::string_view kKey = "tokenizer.ggml.tokens";
  std::vector<GgufValue> elements;
  if (!findArray(kKey, GgufType::String, elements)) {
    return false;
  }
  if (elements.empty()) {
    return fail(Error{"metadata " + quoted(kKey) +
                      ": expected an array of string, found no such key"});
  }
  result.pieces.reserve(elements.size());
  for (const GgufValue &element : elements) {
    result.pieces.emplace_back(*element.asString());
  }
  return true;
}

bool TokenizerLoader::readScores() {
  constexpr std::string_view kKey = "tokenizer.ggml.scores";
  std::vector<GgufValue> elements;
  if (!findArray(kKey, GgufType::F32, elements)) {
    return false;
  }
  result.scores.resize(result.pieces.size(), 0.0f);
  for (size_t index = 0; index < elements.size(); ++index) {
    float score = static_cast<float>(*elements[index].asFloat());
    if (std::isnan(score)) {
      return fail(badElement(elements[index], kKey, index, "a number", "nan"));
    }
    result.scores[index] = score;
  }
  return true;
}

bool TokenizerLoader::readKinds() {
  constexpr std::string_view kKey = "tokenizer.ggml.token_type";
  std::vector<GgufValue> elements;
  if (!findArray(kKey, GgufType::I32, elements)) {
    return false;
  }
  result.kinds.resize(result.pieces.size(), TokenKind::Normal);
  for (size_t index = 0; index < elements.size(); ++index) {
    int64_t kind = *elements[index].asSigned();
    if (kind < 1 || kind > 6) {
      return fail(badElement(elements[index], kKey, index, "1 to 6",
                             std::to_string(kind)));
    }
    result.kinds[index] = static_cast<TokenKind>(kind);
    if (result.kinds[index] == TokenKind::Byte &&
        byteOfText(result.pieces[index]) < 0) {
      return fail(badElement(elements[index], kKey, index,
                             "a byte token's text <0xNN>",
                             quoted(result.pieces[index])));
    }
  }
  return true;
}

bool TokenizerLoader::readFlag(std::string_view key, bool &flag) {
  Expected<bool> value = file.boolOr(key, flag);
  if (!value) {
    return fail(value.error());
  }
  flag = *value;
  return true;
}

bool TokenizerLoader::readFlags() {
  return readFlag("tokenizer.ggml.add_bos_token", result.addBos) &&
         readFlag("tokenizer.ggml.add_eos_token", result.addEos) &&
         readFlag("tokenizer.ggml.add_space_prefix", result.addSpacePrefix);
}

/// A missing key gives `fallback` if the vocabulary is that large.
bool TokenizerLoader::readId(std::string_view key, TokenId fallback,
                             TokenId &id) {
  if (!file.find(key)) {
    id = result.contains(fallback) ? fallback : kNoToken;
    return true;
  }
  Expected<uint64_t> number = file.requireUnsigned(key);
  if (!number) {
    return fail(number.error());
  }
  if (*number >= result.pieces.size()) {
    return fail(Error{"metadata " + quoted(key) + ": expected a token below " +
                      std::to_string(result.pieces.size()) + ", found " +
                      std::to_string(*number)});
  }
  id = static_cast<TokenId>(*number);
  return true;
}

bool TokenizerLoader::readSpecialIds() {
  // The defaults are llama.cpp's for this tokenizer model.
  return readId("tokenizer.ggml.bos_token_id", 1, result.bosId) &&
         readId("tokenizer.ggml.eos_token_id", 2, result.eosId) &&
         readId("tokenizer.ggml.unknown_token_id", 0, result.unknownId);
}

void TokenizerLoader::indexPieces() {
  for (size_t index = 0; index < result.pieces.size(); ++index) {
    const std::string &piece = result.pieces[index];
    auto id = static_cast<TokenId>(index);
    if (piece.empty()) {
      continue;
    }
    // The last of equal pieces counts, as in llama.cpp.
    result.idOfPiece[piece] = id;
    TokenKind kind = result.kinds[index];
    if (kind == TokenKind::Control || kind == TokenKind::Unknown ||
        kind == TokenKind::UserDefined) {
      result.specials.push_back(id);
    }
  }
  std::sort(result.specials.begin(), result.specials.end(),
            [this](TokenId left, TokenId right) {
              size_t leftSize = result.piece(left).size();
              size_t rightSize = result.piece(right).size();
              return leftSize != rightSize ? leftSize > rightSize
                                           : left < right;
            });
  for (unsigned byte = 0; byte < 256; ++byte) {
    TokenId id = result.find(byteTokenText(byte));
    if (id == kNoToken) {
      id = result.find(std::string(1, static_cast<char>(byte)));
    }
    result.byteIds[byte] = id;
  }
}

bool TokenizerLoader::checkFallback() {
  bool allBytes = std::find(result.byteIds.begin(), result.byteIds.end(),
                            kNoToken) == result.byteIds.end();
  if (!allBytes && result.unknownId == kNoToken) {
    return fail(Error{"metadata \"tokenizer.ggml.unknown_token_id\": expected "
                      "an unknown token, as the vocabulary lacks byte tokens, "
                      "found none"});
  }
  return true;
}

Expected<Tokenizer> Tokenizer::fromGguf(const GgufFile &file) {
  return TokenizerLoader(file).run();
}

} // namespace orrery::models
