#include "verifiers/math/evaluator.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "verifiers/math/lexer.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers::math {
namespace {

constexpr unsigned kBits = 20'000;     // of a numerator or denominator
constexpr int64_t kExponent = 10'000;  // an integer exponent
constexpr int64_t kFactorial = 1'000;
constexpr int kSteps = 3'000;  // of one value; a transcendental function costs kDear
constexpr int kDear = 60;

// A variable's value at a point: a small fraction, the same for the same name everywhere.
Rational variable_at(const std::string& name, int point) {
  uint32_t hash = 2166136261U + static_cast<uint32_t>(point) * 977U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  hash ^= hash >> 15U;
  hash *= 2246822519U;
  hash ^= hash >> 13U;
  const int64_t above = 11 + static_cast<int64_t>(hash % 83U);
  const Rational value(above * 2 + 1, 2 * (13 + static_cast<int64_t>((hash >> 8U) % 31U)));
  return point >= 2 && ((hash >> 20U) & 1U) != 0 ? Rational(-value) : value;
}

// "12.5e-3" exactly.
std::optional<Rational> decimal(const std::string& text) {
  const size_t e = text.find('e');
  int64_t exponent = 0;
  if (e != std::string::npos) {
    bool negative = false;
    for (const char c : std::string_view(text).substr(e + 1)) {
      if (is_digit(c)) {
        exponent = exponent * 10 + (c - '0');
      }
      negative = negative || c == '-';
    }
    exponent = negative ? -exponent : exponent;
  }
  Integer digits = 0;
  bool point = false;
  for (const char c : std::string_view(text).substr(0, e)) {
    if (c == '.') {
      point = true;
    } else {
      digits = digits * 10 + (c - '0');
      exponent -= point ? 1 : 0;
    }
  }
  if (exponent > 1'000 || exponent < -1'000 - static_cast<int64_t>(kDigits)) {
    return std::nullopt;
  }
  const Integer scale = boost::multiprecision::pow(
      Integer(10), static_cast<unsigned>(exponent < 0 ? -exponent : exponent));
  return exponent < 0 ? Rational(digits, scale) : Rational(digits * scale);
}

unsigned bits(const Rational& value) {
  const auto width = [](const Integer& n) {
    return n == 0
               ? 0U
               : static_cast<unsigned>(boost::multiprecision::msb(boost::multiprecision::abs(n))) +
                     1U;
  };
  return std::max(width(numerator(value)), width(denominator(value)));
}

std::optional<int64_t> small_integer(const std::optional<Rational>& value, int64_t limit) {
  if (!value || denominator(*value) != 1 || boost::multiprecision::abs(numerator(*value)) > limit) {
    return std::nullopt;
  }
  return static_cast<int64_t>(numerator(*value));
}

class Evaluator {
 public:
  Evaluator(const Expr& expr, int point) : expr_(expr), point_(point) {}

  // Nodes refer to earlier nodes only (combine and the parser append), so one pass does.
  std::optional<PointValue> run() {
    std::vector<std::optional<PointValue>> values(expr_.nodes.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const Node& node = expr_.nodes[i];
      const auto operand = [&values](int index) {
        return index < 0 ? std::optional<PointValue>() : values[static_cast<size_t>(index)];
      };
      const std::optional<PointValue> a = operand(node.a);
      const std::optional<PointValue> b = operand(node.b);
      if ((node.a >= 0 && !a) || (node.b >= 0 && !b) || --steps_ < 0) {
        continue;
      }
      values[i] = apply(node, a, b);
      if (values[i] && values[i]->exact && bits(*values[i]->exact) > kBits) {
        values[i].reset();
      }
      if (values[i] && !values[i]->exact && !finite(values[i]->number)) {
        values[i].reset();
      }
    }
    return expr_.root < 0 ? std::nullopt : values[static_cast<size_t>(expr_.root)];
  }

  // The greatest term that was added or subtracted: what cancellation is measured against.
  const Real& scale() const { return scale_; }

 private:
  static bool finite(const Complex& value) {
    return boost::multiprecision::isfinite(value.real()) &&
           boost::multiprecision::isfinite(value.imag());
  }

  static PointValue exact(Rational value) { return {std::move(value), {}}; }
  static PointValue inexact(Complex value) { return {std::nullopt, std::move(value)}; }

