#pragma once
// The merge rules of byte-pair encoding and their application to one word. Immutable once built;
// apply() may be called by any number of threads.

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "engine/tokenizer/token.h"

namespace thinkd::engine {

class Merges {
 public:
  // A later rule for the same pair is ignored, as it could never win.
  void add(Token left, Token right, Token merged);

  // Merges neighbours in `word`, the lowest rank first, of equal ranks the leftmost, until no rule
  // applies. O(n log n) in the length of the word, whatever it is.
  std::vector<Token> apply(std::vector<Token> word) const;

 private:
  struct Rule {
    uint32_t rank;
    Token merged;
  };
  struct Mix {
    size_t operator()(uint64_t pair) const;
  };
  const Rule* find(Token left, Token right) const;

  std::unordered_map<uint64_t, Rule, Mix> rules_;
};

}  // namespace thinkd::engine
