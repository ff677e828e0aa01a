#pragma once
// The vocabulary of a model: what each token stands for. Immutable after create(); any number of
// threads may read it. Owned by a Tokenizer. Ids past the end are never an error here: they stand
// for no bytes and are neither control nor end.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/status.h"
#include "engine/tokenizer/token.h"
#include "engine/tokenizer/tokenizer_spec.h"

namespace thinkd::engine {

class Vocabulary {
 public:
  // Takes pieces, types and ids out of the spec; merges, model and pre are left to the Tokenizer.
  // Errors: no piece, a piece longer than limits::kTokenPieceBytes, a types array of another
  // length, an unknown type, an id past the end.
  static Result<Vocabulary> create(TokenizerSpec& spec);

  Vocabulary(Vocabulary&&) noexcept = default;
  Vocabulary& operator=(Vocabulary&&) noexcept = default;
  Vocabulary(const Vocabulary&) = delete;  // find_ looks into pieces_
  Vocabulary& operator=(const Vocabulary&) = delete;

  Token size() const { return static_cast<Token>(pieces_.size()); }
  bool contains(Token token) const { return token < size(); }

  // The bytes a token stands for in text: byte-level spelling undone for ordinary tokens, the
  // literal text for control, unknown, unused and user-defined ones.
  std::string_view bytes(Token token) const;

  // The spelling in the model file.
  std::string_view piece(Token token) const;

  // The token so spelled; the lowest id where a file spells several alike.
  std::optional<Token> find(std::string_view piece) const;

  TokenType type(Token token) const;
  // Control and unknown tokens: they never arise from literal text and are hidden by decode().
  bool is_control(Token token) const;
  // Generation stops at these: eos and eot.
  bool is_end(Token token) const { return eos_ == token || eot_ == token; }

  std::optional<Token> bos() const { return bos_; }
  std::optional<Token> eos() const { return eos_; }
  std::optional<Token> eot() const { return eot_; }
  // Whether a prompt of this model starts with bos. encode() never adds it by itself.
  bool add_bos() const { return add_bos_; }

 private:
  Vocabulary() = default;

  std::vector<std::string> pieces_;
  std::vector<TokenType> types_;
  std::string bytes_;              // of all tokens, end to end
  std::vector<uint64_t> offsets_;  // size() + 1 places in bytes_
  std::unordered_map<std::string_view, Token> find_;
  std::optional<Token> bos_;
  std::optional<Token> eos_;
  std::optional<Token> eot_;
  bool add_bos_ = false;
};

}  // namespace thinkd::engine
