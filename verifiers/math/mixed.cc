#include "verifiers/math/mixed.h"

#include <algorithm>

#include "verifiers/scan.h"

namespace thinkd::verifiers::math {

bool is_integer(const Token& token) {
  return token.kind == Kind::number && std::all_of(token.text.begin(), token.text.end(), is_digit);
}

bool begins_integer_fraction(std::span<const Token> tokens) {
  if (tokens.empty() || !tokens[0].is("frac")) {
    return false;
  }
  size_t i = 1;
  for (int part = 0; part < 2; ++part) {
    if (i < tokens.size() && is_integer(tokens[i])) {
      // "\frac58" is one number token of two digits; "\frac5{8}" is two.
      if (part == 0 && tokens[i].text.size() == 2) {
        return true;
      }
      ++i;
    } else if (i + 2 < tokens.size() && tokens[i].is("{") && is_integer(tokens[i + 1]) &&
               tokens[i + 2].is("}")) {
      i += 3;
    } else {
      return false;
    }
  }
  return true;
}

bool begins_slashed_fraction(std::span<const Token> tokens) {
  return tokens.size() > 2 && tokens[0].gap && is_integer(tokens[0]) && tokens[1].is("/") &&
         is_integer(tokens[2]);
}

}  // namespace thinkd::verifiers::math
