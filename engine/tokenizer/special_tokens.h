#pragma once
// Finds tokens that are written in a text by their literal form. Immutable once built; thread-safe.

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/tokenizer/token.h"

namespace thinkd::engine {

class Vocabulary;

class SpecialTokens {
 public:
  // Control, unknown and user-defined tokens of the vocabulary, which must outlive this.
  explicit SpecialTokens(const Vocabulary& vocabulary);

  // The longest special token that the text starts with. Control tokens count only up to a length
  // of `control_bytes`.
  std::optional<Token> match(std::string_view text, size_t control_bytes) const;

 private:
  struct Entry {
    std::string_view text;
    Token token;
    bool control;
  };

  std::vector<Entry> entries_;  // sorted by text
  std::array<bool, 256> starts_{};
};

}  // namespace thinkd::engine
