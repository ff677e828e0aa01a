#include "verifiers/expression.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "verifiers/math/rational.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers {
namespace {

using math::Rational;

enum class Sign : uint8_t { number, plus, minus, times, over, open, close, negate };

struct Token {
  Sign sign;
  char bracket = 0;  // what closes an open bracket
  int64_t number = 0;
};

// Signs that people and models write for the four operations.
struct Spelling {
  std::string_view text;
  Sign sign;
};
constexpr Spelling kSpellings[] = {{"+", Sign::plus},
                                   {"-", Sign::minus},
                                   {"*", Sign::times},
                                   {"/", Sign::over},
                                   {"\xC3\x97", Sign::times},
                                   {"\xC2\xB7", Sign::times},
                                   {"\xE2\x8B\x85", Sign::times},
                                   {"\xE2\x88\x97", Sign::times},
                                   {"\xC3\xB7", Sign::over},
                                   {"\xE2\x88\x95", Sign::over},
                                   {"\xE2\x88\x92", Sign::minus},
                                   {"\xE2\x80\x93", Sign::minus},
                                   {"\\times", Sign::times},
                                   {"\\cdot", Sign::times},
                                   {"\\div", Sign::over},
                                   {"x", Sign::times},
                                   {"X", Sign::times}};

// Reads left to right into tokens. \frac{a}{b} becomes ((a)/(b)).
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Result<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      THINKD_CHECK(step());
      if (fractions_.size() > limits::kExpressionDepth) {
        return over_limit("more than " + std::to_string(limits::kExpressionDepth) +
                          " brackets deep");
      }
    }
    return std::move(tokens_);
  }

 private:
  bool take(std::string_view word) {
    if (text_.substr(at_).starts_with(word)) {
      at_ += word.size();
      return true;
    }
    return false;
  }

  Status step() {
    if (is_space(text_[at_]) || take("\\left") || take("\\right") || take("\\,") || take("\\!") ||
        take("\\;") || take("$")) {
      at_ += at_ < text_.size() && is_space(text_[at_]) ? 1 : 0;
      return {};
    }
    if (take("\\dfrac") || take("\\tfrac") || take("\\frac")) {
      return open_fraction();
    }
    const char c = text_[at_];
    if (is_digit(c)) {
      return number();
    }
    if (c == '(' || c == '[' || c == '{') {
      ++at_;
      const char closing = c == '(' ? ')' : c == '[' ? ']' : '}';
      push({Sign::open, closing});
      fractions_.push_back(Part::none);
      return {};
    }
    if (c == ')' || c == ']' || c == '}') {
      ++at_;
      return close(c);
    }
    for (const Spelling& spelling : kSpellings) {
      if (take(spelling.text)) {
        push({spelling.sign});
        return {};
      }
    }
    return invalid("'" + printable(text_.substr(at_), 12) + "' is not arithmetic");
  }

  Status number() {
    const size_t start = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) {
      ++at_;
    }
    const std::string_view digits = text_.substr(start, at_ - start);
    if (at_ + 1 < text_.size() && text_[at_] == '.' && is_digit(text_[at_ + 1])) {
      return invalid("'" + printable(text_.substr(start), 12) + "' is not a whole number");
    }
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return over_limit("the number '" + printable(digits, 24) + "' is above 2^63");
    }
    push({Sign::number, 0, value});
    return {};
  }

  Status open_fraction() {
    while (at_ < text_.size() && is_space(text_[at_])) {
      ++at_;
    }
    if (!take("{")) {
      return invalid("\\frac without {");
    }
    push({Sign::open, 'f'});
    push({Sign::open, '}'});
    fractions_.push_back(Part::numerator);
    return {};
  }

  Status close(char c) {
    const Part part = fractions_.empty() ? Part::none : fractions_.back();
    if (!fractions_.empty()) {
      fractions_.pop_back();
    }
    push({Sign::close, c});
    if (part == Part::numerator) {
      while (at_ < text_.size() && is_space(text_[at_])) {
        ++at_;
      }
      if (c != '}' || !take("{")) {
        return invalid("\\frac without a second {");
      }
      push({Sign::over});
      push({Sign::open, '}'});
      fractions_.push_back(Part::denominator);
    } else if (part == Part::denominator) {
      push({Sign::close, 'f'});
    }
    return {};
  }

  void push(Token token) { tokens_.push_back(token); }

  enum class Part : uint8_t { none, numerator, denominator };
  std::string_view text_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
  std::vector<Part> fractions_;
};

int binding(Sign sign) {
  switch (sign) {
    case Sign::plus:
    case Sign::minus:
      return 1;
    case Sign::times:
    case Sign::over:
      return 2;
    case Sign::negate:
      return 3;
    default:
      return 0;
  }
}

