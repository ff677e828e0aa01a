#include "engine/tokenizer/vocabulary.h"

#include <charconv>
#include <limits>

#include "base/limits.h"
#include "engine/tokenizer/byte_alphabet.h"

namespace thinkd::engine {

namespace {

Status check_id(std::string_view name, std::optional<Token> id, size_t pieces) {
  if (id && *id >= pieces) {
    return invalid(std::string(name) + " token " + std::to_string(*id) +
                   " is past the vocabulary of " + std::to_string(pieces));
  }
  return {};
}

// "<0x41>", the spelling of a byte token.
std::optional<std::string> byte_token(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') {
    return std::nullopt;
  }
  uint8_t byte = 0;
  const char* end = piece.data() + 5;
  const auto [stop, error] = std::from_chars(piece.data() + 3, end, byte, 16);
  if (error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return std::string(1, static_cast<char>(byte));
}

std::string bytes_of(const std::string& piece, TokenType type) {
  if (type == TokenType::byte) {
    if (std::optional<std::string> bytes = byte_token(piece)) {
      return *bytes;
    }
  }
  if (type == TokenType::normal || type == TokenType::byte) {
    return unspell(piece).value_or(piece);
  }
  return piece;
}

}  // namespace

Result<Vocabulary> Vocabulary::create(TokenizerSpec& spec) {
  const size_t count = spec.pieces.size();
  if (count == 0) {
    return invalid("the vocabulary has no pieces");
  }
  if (count > std::numeric_limits<Token>::max()) {
    return over_limit("the vocabulary has " + std::to_string(count) + " pieces, the limit is " +
                      std::to_string(std::numeric_limits<Token>::max()));
  }
  if (!spec.types.empty() && spec.types.size() != count) {
    return invalid("the vocabulary has " + std::to_string(count) + " pieces but " +
                   std::to_string(spec.types.size()) + " token types");
  }
  THINKD_CHECK(check_id("bos", spec.bos, count));
  THINKD_CHECK(check_id("eos", spec.eos, count));
  THINKD_CHECK(check_id("eot", spec.eot, count));

  Vocabulary vocabulary;
  vocabulary.pieces_ = std::move(spec.pieces);
  vocabulary.bos_ = spec.bos;
  vocabulary.eos_ = spec.eos;
  vocabulary.eot_ = spec.eot;
  vocabulary.add_bos_ = spec.add_bos;
  vocabulary.types_.assign(count, TokenType::normal);
  vocabulary.offsets_.reserve(count + 1);
  vocabulary.offsets_.push_back(0);
  vocabulary.find_.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const std::string& piece = vocabulary.pieces_[i];
    if (piece.size() > limits::kTokenPieceBytes) {
      return over_limit("token " + std::to_string(i) + " has " + std::to_string(piece.size()) +
                        " bytes, the limit is " + std::to_string(limits::kTokenPieceBytes));
    }
    if (!spec.types.empty()) {
      const uint32_t type = spec.types[i];
      if (type < 1 || type > 6) {
        return invalid("token " + std::to_string(i) + " has type " + std::to_string(type) +
                       ", known are 1 to 6");
      }
      vocabulary.types_[i] = static_cast<TokenType>(type);
    }
    vocabulary.bytes_ += bytes_of(piece, vocabulary.types_[i]);
    vocabulary.offsets_.push_back(vocabulary.bytes_.size());
    vocabulary.find_.try_emplace(piece, static_cast<Token>(i));
  }
  return vocabulary;
}

std::string_view Vocabulary::bytes(Token token) const {
  if (!contains(token)) {
    return {};
  }
  return std::string_view(bytes_).substr(offsets_[token], offsets_[token + 1] - offsets_[token]);
}

std::string_view Vocabulary::piece(Token token) const {
  return contains(token) ? std::string_view(pieces_[token]) : std::string_view();
}

std::optional<Token> Vocabulary::find(std::string_view piece) const {
  const auto found = find_.find(piece);
  return found == find_.end() ? std::nullopt : std::optional(found->second);
}

TokenType Vocabulary::type(Token token) const {
  return contains(token) ? types_[token] : TokenType::unused;
}

bool Vocabulary::is_control(Token token) const {
  const TokenType kind = type(token);
  return kind == TokenType::control || kind == TokenType::unknown;
}

}  // namespace thinkd::engine
