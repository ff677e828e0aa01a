#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"
#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/merges.h"
#include "engine/tokenizer/pre_tokenizer.h"
#include "engine/tokenizer/special_tokens.h"

namespace thinkd::engine {

namespace {

// The tokens that merging can give, by spelling: those whose bytes are what the spelling says.
// Others (control tokens, literal texts) would let text become what it is not.
using Spellings = std::unordered_map<std::string_view, Token>;

Spellings ordinary_spellings(const Vocabulary& vocabulary) {
  Spellings spellings;
  spellings.reserve(vocabulary.size());
  for (Token token = 0; token < vocabulary.size(); ++token) {
    const std::string_view piece = vocabulary.piece(token);
    if (!vocabulary.is_control(token) && vocabulary.type(token) != TokenType::unused &&
        unspell(piece) == vocabulary.bytes(token)) {
      spellings.try_emplace(piece, token);
    }
  }
  return spellings;
}

// Merge `index` of a spec. Nothing where it makes or takes a token that is no ordinary spelling (a
// control token): such a merge never applies to text.
struct MergeReader {
  const Vocabulary& vocabulary;
  const Spellings& spellings;

  Status add(size_t index, std::string_view text, Merges& merges) const {
    const std::string name = "merge " + std::to_string(index) + " '" + escape_controls(text) + "'";
    const size_t space = text.find(' ');
    if (space == 0 || space == std::string_view::npos || space + 1 == text.size() ||
        text.find(' ', space + 1) != std::string_view::npos) {
      return invalid(name + " is not two pieces with one space between them");
    }
    const std::string_view left = text.substr(0, space);
    const std::string_view right = text.substr(space + 1);
    const std::string merged = std::string(left) + std::string(right);
    std::array<Token, 3> tokens{};
    size_t found = 0;
    for (const std::string_view piece : {left, right, std::string_view(merged)}) {
      if (!vocabulary.find(piece)) {
        return invalid(name + ": the vocabulary has no piece '" + escape_controls(piece) + "'");
      }
      if (const auto token = spellings.find(piece); token != spellings.end()) {
        tokens[found++] = token->second;
      }
    }
    if (found == tokens.size()) {
      merges.add(tokens[0], tokens[1], tokens[2]);
    }
    return {};
  }
};

Status no_token(uint8_t byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return invalid(std::string("byte 0x") + kDigits[byte >> 4] + kDigits[byte & 15] +
                 " has no token in this model's vocabulary");
}

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(Vocabulary words) : vocabulary(std::move(words)), special(vocabulary) {}

  Status add_words(std::string_view text, std::vector<Token>& tokens) const;

