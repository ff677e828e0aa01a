#include "verifiers/math/value.h"

#include <algorithm>
#include <array>
#include <utility>

#include "verifiers/math/spans.h"
#include "verifiers/scan.h"

namespace thinkd::verifiers::math {
namespace {

constexpr int kNesting = 8;
constexpr size_t kItems = 64;

Value infinity(bool negative) { return {.shape = Shape::infinity, .text = negative ? "-" : "+"}; }

class Shaper {
 public:
  explicit Shaper(Reading reading) : reading_(reading) {}

  Value value(Tokens tokens, int depth) {
    while (!tokens.empty() && (tokens.back().is(",") || tokens.back().is(";"))) {
      tokens = tokens.first(tokens.size() - 1);
    }
    if (tokens.empty() || depth > kNesting) {
      return {};
    }
    if (Value words = text(tokens); words.shape == Shape::text) {
      return words;
    }
    if (Value signs = plus_minus(tokens, depth); signs.shape != Shape::invalid) {
      return signs;
    }
    if (const auto parts = split(tokens, ",", ";"); parts.size() > 1) {
      return collect(Shape::list, parts, depth);
    }
    if (const auto parts = split(tokens, "cup"); parts.size() > 1) {
      return collect(Shape::join, parts, depth);
    }
    if (const auto parts = split(tokens, "in"); parts.size() == 2) {
      return lone_name(parts[0]) ? value(parts[1], depth + 1) : Value{};
    }
    if (std::any_of(tokens.begin(), tokens.end(), is_relation)) {
      return relation(tokens, depth);
    }
    if (const auto parts = split(tokens, ":"); parts.size() > 1) {
      Value ratio = collect(Shape::ratio, parts, depth);
      ratio.clock = parts.size() == 2 && tokens.size() == 3 && tokens[2].text.size() == 2 &&
                    tokens[0].text.size() <= 2 && tokens[2].text < "60";
      ratio.text = joined(tokens);
      return ratio;
    }
    if (tokens.size() == 1 && tokens[0].is("empty")) {
      return {.shape = Shape::set};
    }
    if (enclosed(tokens)) {
      if (Value inside = bracketed(tokens, depth); inside.shape != Shape::invalid) {
        return inside;
      }
    }
    if (tokens.back().is("inf") &&
        (tokens.size() == 1 || (tokens.size() == 2 && (tokens[0].is("-") || tokens[0].is("+"))))) {
      return infinity(tokens[0].is("-"));
    }
    if (Value number = based(tokens); number.shape == Shape::based) {
      return number;
    }
    return expression(tokens, depth);
  }

 private:
  // Words only: letters, set text, and marks between them.
  static Value text(Tokens tokens) {
    bool words = false;
    std::string result;
    for (const Token& token : tokens) {
      const bool mark = token.is("(") || token.is(")") || token.is("-") || token.is(",") ||
                        token.is("{") || token.is("}");
      if (token.kind != Kind::text && token.kind != Kind::letter && !mark) {
        return {};
      }
      words = words || token.kind == Kind::text;
      if (token.is("-") || token.kind != Kind::symbol) {
        result += folded(token.text);
      }
    }
    std::erase_if(result, [](char c) { return is_space(c) || c == '(' || c == ')' || c == '.'; });
    return words && !result.empty() ? Value{.shape = Shape::text, .text = result} : Value{};
  }

  Value collect(Shape shape, const std::vector<Tokens>& parts, int depth) {
    Value result{.shape = shape};
    if (parts.size() > kItems) {
      return {};
    }
    for (const Tokens part : parts) {
      Value item = part.empty() && shape == Shape::list && &part != parts.data()
                       ? Value{.shape = Shape::text}  // "7, and 8" has an empty part
                       : value(part, depth + 1);
      if (item.shape == Shape::text && item.text.empty()) {
        continue;
      }
      if (item.shape == Shape::invalid) {
        return {};
      }
      result.items.push_back(std::move(item));
    }
    return result;
  }

