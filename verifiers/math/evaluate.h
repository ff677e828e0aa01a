#pragma once
// Values of expressions: exact fractions where the expression is rational, else 50 decimal digits
// in the complex plane. Two expressions with variables are the same when they agree at fixed
// rational points. Work is bounded: sizes of integers, exponents, and a budget of steps a value.

#include <cstdint>
#include <optional>
#include <string>

#include "verifiers/math/parser.h"

namespace thinkd::verifiers::math {

// unknown: a value cannot be had within the limits (or does not exist, as 1/0).
enum class Same : uint8_t { yes, no, unknown };

Same same(const Expr& a, const Expr& b);

// a = factor * b for one constant factor that is not zero (and above zero, where asked).
Same proportional(const Expr& a, const Expr& b, bool positive);

// "p/q" or "p", where the expression is rational and has no variables.
std::optional<std::string> exact_value(const Expr& expr);

}  // namespace thinkd::verifiers::math
