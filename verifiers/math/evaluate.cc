#include "verifiers/math/evaluate.h"

#include <algorithm>
#include <exception>

#include "verifiers/math/evaluator.h"

namespace thinkd::verifiers::math {
namespace {

constexpr int kPoints = 5;               // where identities are tried
constexpr int kNeeded = 3;               // of them must have a value
const char* const kTolerance = "1e-38";  // relative, of 50 digits

bool close(const Complex& a, const Complex& b, const Real& scale) {
  const Real size =
      std::max({Real(boost::multiprecision::abs(a)), Real(boost::multiprecision::abs(b)), scale});
  return Real(boost::multiprecision::abs(Complex(a - b))) <= size * Real(kTolerance);
}

Same same_at(const Expr& a, const Expr& b, int point) {
  const Evaluation first = evaluate_at(a, point);
  const Evaluation second = first.value ? evaluate_at(b, point) : Evaluation{};
  const std::optional<PointValue>& x = first.value;
  const std::optional<PointValue>& y = second.value;
  if (!x || !y) {
    return Same::unknown;
  }
  if (x->exact && y->exact) {
    return *x->exact == *y->exact ? Same::yes : Same::no;
  }
  return close(widen(*x), widen(*y), std::max(first.scale, second.scale)) ? Same::yes : Same::no;
}

Same proportional_unguarded(const Expr& a, const Expr& b, bool positive) {
  std::optional<Complex> factor;
  int settled = 0;
  for (int point = 0; point < kPoints; ++point) {
    const std::optional<PointValue> x = evaluate_at(a, point).value;
    const std::optional<PointValue> y = x ? evaluate_at(b, point).value : std::nullopt;
    if (!x || !y) {
      continue;
    }
    const Complex above = widen(*x);
    const Complex below = widen(*y);
    const Real tiny("1e-30");
    if (Real(boost::multiprecision::abs(above)) < tiny ||
        Real(boost::multiprecision::abs(below)) < tiny) {
      return Same::no;
    }
    const Complex ratio = above / below;
    if (factor && !close(ratio, *factor, Real(0))) {
      return Same::no;
    }
    if (positive && (ratio.real() <= 0 || boost::multiprecision::abs(ratio.imag()) > tiny)) {
      return Same::no;
    }
    factor = ratio;
    ++settled;
  }
  return settled >= kNeeded ? Same::yes : Same::unknown;
}

Same same_unguarded(const Expr& a, const Expr& b) {
  if (!a.has_variables() && !b.has_variables()) {
    return same_at(a, b, 0);
  }
  int settled = 0;
  for (int point = 0; point < kPoints; ++point) {
    const Same here = same_at(a, b, point);
    if (here == Same::no) {
      return Same::no;
    }
    settled += here == Same::yes ? 1 : 0;
  }
  return settled >= kNeeded ? Same::yes : Same::unknown;
}

}  // namespace

// The number library reports by exceptions (an overflow, a division by zero); they end here.
Same same(const Expr& a, const Expr& b) {
  try {
    return same_unguarded(a, b);
  } catch (const std::exception&) {
    return Same::unknown;
  }
}

Same proportional(const Expr& a, const Expr& b, bool positive) {
  try {
    return proportional_unguarded(a, b, positive);
  } catch (const std::exception&) {
    return Same::unknown;
  }
}

std::optional<std::string> exact_value(const Expr& expr) {
  if (expr.has_variables()) {
    return std::nullopt;
  }
  try {
    const std::optional<PointValue> value = evaluate_at(expr, 0).value;
    if (!value || !value->exact) {
      return std::nullopt;
    }
    return value->exact->str();
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace thinkd::verifiers::math
