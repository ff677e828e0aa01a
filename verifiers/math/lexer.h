#pragma once
// Mathematics as models write it (LaTeX, plain text, Unicode signs) into tokens. One pass, linear,
// bounded: more than kTokens tokens or a number of more than kDigits digits is refused.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thinkd::verifiers::math {

inline constexpr size_t kTokens = 600;
inline constexpr size_t kDigits = 256;

enum class Kind : uint8_t {
  number,    // "12.5": digits and at most one point, then maybe an exponent "e-3"
  letter,    // a variable: "x", "theta"
  function,  // "sin", "ln", ...
  symbol,    // operators, brackets and constructs: "+", "<=", "frac", "begin", "pi"
  text,      // set text and plain words: units, names
};

struct Token {
  Kind kind;
  std::string text;
  bool gap = false;  // white space stood before it

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

// How commas between digits are read.
struct Reading {
  bool thousands = true;       // 3,600 outside brackets is one number
  bool decimal_comma = false;  // 3,75 is 3.75
};

std::optional<std::vector<Token>> tokenize(std::string_view text, Reading reading);

}  // namespace thinkd::verifiers::math