  static Complex pi() { return Complex(boost::multiprecision::acos(Real(-1))); }

  std::optional<PointValue> apply(const Node& node, const std::optional<PointValue>& a,
                                  const std::optional<PointValue>& b) {
    switch (node.op) {
      case Op::number: {
        const auto value = decimal(node.name);
        return value ? std::optional<PointValue>(exact(*value)) : std::nullopt;
      }
      case Op::variable:
        return exact(variable_at(node.name, point_));
      case Op::pi:
        steps_ -= kDear;
        return inexact(pi());
      case Op::euler:
        steps_ -= kDear;
        return inexact(Complex(boost::multiprecision::exp(Real(1))));
      case Op::imaginary:
        return inexact(Complex(0, 1));
      case Op::add:
      case Op::subtract:
      case Op::multiply:
      case Op::divide:
        return arithmetic(node.op, *a, *b);
      case Op::negate:
        return a->exact ? exact(-*a->exact) : inexact(-a->number);
      case Op::power:
        return power(*a, *b);
      case Op::root:
        return root(*a, b);
      case Op::function:
        return function(node.name, *a, b);
      case Op::factorial:
        return factorial(*a);
      case Op::binomial:
        return binomial(*a, *b);
      case Op::absolute:
        return a->exact ? exact(*a->exact < 0 ? Rational(-*a->exact) : *a->exact)
                        : inexact(Complex(Real(boost::multiprecision::abs(a->number))));
    }
    return std::nullopt;
  }

  std::optional<PointValue> arithmetic(Op op, const PointValue& a, const PointValue& b) {
    if (a.exact && b.exact) {
      switch (op) {
        case Op::add:
          return exact(*a.exact + *b.exact);
        case Op::subtract:
          return exact(*a.exact - *b.exact);
        case Op::multiply:
          return exact(*a.exact * *b.exact);
        default:
          break;
      }
      return *b.exact == 0 ? std::nullopt : std::optional<PointValue>(exact(*a.exact / *b.exact));
    }
    const Complex x = widen(a);
    const Complex y = widen(b);
    if (op == Op::add || op == Op::subtract) {
      scale_ = std::max(
          {scale_, Real(boost::multiprecision::abs(x)), Real(boost::multiprecision::abs(y))});
      return inexact(op == Op::add ? Complex(x + y) : Complex(x - y));
    }
    if (op == Op::multiply) {
      return inexact(x * y);
    }
    return Real(boost::multiprecision::abs(y)) == 0 ? std::nullopt
                                                    : std::optional<PointValue>(inexact(x / y));
  }

  std::optional<PointValue> power(const PointValue& base, const PointValue& exponent) {
    if (const auto n = small_integer(exponent.exact, kExponent)) {
      const auto count = static_cast<unsigned>(*n < 0 ? -*n : *n);
      if (base.exact) {
        if (*base.exact == 0) {
          return *n <= 0 ? std::nullopt : std::optional<PointValue>(exact(0));
        }
        if (uint64_t{bits(*base.exact)} * count > kBits) {
          return std::nullopt;
        }
        const Integer above = boost::multiprecision::pow(numerator(*base.exact), count);
        const Integer below = boost::multiprecision::pow(denominator(*base.exact), count);
        return exact(*n < 0
                         ? Rational(below * (above < 0 ? -1 : 1), boost::multiprecision::abs(above))
                         : Rational(above, below));
      }
      Complex result(1);
      Complex square = base.number;
      for (unsigned rest = count; rest > 0; rest >>= 1U) {
        result = (rest & 1U) != 0 ? Complex(result * square) : result;
        square = square * square;
      }
      if (*n < 0) {
        return Real(boost::multiprecision::abs(result)) == 0
                   ? std::nullopt
                   : std::optional<PointValue>(inexact(Complex(1) / result));
      }
      return inexact(result);
    }
    steps_ -= 3 * kDear;
    const Complex x = widen(base);
    if (steps_ < 0 || Real(boost::multiprecision::abs(x)) == 0) {
      return std::nullopt;
    }
    const Complex raised = widen(exponent) * log(x);
    return Real(boost::multiprecision::abs(raised)) > 2'000
               ? std::nullopt
               : std::optional<PointValue>(inexact(exp(raised)));
  }

