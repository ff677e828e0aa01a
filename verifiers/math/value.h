#pragma once
// The shape of an answer around its expressions: lists, tuples, sets, intervals and their unions,
// matrices, equations, inequalities, ratios, numbers in a base, words.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verifiers/math/lexer.h"
#include "verifiers/math/parser.h"

namespace thinkd::verifiers::math {

enum class Shape : uint8_t {
  invalid,  // no mathematics and no words: compared as text
  text,     // words, folded
  expression,
  infinity,    // text is "+" or "-"
  list,        // items in any order, no brackets
  bracketed,   // items in order; text holds both brackets: a tuple or an interval
  set,         // items in any order
  join,        // a union, in any order
  matrix,      // items are rows, their items the entries
  equation,    // items[0] the right side; text the lone name on the left, if it is one
  inequality,  // left - right above (or at) zero; text is ">" , ">=" or "!="
  ratio,
  based,  // text is "digits_base"
};

struct Value {
  Shape shape = Shape::invalid;
  std::string text = {};
  bool percent = false;
  bool clock = false;  // a ratio written like a time of day, "4:30"
  Expr expr = {};      // expression; left - right of an equation or inequality
  std::vector<Value> items = {};
};

Value parse_value(std::string_view text, Reading reading);

}  // namespace thinkd::verifiers::math
