#pragma once
// Fractions of integers as they follow a whole number: "3\frac{1}{4}" and "3 1/4".

#include <span>

#include "verifiers/math/lexer.h"

namespace thinkd::verifiers::math {

bool is_integer(const Token& token);

// "\frac{1}{4}", "\frac14", "\frac1{4}"
bool begins_integer_fraction(std::span<const Token> tokens);

// "1/4" behind white space
bool begins_slashed_fraction(std::span<const Token> tokens);

}  // namespace thinkd::verifiers::math
