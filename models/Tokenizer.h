// Text to token ids and back.
//
// The SentencePiece-style tokenizer of a GGUF file whose tokenizer.ggml.model
// is "llama", with the ids llama.cpp gives. Other tokenizer models (gpt2, bert,
// …) are refused by name.
//
// Encoding: spaces become U+2581, the text is cut into UTF-8 characters, and
// the adjacent pair whose joined text has the best score in the vocabulary is
// joined until none is left. A character that is not in the vocabulary becomes
// its bytes' tokens <0x00>..<0xFF>; without those, one unknown token for each
// run of such characters.
#pragma once

#include "machine/Result.h"
#include "models/Gguf.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace orrery::models {

using TokenId = int32_t;

/// Stands for "the model has no such token".
inline constexpr TokenId kNoToken = -1;

/// Kinds as stored in tokenizer.ggml.token_type.
enum class TokenKind : uint8_t {
  Normal = 1,
  Unknown = 2,
  Control = 3,
  UserDefined = 4,
  Unused = 5,
  Byte = 6,
};

struct EncodeOptions {
  /// Put the begin (and end) token where the model's flags ask for them.
  bool addSpecial = true;
  /// Recognise control tokens written out in the text ("</s>"). User-defined
  /// tokens are always recognised. Leave off for text from outside.
  bool parseSpecial = false;
};

class Tokenizer {
public:
  /// Reads the tokenizer.ggml.* keys. Fails for another tokenizer model, for
  /// arrays of different length, and for ids outside the vocabulary.
  static Expected<Tokenizer> fromGguf(const GgufFile &file);

  // The lookup table holds views of the pieces, so a Tokenizer moves but does
  // not copy.
  Tokenizer(Tokenizer &&) = default;
  Tokenizer &operator=(Tokenizer &&) = default;
  Tokenizer(const Tokenizer &) = delete;
  Tokenizer &operator=(const Tokenizer &) = delete;

  int64_t vocabSize() const { return static_cast<int64_t>(pieces.size()); }
  TokenId bos() const { return bosId; }
  TokenId eos() const { return eosId; }
  TokenId unknown() const { return unknownId; }
  bool addsBos() const { return addBos; }
  bool addsEos() const { return addEos; }
  bool addsSpacePrefix() const { return addSpacePrefix; }

  bool contains(TokenId id) const { return id >= 0 && id < vocabSize(); }

  /// Kind and stored text of a token; the id must be contained.
  TokenKind kind(TokenId id) const { return kinds[static_cast<size_t>(id)]; }
  std::string_view piece(TokenId id) const {
    return pieces[static_cast<size_t>(id)];
  }

  /// The token whose stored text is `text`, or kNoToken.
  TokenId find(std::string_view text) const;

  /// The ids of `text` (any bytes; malformed UTF-8 goes through byte tokens).
  std::vector<TokenId> encode(std::string_view text,
                              const EncodeOptions &options = {}) const;

  /// The text of `ids`, always well-formed UTF-8: malformed bytes give U+FFFD.
  /// The space that encoding puts before the first word is taken off again;
  /// control and unknown tokens give no text unless `showSpecial`, ids outside
  /// the vocabulary none at all.
  std::string decode(std::span<const TokenId> ids,
                     bool showSpecial = false) const;

  /// The raw bytes one token stands for, U+2581 turned to a space; possibly a
  /// fragment of a UTF-8 character.
  std::string tokenBytes(TokenId id, bool showSpecial = false) const;

private:
  Tokenizer() = default;
  friend class TokenizerLoader;

  void encodeText(std::string_view text, bool prefixSpace,
                  std::vector<TokenId> &result) const;

  std::vector<std::string> pieces;
  std::vector<float> scores;
  std::vector<TokenKind> kinds;
  std::unordered_map<std::string_view, TokenId> idOfPiece;
  /// Control, unknown and user-defined tokens with text, longest first.
  std::vector<TokenId> specials;
  /// kNoToken where the vocabulary has no token for the byte.
  std::array<TokenId, 256> byteIds{};
  TokenId bosId = kNoToken;
  TokenId eosId = kNoToken;
  TokenId unknownId = kNoToken;
  bool addBos = true;
  bool addEos = false;
  bool addSpacePrefix = true;
};

/// Decodes a token at a time: next() returns what can be shown now and holds
/// back an incomplete UTF-8 character until its other bytes come. All results
/// and finish() joined are what Tokenizer::decode gives.
class StreamDecoder {
public:
  /// `tokenizer` must outlive the decoder.
  explicit StreamDecoder(const Tokenizer &tokenizer, bool showSpecial = false);

  std::string next(TokenId id);

  /// What is still held back (as U+FFFD); the decoder is then as new.
  std::string finish();

private:
  const Tokenizer *tokenizer;
  bool showSpecial;
  bool atStart = true;
  std::string pending;
};

} // namespace orrery::models
