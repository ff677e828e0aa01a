#include "engine/tokenizer/merges.h"

#include <map>
#include <random>

#include "tests/support/catch.h"

namespace thinkd::engine {

namespace {

using Pair = std::pair<Token, Token>;

// The definition itself: find the best pair anywhere, merge its leftmost place, begin again.
std::vector<Token> merge_by_definition(const std::map<Pair, std::pair<size_t, Token>>& rules,
                                       std::vector<Token> word) {
  while (true) {
    size_t best = word.size();
    for (size_t i = 0; i + 1 < word.size(); ++i) {
      const auto rule = rules.find({word[i], word[i + 1]});
      if (rule != rules.end() &&
          (best == word.size() ||
           rule->second.first < rules.at({word[best], word[best + 1]}).first)) {
        best = i;
      }
    }
    if (best == word.size()) {
      return word;
    }
    word[best] = rules.at({word[best], word[best + 1]}).second;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

}  // namespace

TEST_CASE("merging equals its definition on random rules and words") {
  const uint64_t seed = 11;
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    Merges merges;
    std::map<Pair, std::pair<size_t, Token>> rules;
    const Token letters = 1 + random() % 3;
    Token tokens = letters;
    for (size_t rank = 0; rank < 1 + random() % 12; ++rank) {
      const Pair pair{random() % tokens, random() % tokens};
      if (rules.try_emplace(pair, rules.size(), tokens).second) {
        merges.add(pair.first, pair.second, tokens++);
      }
    }
    for (int i = 0; i < 20; ++i) {
      std::vector<Token> word(random() % 40);
      for (Token& letter : word) {
        letter = random() % letters;
      }
      CHECK(merges.apply(word) == merge_by_definition(rules, word));
    }
  }
}

TEST_CASE("the first of two rules for a pair holds") {
  Merges merges;
  merges.add(0, 1, 2);
  merges.add(0, 1, 3);
  CHECK(merges.apply({0, 1}) == std::vector<Token>{2});
  CHECK(merges.apply({}).empty());
}

}  // namespace thinkd::engine