  // a \pm b is the list of both.
  Value plus_minus(Tokens tokens, int depth) {
    const auto is_pm = [](const Token& t) { return t.is("pm") || t.is("mp"); };
    if (std::none_of(tokens.begin(), tokens.end(), is_pm)) {
      return {};
    }
    Value result{.shape = Shape::list};
    for (const bool first : {true, false}) {
      std::vector<Token> chosen(tokens.begin(), tokens.end());
      for (Token& token : chosen) {
        if (is_pm(token)) {
          token.text = token.is("pm") == first ? "+" : "-";
        }
      }
      Value item = value(chosen, depth + 1);
      if (item.shape == Shape::equation) {
        item = Value(item.items[0]);
      }
      if (item.shape != Shape::expression) {
        return {};
      }
      result.items.push_back(std::move(item));
    }
    return result;
  }

  Value relation(Tokens tokens, int depth) {
    std::vector<Tokens> sides;
    std::vector<std::string> signs;
    int level = 0;
    size_t start = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      level += opens(tokens[i]) ? 1 : 0;
      level -= closes(tokens[i]) ? 1 : 0;
      if (level == 0 && is_relation(tokens[i])) {
        sides.push_back(tokens.subspan(start, i - start));
        signs.push_back(tokens[i].text);
        start = i + 1;
      }
    }
    sides.push_back(tokens.subspan(start));
    if (signs.empty() || sides.size() > 8 ||
        std::any_of(sides.begin(), sides.end(), [](Tokens side) { return side.empty(); })) {
      return {};
    }
    if (std::all_of(signs.begin(), signs.end(), [](const std::string& s) { return s == "="; })) {
      return equation(sides, depth);
    }
    return inequality(sides, signs, depth);
  }

  Value equation(const std::vector<Tokens>& sides, int depth) {
    const Tokens left = sides.front();
    Value right = value(sides.back(), depth + 1);
    const bool named = lone_name(left);
    if (lone_names(left)) {
      return right;
    }
    const std::optional<Expr> a = parse_expression(left);
    if (sides.size() > 2 || (a && !a->has_variables() && !named)) {
      // A chain of steps: what it ends in. With a name in front it is the name's value.
      return right;
    }
    if (right.shape == Shape::invalid) {
      return {};
    }
    Value result{.shape = Shape::equation, .text = named ? joined(left) : ""};
    if (a && right.shape == Shape::expression) {
      result.expr = combine(*a, Op::subtract, right.expr);
    } else if (!named) {
      return {};
    }
    result.items.push_back(std::move(right));
    return result;
  }

  Value inequality(const std::vector<Tokens>& sides, const std::vector<std::string>& signs,
                   int depth) {
    const auto downward = [](const std::string& s) { return s == "<" || s == "<="; };
    const auto strict = [](const std::string& s) { return s.size() == 1; };
    const bool mixed = std::any_of(signs.begin(), signs.end(), [&](const std::string& s) {
      return s == "=" || (s == "!=" && signs.size() > 1) || downward(s) != downward(signs[0]);
    });
    if (mixed || sides.size() > 3) {
      return {};
    }
    const bool up = downward(signs[0]);  // a < x: values grow to the right
    if (sides.size() == 3) {
      if (!lone_name(sides[1])) {
        return {};
      }
      return interval(value(sides[up ? 0 : 2], depth + 1), strict(signs[up ? 0 : 1]),
                      value(sides[up ? 2 : 0], depth + 1), strict(signs[up ? 1 : 0]));
    }
    const std::optional<Expr> a = parse_expression(sides[0]);
    const std::optional<Expr> b = parse_expression(sides[1]);
    if (!a || !b) {
      return {};
    }
    if (signs[0] != "!=" && lone_name(sides[0]) && !b->has_variables()) {
      Value bound = value(sides[1], depth + 1);
      return up ? interval(infinity(true), true, std::move(bound), strict(signs[0]))
                : interval(std::move(bound), strict(signs[0]), infinity(false), true);
    }
    if (signs[0] != "!=" && lone_name(sides[1]) && !a->has_variables()) {
      Value bound = value(sides[0], depth + 1);
      return up ? interval(std::move(bound), strict(signs[0]), infinity(false), true)
                : interval(infinity(true), true, std::move(bound), strict(signs[0]));
    }
    return {.shape = Shape::inequality,
            .text = signs[0] == "!="   ? "!="
                    : strict(signs[0]) ? ">"
                                       : ">=",
            .expr = up ? combine(*b, Op::subtract, *a) : combine(*a, Op::subtract, *b)};
  }

