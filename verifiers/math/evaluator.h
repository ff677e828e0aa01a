#pragma once
// One expression at one point: exact fractions while it can be, 50 decimal digits in the complex
// plane from there on. Work is bounded by a budget of steps and by the sizes of integers. For .cc
// files of this room only (the headers are heavy). The number library reports by exceptions (an
// overflow, a division by zero); callers end them.

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_complex.hpp>
#include <optional>

#include "verifiers/math/expr.h"
#include "verifiers/math/rational.h"

namespace thinkd::verifiers::math {

using Real = boost::multiprecision::number<boost::multiprecision::cpp_bin_float_50::backend_type,
                                           boost::multiprecision::et_off>;
using Complex = boost::multiprecision::number<boost::multiprecision::cpp_complex_50::backend_type,
                                              boost::multiprecision::et_off>;

struct PointValue {
  std::optional<Rational> exact;
  Complex number;  // only where exact is empty
};

Complex widen(const PointValue& value);

struct Evaluation {
  std::optional<PointValue> value;  // none: it does not exist, or not within the limits
  Real scale = 0;  // the greatest term added or subtracted: cancellation is measured against it
};

// Variables have small fractions as values, the same for one name and one point.
Evaluation evaluate_at(const Expr& expr, int point);

}  // namespace thinkd::verifiers::math