// Operator precedence with two explicit stacks: no recursion on input.
class Evaluator {
 public:
  Result<Rational> run(const std::vector<Token>& tokens) {
    bool want_operand = true;
    size_t depth = 0;
    for (Token token : tokens) {
      if (want_operand && token.sign == Sign::minus) {
        token.sign = Sign::negate;
      }
      const bool starts =
          token.sign == Sign::number || token.sign == Sign::open || token.sign == Sign::negate;
      if (starts != want_operand) {
        return invalid(want_operand ? "a number is missing" : "an operator is missing");
      }
      switch (token.sign) {
        case Sign::number:
          values_.emplace_back(token.number);
          want_operand = false;
          break;
        case Sign::open:
          if (++depth > limits::kExpressionDepth) {
            return over_limit("more than " + std::to_string(limits::kExpressionDepth) +
                              " brackets deep");
          }
          signs_.push_back(token);
          break;
        case Sign::negate:
          signs_.push_back(token);
          break;
        case Sign::close:
          THINKD_CHECK(close(token.bracket));
          --depth;
          break;
        default:
          THINKD_CHECK(reduce(binding(token.sign)));
          signs_.push_back(token);
          want_operand = true;
      }
    }
    if (want_operand) {
      return invalid("ends where a number is missing");
    }
    THINKD_CHECK(reduce(1));
    if (!signs_.empty()) {
      return invalid("a bracket is not closed");
    }
    return values_.back();
  }

 private:
  Status reduce(int least) {
    while (!signs_.empty() && binding(signs_.back().sign) >= least) {
      const Sign sign = signs_.back().sign;
      signs_.pop_back();
      if (sign == Sign::negate) {
        values_.back() = -values_.back();
        continue;
      }
      const Rational right = std::move(values_.back());
      values_.pop_back();
      Rational& left = values_.back();
      if (sign == Sign::plus) {
        left += right;
      } else if (sign == Sign::minus) {
        left -= right;
      } else if (sign == Sign::times) {
        left *= right;
      } else if (right == 0) {
        return invalid("divides by zero");
      } else {
        left /= right;
      }
    }
    return {};
  }

  Status close(char bracket) {
    THINKD_CHECK(reduce(1));
    if (signs_.empty() || signs_.back().bracket != bracket) {
      return invalid("a bracket closes that was not opened");
    }
    signs_.pop_back();
    return {};
  }

  std::vector<Rational> values_;
  std::vector<Token> signs_;
};

// Cuts an "= 24" tail, or a "24 =" head where an expression follows.
std::string_view without_tail(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    return line;
  }
  const std::string_view left = trim(line.substr(0, equals));
  const bool lone = !left.empty() && std::all_of(left.begin(), left.end(), is_digit);
  std::string_view right = line.substr(equals + 1);
  right = trim(right.substr(0, right.find('=')));
  return lone && right.size() > left.size() ? right : left;
}

}  // namespace

std::string find_expression(std::string_view text) {
  const Boxed boxed = last_boxes(text);
  std::string_view line;
  if (boxed.found) {
    line = boxed.answer;
  } else {
    text = trim(text);
    const size_t marker = rfind_folded(text, "answer:");
    const size_t tag = rfind_folded(text, "<answer>");
    if (tag != std::string_view::npos && (marker == std::string_view::npos || tag > marker)) {
      line = trim(text.substr(tag + 8));
      line = line.substr(0, line.find('<'));
    } else if (marker != std::string_view::npos) {
      line = text.substr(marker + 7);
      line.remove_prefix(std::min(line.find_first_not_of(" \t\r\n*`"), line.size()));
    } else {
      line = text.substr(text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1);
    }
    line = line.substr(0, line.find('\n'));
  }
  const size_t from = line.find_first_not_of(" \t\r*`$");
  const size_t to = line.find_last_not_of(" \t\r*`$.,;");
  if (from == std::string_view::npos || to == std::string_view::npos || to < from) {
    return {};
  }
  return std::string(trim(without_tail(line.substr(from, to - from + 1))));
}

Result<ExpressionValue> evaluate_expression(std::string_view expression) {
  if (expression.size() > limits::kExpressionBytes) {
    return over_limit("an expression of " + std::to_string(expression.size()) +
                      " bytes; the limit is " + std::to_string(limits::kExpressionBytes));
  }
  Result<std::vector<Token>> tokens = Lexer(expression).run();
  if (!tokens.ok()) {
    return tokens.status();
  }
  ExpressionValue result;
  for (const Token& token : *tokens) {
    if (token.sign == Sign::number) {
      result.numbers.push_back(token.number);
    }
  }
  Result<Rational> value = Evaluator().run(*tokens);
  if (!value.ok()) {
    return value.status();
  }
  result.value = value->str();
  return result;
}

}  // namespace thinkd::verifiers