  Vocabulary vocabulary;
  SpecialTokens special;
  PreTokenizer pre = PreTokenizer::gpt2;
  Merges merges;
  std::array<std::optional<Token>, 256> byte_tokens;
  std::unordered_map<std::string_view, Token> whole_words;  // only for ignore_merges
};

Status Tokenizer::Parts::add_words(std::string_view text, std::vector<Token>& tokens) const {
  for (const std::string_view word : split_words(pre, text)) {
    if (const auto whole = whole_words.find(word); whole != whole_words.end()) {
      tokens.push_back(whole->second);
      continue;
    }
    std::vector<Token> bytes;
    bytes.reserve(word.size());
    for (const char byte : word) {
      const std::optional<Token> token = byte_tokens[static_cast<uint8_t>(byte)];
      if (!token) {
        return no_token(static_cast<uint8_t>(byte));
      }
      bytes.push_back(*token);
    }
    const std::vector<Token> merged = merges.apply(std::move(bytes));
    tokens.insert(tokens.end(), merged.begin(), merged.end());
  }
  return {};
}

Tokenizer::Tokenizer(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Tokenizer::~Tokenizer() = default;

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(TokenizerSpec spec) {
  if (spec.model != "gpt2") {
    return unavailable("tokenizer model '" + escape_controls(spec.model) +
                       "' is not known, only gpt2");
  }
  const std::optional<PreTokenizer> pre = find_pre_tokenizer(spec.pre);
  if (!pre) {
    return unavailable("pre-tokenizer '" + escape_controls(spec.pre) +
                       "' is not known, these are: " + known_pre_tokenizers());
  }
  Result<Vocabulary> vocabulary = Vocabulary::create(spec);
  if (!vocabulary) {
    return vocabulary.status();
  }
  auto parts = std::make_unique<Parts>(*std::move(vocabulary));
  parts->pre = *pre;

  const Spellings spellings = ordinary_spellings(parts->vocabulary);
  const MergeReader reader{parts->vocabulary, spellings};
  for (size_t i = 0; i < spec.merges.size(); ++i) {
    THINKD_CHECK(reader.add(i, spec.merges[i], parts->merges));
  }
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const auto token = spellings.find(spell_byte(static_cast<uint8_t>(byte)));
    if (token != spellings.end()) {
      parts->byte_tokens[byte] = token->second;
    }
  }
  for (Token token = 0; token < parts->vocabulary.size(); ++token) {
    const std::string_view bytes = parts->vocabulary.bytes(token);
    if (parts->vocabulary.type(token) == TokenType::byte && bytes.size() == 1) {
      std::optional<Token>& known = parts->byte_tokens[static_cast<uint8_t>(bytes[0])];
      known = known.value_or(token);
    }
  }
  if (ignores_merges(*pre)) {
    for (const auto& [piece, token] : spellings) {
      parts->whole_words.emplace(parts->vocabulary.bytes(token), token);
    }
  }
  return std::make_unique<Tokenizer>(std::move(parts));
}

const Vocabulary& Tokenizer::vocabulary() const { return parts_->vocabulary; }

Result<std::vector<Token>> Tokenizer::encode(std::string_view text) const {
  const TextSpan all{0, text.size()};
  return encode(text, std::span(&all, 1));
}

Result<std::vector<Token>> Tokenizer::encode_special(std::string_view text) const {
  return encode(text, {});
}

Result<std::vector<Token>> Tokenizer::encode(std::string_view text,
                                             std::span<const TextSpan> literal_spans) const {
  std::vector<TextSpan> literal;
  uint64_t reached = 0;
  for (const TextSpan& span : literal_spans) {
    if (span.begin < reached || span.end < span.begin || span.end > text.size()) {
      return invalid("literal span [" + std::to_string(span.begin) + ", " +
                     std::to_string(span.end) + ") overlaps or leaves the text of " +
                     std::to_string(text.size()) + " bytes");
    }
    reached = span.end;
    if (span.begin != span.end) {
      literal.push_back(span);
    }
  }

  std::vector<Token> tokens;
  size_t next_literal = 0;
  size_t plain = 0;  // where the stretch without special tokens begins
  for (size_t at = 0; at < text.size();) {
    while (next_literal < literal.size() && literal[next_literal].end <= at) {
      ++next_literal;
    }
    const size_t barrier = next_literal < literal.size()
                               ? std::max<size_t>(literal[next_literal].begin, at)
                               : text.size();
    const std::optional<Token> token = parts_->special.match(text.substr(at), barrier - at);
    if (!token) {
      ++at;
      continue;
    }
    THINKD_CHECK(parts_->add_words(text.substr(plain, at - plain), tokens));
    tokens.push_back(*token);
    at += parts_->vocabulary.bytes(*token).size();
    plain = at;
  }
  THINKD_CHECK(parts_->add_words(text.substr(plain), tokens));
  return tokens;
}

std::string Tokenizer::decode(std::span<const Token> tokens, bool special) const {
  std::string text;
  for (const Token token : tokens) {
    if (special || !parts_->vocabulary.is_control(token)) {
      text += parts_->vocabulary.bytes(token);
    }
  }
  return text;
}

}  // namespace thinkd::engine
