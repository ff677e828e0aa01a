#pragma once
// Tokens to an expression tree: sums, products (written or side by side), powers, roots, fractions,
// functions, factorials, binomials. Nesting is limited to limits::kMathDepth; anything unknown
// makes the whole text no expression.

#include <optional>
#include <span>

#include "verifiers/math/expr.h"
#include "verifiers/math/lexer.h"

namespace thinkd::verifiers::math {

std::optional<Expr> parse_expression(std::span<const Token> tokens);

}  // namespace thinkd::verifiers::math
