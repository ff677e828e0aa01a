#include "verifiers/math/parser.h"

#include <utility>

#include "base/limits.h"
#include "verifiers/math/mixed.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers::math {
namespace {

// Recursive descent; depth_ bounds it. -1 is failure, and sticks.
class Parser {
 public:
  explicit Parser(std::span<const Token> tokens) : tokens_(tokens.begin(), tokens.end()) {}

  std::optional<Expr> run() {
    expr_.root = sum();
    if (expr_.root < 0 || at_ != tokens_.size()) {
      return std::nullopt;
    }
    return std::move(expr_);
  }

 private:
  bool done() const { return at_ >= tokens_.size(); }
  bool next_is(std::string_view symbol) const { return !done() && tokens_[at_].is(symbol); }
  bool accept(std::string_view symbol) {
    const bool hit = next_is(symbol);
    at_ += hit ? 1 : 0;
    return hit;
  }
  int make(Op op, int a, int b = -1) { return a < 0 ? -1 : expr_.add({op, a, b}); }
  int make_both(Op op, int a, int b) { return b < 0 ? -1 : make(op, a, b); }
  int leaf(Op op, std::string name = {}) { return expr_.add({op, -1, -1, std::move(name)}); }

  // Counts nesting for as long as it lives.
  struct Deeper {
    explicit Deeper(uint32_t& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    uint32_t& depth_;
  };

  int sum() {
    const Deeper deeper(depth_);
    if (depth_ > limits::kMathDepth) {
      return -1;
    }
    const bool negative = next_is("-");
    if (negative || next_is("+")) {
      ++at_;
    }
    int left = product();
    if (negative) {
      left = make(Op::negate, left);
    }
    while (left >= 0 && (next_is("+") || next_is("-"))) {
      const Op op = next_is("+") ? Op::add : Op::subtract;
      ++at_;
      left = make_both(op, left, product());
    }
    // {a \over b} splits the whole group.
    if (left >= 0 && accept("over")) {
      left = make_both(Op::divide, left, sum());
    }
    return left;
  }

  // Whether a factor may stand here without an operator.
  bool begins_factor() const {
    if (done()) {
      return false;
    }
    const Token& token = tokens_[at_];
    switch (token.kind) {
      case Kind::letter:
      case Kind::function:
        return true;
      case Kind::number: {
        const Token& before = tokens_[at_ - 1];
        return before.kind != Kind::number && before.kind != Kind::letter && !before.is("pi");
      }
      case Kind::symbol:
        return token.is("(") || token.is("[") || token.is("{") || token.is("frac") ||
               token.is("sqrt") || token.is("binom") || token.is("pi") ||
               (token.is("|") && bars_ == 0);
      case Kind::text:
        return false;
    }
    return false;
  }

  int product() {
    int left = signed_factor();
    while (left >= 0) {
      if (accept("*")) {
        left = make_both(Op::multiply, left, signed_factor());
      } else if (accept("/")) {
        left = make_both(Op::divide, left, signed_factor());
      } else if (begins_factor()) {
        left = make_both(Op::multiply, left, factor());
      } else {
        break;
      }
    }
    return left;
  }

  int signed_factor() {
    const Deeper deeper(depth_);
    if (depth_ > limits::kMathDepth) {
      return -1;
    }
    if (accept("-")) {
      return make(Op::negate, signed_factor());
    }
    if (accept("+")) {
      return signed_factor();
    }
    return factor();
  }

  int factor() {
    const Deeper deeper(depth_);
    if (depth_ > limits::kMathDepth) {
      return -1;
    }
    int base = atom();
    while (base >= 0) {
      if (accept("!")) {
        base = make(Op::factorial, base);
      } else if (next_is("^") && degree_follows()) {
        base = degrees(base);
      } else if (next_is("deg")) {
        ++at_;
        base = degrees(base);
      } else if (accept("^")) {
        base = make_both(Op::power, base, exponent());
      } else {
        break;
      }
    }
    return base;
  }

  // "^\circ" or "^{\circ}"; taken where it is there.
  bool degree_follows() {
    if (at_ + 1 < tokens_.size() && tokens_[at_ + 1].is("deg")) {
      at_ += 2;
      return true;
    }
    if (at_ + 3 < tokens_.size() && tokens_[at_ + 1].is("{") && tokens_[at_ + 2].is("deg") &&
        tokens_[at_ + 3].is("}")) {
      at_ += 4;
      return true;
    }
    return false;
  }

  // A degree mark counts inside a trigonometric function only.
  int degrees(int value) {
    if (trigonometry_ == 0) {
      return value;
    }
    const int scaled = make(Op::multiply, value, leaf(Op::pi));
    return make(Op::divide, scaled, leaf(Op::number, "180"));
  }

  int exponent() {
    const Deeper deeper(depth_);
    if (depth_ > limits::kMathDepth) {
      return -1;
    }
    if (accept("-")) {
      return make(Op::negate, exponent());
    }
    if (accept("+")) {
      return exponent();
    }
    const int base = atom();
    return base >= 0 && accept("^") ? make_both(Op::power, base, exponent()) : base;
  }

  int closed(std::string_view closing) {
    const int inside = sum();
    return inside >= 0 && accept(closing) ? inside : -1;
  }