  static Value interval(Value low, bool open_low, Value high, bool open_high) {
    if (low.shape == Shape::invalid || high.shape == Shape::invalid) {
      return {};
    }
    Value result{.shape = Shape::bracketed};
    result.text = std::string(open_low ? "(" : "[") + (open_high ? ")" : "]");
    result.items.push_back(std::move(low));
    result.items.push_back(std::move(high));
    return result;
  }

  Value bracketed(Tokens tokens, int depth) {
    const Tokens inside = tokens.subspan(1, tokens.size() - 2);
    const Token& open = tokens.front();
    if (open.is("begin")) {
      return matrix(inside, depth);
    }
    if (open.is("set{")) {
      return inside.empty() ? Value{.shape = Shape::set}
                            : collect(Shape::set, split(inside, ",", ";"), depth);
    }
    if (open.is("{")) {
      return value(inside, depth + 1);
    }
    const auto parts = split(inside, ",", ";");
    if (parts.size() < 2) {
      return {};
    }
    Value result = collect(Shape::bracketed, parts, depth);
    result.text = open.text + tokens.back().text;
    const bool rows = result.text == "[]" &&
                      std::all_of(result.items.begin(), result.items.end(), [](const Value& item) {
                        return item.shape == Shape::bracketed && item.text == "[]";
                      });
    if (rows && !result.items.empty()) {
      result.shape = Shape::matrix;
      result.text.clear();
    }
    return result;
  }

  Value matrix(Tokens inside, int depth) {
    Value result{.shape = Shape::matrix};
    auto rows = split(inside, "row");
    if (!rows.empty() && rows.back().empty()) {
      rows.pop_back();
    }
    for (const Tokens row : rows) {
      Value entries = collect(Shape::bracketed, split(row, "&"), depth);
      if (entries.shape == Shape::invalid) {
        return {};
      }
      entries.text = "[]";
      result.items.push_back(std::move(entries));
    }
    return result;
  }

  static Value based(Tokens tokens) {
    if (tokens.size() < 3 || tokens[0].kind != Kind::number || !tokens[1].is("_")) {
      return {};
    }
    Tokens base = tokens.subspan(2);
    if (base.size() == 3 && base[0].is("{") && base[2].is("}")) {
      base = base.subspan(1, 1);
    }
    if (base.size() != 1 || (base[0].kind != Kind::number && base[0].kind != Kind::text)) {
      return {};
    }
    constexpr std::array<std::string_view, 17> kNames = {
        "",     "",    "two",    "three",  "four",     "five",     "six",     "seven",  "eight",
        "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen"};
    std::string name = folded(base[0].text);
    for (size_t i = 2; i < kNames.size(); ++i) {
      name = name == kNames[i] ? std::to_string(i) : name;
    }
    std::string digits = tokens[0].text;
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    return {.shape = Shape::based, .text = digits + "_" + name};
  }

  // Units, percent and degree marks off, then an expression.
  Value expression(Tokens tokens, int depth) {
    while (!tokens.empty() && tokens.front().kind == Kind::text && tokens.size() > 1) {
      if (tokens[1].kind != Kind::number && tokens[1].kind != Kind::text && !tokens[1].is("-")) {
        return {};
      }
      tokens = tokens.subspan(1);
    }
    tokens = without_units(tokens);
    if (tokens.empty()) {
      return {};
    }
    Value result{.shape = Shape::expression};
    if (tokens.back().is("%")) {
      result.percent = true;
      tokens = tokens.first(tokens.size() - 1);
    }
    if (enclosed(tokens) && tokens.size() > 2) {
      const Tokens inside = without_units(tokens.subspan(1, tokens.size() - 2));
      if (inside.size() + 2 < tokens.size()) {
        return value(inside, depth + 1);
      }
    }
    std::optional<Expr> expr = parse_expression(tokens);
    if (!expr) {
      return {};
    }
    result.expr = std::move(*expr);
    return result;
  }

  Reading reading_;
};

}  // namespace

Value parse_value(std::string_view text, Reading reading) {
  const std::optional<std::vector<Token>> tokens = tokenize(text, reading);
  return tokens ? Shaper(reading).value(*tokens, 0) : Value{};
}

}  // namespace thinkd::verifiers::math