  std::optional<PointValue> root(const PointValue& value, const std::optional<PointValue>& index) {
    int64_t n = 2;
    if (index) {
      const auto given = small_integer(index->exact, 64);
      if (!given || *given < 2) {
        return std::nullopt;
      }
      n = *given;
    }
    if (value.exact && *value.exact == 0) {
      return exact(0);
    }
    steps_ -= 3 * kDear;
    if (steps_ < 0) {
      return std::nullopt;
    }
    const Complex x = widen(value);
    if (n == 2) {
      return inexact(sqrt(x));
    }
    const bool negative = x.imag() == 0 && x.real() < 0;
    if (negative && n % 2 == 1) {  // the real root, as people mean it
      return inexact(-exp(Complex(log(Complex(-x))) / Complex(n)));
    }
    return Real(boost::multiprecision::abs(x)) == 0
               ? std::nullopt
               : std::optional<PointValue>(inexact(exp(Complex(log(x)) / Complex(n))));
  }

  std::optional<PointValue> function(const std::string& name, const PointValue& value,
                                     const std::optional<PointValue>& base) {
    steps_ -= 4 * kDear;
    const Complex x = widen(value);
    const Real size = boost::multiprecision::abs(x);
    if (steps_ < 0 || size > 1'000'000 || boost::multiprecision::abs(x.imag()) > 1'000) {
      return std::nullopt;
    }
    const auto quotient = [](const Complex& above, const Complex& below) {
      return Real(boost::multiprecision::abs(below)) < Real("1e-40")
                 ? std::nullopt
                 : std::optional<PointValue>(inexact(above / below));
    };
    if (name == "sin") {
      return inexact(sin(x));
    }
    if (name == "cos") {
      return inexact(cos(x));
    }
    if (name == "tan") {
      return quotient(sin(x), cos(x));
    }
    if (name == "cot") {
      return quotient(cos(x), sin(x));
    }
    if (name == "sec") {
      return quotient(Complex(1), cos(x));
    }
    if (name == "csc") {
      return quotient(Complex(1), sin(x));
    }
    if (name == "arcsin" || name == "asin") {
      return inexact(asin(x));
    }
    if (name == "arccos" || name == "acos") {
      return inexact(acos(x));
    }
    if (name == "arctan" || name == "atan") {
      return inexact(atan(x));
    }
    if (name == "sinh" || name == "cosh" || name == "tanh" || name == "exp") {
      if (size > 2'000) {
        return std::nullopt;
      }
      const Complex up = exp(x);
      const Complex down = exp(Complex(-x));
      return name == "exp"    ? std::optional<PointValue>(inexact(up))
             : name == "sinh" ? inexact((up - down) / Complex(2))
             : name == "cosh" ? inexact((up + down) / Complex(2))
                              : quotient(up - down, up + down);
    }
    if (size == 0) {
      return std::nullopt;
    }
    if (name == "ln") {
      return inexact(log(x));
    }
    if (name == "log" || name == "lg") {
      return quotient(log(x), log(base ? widen(*base) : Complex(10)));
    }
    return std::nullopt;
  }

  static std::optional<PointValue> factorial(const PointValue& value) {
    const auto n = small_integer(value.exact, kFactorial);
    if (!n || *n < 0) {
      return std::nullopt;
    }
    Integer result = 1;
    for (int64_t i = 2; i <= *n; ++i) {
      result *= i;
    }
    return exact(Rational(result));
  }

  static std::optional<PointValue> binomial(const PointValue& above, const PointValue& below) {
    const auto n = small_integer(above.exact, kFactorial);
    const auto k = small_integer(below.exact, kFactorial);
    if (!n || !k || *k < 0 || *n < *k) {
      return std::nullopt;
    }
    Integer result = 1;
    for (int64_t i = 1; i <= *k; ++i) {
      result = result * (*n - *k + i) / i;
    }
    return exact(Rational(result));
  }

  const Expr& expr_;
  int point_;
  int steps_ = kSteps;
  Real scale_ = 0;
};

}  // namespace

Complex widen(const PointValue& value) {
  if (!value.exact) {
    return value.number;
  }
  return Complex(Real(numerator(*value.exact)) / Real(denominator(*value.exact)));
}

Evaluation evaluate_at(const Expr& expr, int point) {
  Evaluator evaluator(expr, point);
  std::optional<PointValue> value = evaluator.run();
  return {std::move(value), evaluator.scale()};
}

}  // namespace thinkd::verifiers::math
