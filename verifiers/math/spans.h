#pragma once
// Questions about a run of tokens: brackets, separators, names, units. Views into the lexer's
// tokens, which outlive them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "verifiers/math/lexer.h"

namespace thinkd::verifiers::math {

using Tokens = std::span<const Token>;

bool opens(const Token& token);  // any bracket
bool closes(const Token& token);
bool is_relation(const Token& token);  // "=", "<", ...

// The parts between separators that stand outside every bracket.
std::vector<Tokens> split(Tokens tokens, std::string_view separator, std::string_view other = "\n");

bool enclosed(Tokens tokens);    // one pair of brackets around everything
bool lone_name(Tokens tokens);   // "x", "x_1", "f(x)"
bool lone_names(Tokens tokens);  // "(x, y)"

std::string joined(Tokens tokens);

// Without "cm^2", "km/h", "apples" at the end; something must stand before them.
Tokens without_units(Tokens tokens);

}  // namespace thinkd::verifiers::math