  // A LaTeX argument: a group, or one digit, letter or sign of a longer token.
  int argument() {
    if (accept("{")) {
      return closed("}");
    }
    if (done()) {
      return -1;
    }
    Token& token = tokens_[at_];
    if (token.kind == Kind::number && token.text.size() > 1 && is_digit(token.text[0])) {
      const std::string digit(1, token.text[0]);
      token.text.erase(0, 1);
      return leaf(Op::number, digit);
    }
    return atom();
  }

  int fraction() {
    const int above = argument();
    return above < 0 ? -1 : make_both(Op::divide, above, argument());
  }

  // "3\frac{1}{4}" and "3 1/4": an integer before a fraction of integers is added to it.
  int mixed(const Token& whole) {
    const std::span<const Token> rest = std::span(tokens_).subspan(at_);
    int part = -1;
    if (begins_integer_fraction(rest)) {
      ++at_;
      part = fraction();
    } else if (begins_slashed_fraction(rest)) {
      const int above = leaf(Op::number, rest[0].text);
      const int below = leaf(Op::number, rest[2].text);
      at_ += 3;
      part = make(Op::divide, above, below);
    }
    return part < 0 ? -1 : make(Op::add, leaf(Op::number, whole.text), part);
  }

  int number() {
    const Token token = tokens_[at_++];
    if (is_integer(token)) {
      const size_t before = at_;
      if (const int value = mixed(token); value >= 0) {
        return value;
      }
      at_ = before;
    }
    return leaf(Op::number, token.text);
  }

  int letter() {
    std::string name = tokens_[at_++].text;
    if (name == "e" || name == "i") {
      return leaf(name == "e" ? Op::euler : Op::imaginary);
    }
    if (accept("_")) {
      const bool group = accept("{");
      if (done() || (tokens_[at_].kind != Kind::number && tokens_[at_].kind != Kind::letter)) {
        return -1;
      }
      name += "_" + tokens_[at_++].text;
      if (group && !accept("}")) {
        return -1;
      }
    }
    return leaf(Op::variable, name);
  }

  int root() {
    int index = -1;
    if (accept("[")) {
      index = closed("]");
      if (index < 0) {
        return -1;
      }
    }
    const int radicand = accept("{") ? closed("}") : atom();
    return make(Op::root, radicand, index);
  }

  int function() {
    std::string name = tokens_[at_++].text;
    int power = -1;
    bool inverse = false;
    int base = -1;
    while (next_is("^") || next_is("_")) {
      const bool raised = next_is("^");
      ++at_;
      const int index = raised && next_is("{") ? argument() : raised ? exponent() : argument();
      if (index < 0) {
        return -1;
      }
      const Node& node = expr_.nodes[static_cast<size_t>(index)];
      if (!raised) {
        base = index;
      } else if (node.op == Op::negate) {
        inverse = true;
      } else {
        power = index;
      }
    }
    if (inverse) {
      name = "arc" + name;
    }
    if (base >= 0 && name != "log") {
      return -1;
    }
    ++trigonometry_;
    const int inside = function_argument();
    --trigonometry_;
    if (inside < 0) {
      return -1;
    }
    const int value = expr_.add({Op::function, inside, base, name});
    return power < 0 ? value : make(Op::power, value, power);
  }

  // One bracket, or a product of simple factors up to the next function, sign or operator.
  int function_argument() {
    const Deeper deeper(depth_);
    if (depth_ > limits::kMathDepth || done()) {
      return -1;
    }
    if (next_is("(") || next_is("{") || next_is("[") || tokens_[at_].kind == Kind::function) {
      return atom();
    }
    const bool negative = accept("-");
    int left = factor();
    while (left >= 0) {
      if (next_is("/") || (begins_factor() && tokens_[at_].kind != Kind::function &&
                           !next_is("(") && !next_is("["))) {
        const bool over = accept("/");
        left = make_both(over ? Op::divide : Op::multiply, left, factor());
      } else {
        break;
      }
    }
    return negative ? make(Op::negate, left) : left;
  }

  int absolute() {
    ++bars_;
    const int inside = sum();
    --bars_;
    return inside >= 0 && accept("|") ? make(Op::absolute, inside) : -1;
  }

  int atom() {
    const Deeper deeper(depth_);
    if (done() || depth_ > limits::kMathDepth) {
      return -1;
    }
    switch (tokens_[at_].kind) {
      case Kind::number:
        return number();
      case Kind::letter:
        return letter();
      case Kind::function:
        return function();
      case Kind::text:
        return -1;
      case Kind::symbol:
        break;
    }
    if (accept("(")) {
      return closed(")");
    }
    if (accept("[")) {
      return closed("]");
    }
    if (accept("{")) {
      return closed("}");
    }
    if (accept("pi")) {
      return leaf(Op::pi);
    }
    if (accept("frac")) {
      return fraction();
    }
    if (accept("sqrt")) {
      return root();
    }
    if (accept("binom")) {
      const int above = argument();
      return above < 0 ? -1 : make_both(Op::binomial, above, argument());
    }
    return accept("|") ? absolute() : -1;
  }

  std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0;
  int bars_ = 0;
  int trigonometry_ = 0;
  Expr expr_;
};

}  // namespace

std::optional<Expr> parse_expression(std::span<const Token> tokens) {
  if (tokens.empty()) {
    return std::nullopt;
  }
  return Parser(tokens).run();
}

}  // namespace thinkd::verifiers::math
